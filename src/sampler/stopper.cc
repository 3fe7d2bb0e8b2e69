#include "sampler/stopper.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>

namespace linescope {

bool Stopper::Stop(int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return false;
  if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) {
    ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
    return false;
  }
  int status = 0;
  while (::waitpid(tid, &status, __WALL) < 0) {
    if (errno != EINTR) {
      ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
      return false;
    }
  }
  if (!WIFSTOPPED(status)) return false;  // it ended
  // PTRACE_EVENT_STOP in the high byte: our interrupt, or a job-control stop, which detaching
  // leaves as it is. Anything else is a signal on its way to the target: deliver it when detaching.
  const bool event_stop = status >> 16 == PTRACE_EVENT_STOP;
  stopped_.push_back({tid, event_stop ? 0 : WSTOPSIG(status)});
  return true;
}

void Stopper::ContinueAll() {
  for (const Stopped& thread : stopped_) {
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<long>(thread.signal));
  }
  stopped_.clear();
}

Status Stopper::Check(int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
    const int error = errno;
    return Fail(
        error == ESRCH ? ErrorCode::kGone : ErrorCode::kDenied,
        "thread {} cannot be stopped (ptrace: {}); use --consistency auto, which needs no stop",
        tid, ErrnoText(error));
  }
  // A seized thread that runs can only be let go after a stop.
  ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  int status = 0;
  while (::waitpid(tid, &status, __WALL) < 0 && errno == EINTR) {
  }
  const bool event_stop = status >> 16 == PTRACE_EVENT_STOP;
  ::ptrace(PTRACE_DETACH, tid, nullptr,
           static_cast<long>(WIFSTOPPED(status) && !event_stop ? WSTOPSIG(status) : 0));
  return {};
}

}  // namespace linescope
