#pragma once
// Proof that a thread has not run for a while, without touching it.
#include <cstdint>

#include "base/unique_fd.h"

namespace linescope {

class ThreadRest {
 public:
  // A thread that has ended, or of which the kernel says too little, is never at rest.
  static ThreadRest Open(int pid, int tid);

  // Two marks that are equal and `off_cpu`: the thread did not execute a single instruction from
  // the end of the first Read to the beginning of the second.
  struct Mark {
    bool off_cpu = false;
    uint64_t on_cpu_ns = 0;  // since the thread began; exact, because it is off its CPU
    bool operator==(const Mark&) const = default;
  };
  [[nodiscard]] Mark Read() const;
  // False: the kernel keeps no such files, or the thread had ended; no mark says anything.
  [[nodiscard]] bool available() const { return syscall_ && schedstat_; }

 private:
  UniqueFd syscall_, schedstat_;
};

}  // namespace linescope
