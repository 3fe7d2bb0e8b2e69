#pragma once
// On which CPU the sampler stands. Pinned beside the target's thread, it only runs while that
// thread does not: what it reads stands still, without a stop or a signal.
#include <sched.h>

namespace linescope {

// Affects the calling thread only. Restores nothing: the thread ends with the run.
class Pinning {
 public:
  Pinning();

  // True when the process was allowed on `cpu` at its start, so that going there respects a user's
  // taskset.
  [[nodiscard]] bool Allowed(int cpu) const;
  // Moves the calling thread to `cpu` and keeps it there; false when the kernel refuses.
  bool PinTo(int cpu);
  // Back to all CPUs allowed at the start.
  void Unpin();
  [[nodiscard]] int pinned_cpu() const { return cpu_; }  // -1: not pinned

 private:
  cpu_set_t initial_;
  int cpu_ = -1;
};

// Timer slack of 1 ns and a short time slice for the calling thread: a tick preempts the target at
// once, and returns the CPU at once.
void PreferPromptWakeUps();

}  // namespace linescope
