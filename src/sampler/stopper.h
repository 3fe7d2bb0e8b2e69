#pragma once
// Stops single threads for the microseconds that a sample takes (--consistency stop), by
// PTRACE_SEIZE and PTRACE_INTERRUPT. Nothing stays attached between samples: each stop ends with a
// detach, which also hands on a signal that arrived meanwhile, and the kernel detaches by itself
// when this process dies.
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace linescope {

// To be used from one thread: ptrace binds to the thread that seized.
class Stopper {
 public:
  // Stops the thread; false when it ended or cannot be seized.
  bool Stop(int tid);
  // Stops several threads at once, for one look at all of them. A thread that the kernel does not
  // let stop (uninterruptible sleep) is given up after `timeout_ns`, one that waits for a CPU after
  // ten times that; what is asked of it then ends with the calling thread, which should do so soon.
  // SIGCHLD, whose arrival is waited for, must be blocked in all threads of this process. Fails
  // when none could be seized; says why.
  Status StopAll(std::span<const int> tids, int64_t timeout_ns);
  [[nodiscard]] bool IsStopped(int tid) const;
  // Lets all stopped threads go on.
  void ContinueAll();
  ~Stopper() { ContinueAll(); }

  // Whether threads of this process may be stopped at all; says why not.
  static Status Check(int tid);

 private:
  struct Stopped {
    int tid;
    int signal;  // to deliver when it goes on; 0: none
  };
  std::vector<Stopped> stopped_;
};

}  // namespace linescope
