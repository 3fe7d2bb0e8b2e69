#include "sampler/stopper.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "process/procfs.h"

namespace linescope {

namespace {

// The signal to deliver when a stopped thread goes on; 0: our own interrupt, or a job-control stop,
// which a detach leaves as it is.
int SignalOf(const siginfo_t& stop) {
  const bool event_stop = stop.si_status >> 8 == PTRACE_EVENT_STOP;
  return event_stop ? 0 : stop.si_status & 0xff;
}

// Waits until the seized thread has stopped. Gives the signal to deliver when it goes on; nullopt:
// the thread ended.
// Asks for stops only: the end of a child is its owner's to collect.
std::optional<int> WaitForStop(int tid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | __WALL) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return SignalOf(info);
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

// How many times as long as for others a stop waits for a thread that stops as soon as the machine
// has a CPU for it.
constexpr int kRunnablePatience = 10;

bool IsRunnable(int tid) {
  const Result<ProcStat> stat = ReadThreadStat(tid, tid);
  return stat && stat->state == 'R';
}

}  // namespace

bool Stopper::Stop(int tid) {
  const std::optional<int> signal = SeizeAndStop(tid);
  if (signal) stopped_.push_back({tid, *signal});
  return signal.has_value();
}

Status Stopper::StopAll(std::span<const int> tids, int64_t timeout_ns) {
  std::vector<int> pending;
  int error = 0;
  for (const int tid : tids) {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      if (errno != ESRCH || error == 0) error = errno;
      continue;
    }
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    pending.push_back(tid);
  }
  if (pending.empty() && error != 0) {
    return Fail(error == ESRCH ? ErrorCode::kGone : ErrorCode::kDenied, "ptrace: {}",
                ErrnoText(error));
  }
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int64_t begin = MonotonicNs();
  int64_t until = begin + timeout_ns;
  for (;;) {
    std::erase_if(pending, [&](int tid) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WNOHANG | __WALL) != 0) {
        return true;  // it has ended
      }
      if (info.si_pid == 0) return false;
      stopped_.push_back({tid, SignalOf(info)});
      return true;
    });
    if (pending.empty()) return {};
    int64_t left = until - MonotonicNs();
    if (left <= 0 && until < begin + kRunnablePatience * timeout_ns &&
        std::ranges::any_of(pending, IsRunnable)) {
      until += timeout_ns;
      left = timeout_ns;
    }
    if (left <= 0) return {};
    const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
    ::sigtimedwait(&child, nullptr, &wait);
  }
}

bool Stopper::IsStopped(int tid) const {
  return std::ranges::any_of(stopped_, [&](const Stopped& thread) { return thread.tid == tid; });
}

void Stopper::ContinueAll() {
  for (const Stopped& thread : stopped_) {
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<long>(thread.signal));
  }
  stopped_.clear();
}

Status Stopper::Check(int tid) {
  // Without a stop, which would wake a thread that sleeps: what a thread of ours has seized is let
  // go when that ends.
  int error = 0;
  std::thread([&] {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) error = errno;
  }).join();
  if (error != 0) {
    return Fail(
        error == ESRCH ? ErrorCode::kGone : ErrorCode::kDenied,
        "process {} cannot be stopped (ptrace: {}), which --native and --consistency stop need",
        tid, ErrnoText(error));
  }
  return {};
}

}  // namespace linescope
