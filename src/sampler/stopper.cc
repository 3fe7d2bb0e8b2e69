#include "sampler/stopper.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

namespace linescope {

namespace {

// Waits until the seized thread has stopped. Gives the signal to deliver when it goes on (0: our
// own interrupt, or a job-control stop, which a detach leaves as it is); nullopt: the thread ended.
// Asks for stops only: the end of a child is its owner's to collect.
std::optional<int> WaitForStop(int tid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | __WALL) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  const bool event_stop = info.si_status >> 8 == PTRACE_EVENT_STOP;
  return event_stop ? 0 : info.si_status & 0xff;
}

bool IsLeader(int tid) { return ::syscall(SYS_tgkill, tid, tid, 0) == 0; }

std::optional<int> SeizeAndStop(int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return std::nullopt;
  if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0) {
    if (auto signal = WaitForStop(tid)) return signal;
  }
  // It ended while seized: a thread that is not the process's first is ours to take away.
  if (!IsLeader(tid)) ::waitpid(tid, nullptr, __WALL | WNOHANG);
  return std::nullopt;
}

}  // namespace

bool Stopper::Stop(int tid) {
  const std::optional<int> signal = SeizeAndStop(tid);
  if (signal) stopped_.push_back({tid, *signal});
  return signal.has_value();
}

void Stopper::ContinueAll() {
  for (const Stopped& thread : stopped_) {
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<long>(thread.signal));
  }
  stopped_.clear();
}

Status Stopper::Check(int tid) {
  errno = 0;
  const std::optional<int> signal = SeizeAndStop(tid);
  if (!signal) {
    const int error = errno;
    return Fail(
        error == ESRCH ? ErrorCode::kGone : ErrorCode::kDenied,
        "process {} cannot be stopped (ptrace: {}); use --consistency auto, which needs no stop",
        tid, ErrnoText(error));
  }
  ::ptrace(PTRACE_DETACH, tid, nullptr, static_cast<long>(*signal));
  return {};
}

}  // namespace linescope
