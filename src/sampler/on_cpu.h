#pragma once
// Whether a thread is on a CPU, and how much CPU time it has had. From the kernel's context-switch
// records where they are allowed (exact, and no system call to ask), else from the state letter and
// the processor in /proc (one read a question).
#include <cstdint>
#include <optional>

#include "process/perf_switch.h"
#include "process/procfs.h"

namespace linescope {

class OnCpu {
 public:
  enum class State : uint8_t { kUnknown, kOn, kPreempted, kOff };

  OnCpu(int pid, int tid);

  // False: every answer below is that of the last Ask.
  [[nodiscard]] bool has_records() const { return ring_.has_value(); }
  // Takes in what the kernel has recorded. ~10 ns.
  void Poll();
  // One read of /proc. False when the thread has ended.
  bool Ask();

  [[nodiscard]] State state() const;
  // Moves with every change between on and off that was recorded.
  [[nodiscard]] uint64_t switches() const;
  // Of the last recorded change.
  [[nodiscard]] int64_t changed_ns() const { return ring_ ? ring_->history().last_change_ns() : 0; }
  // The CPU it runs on or ran on last; -1 when unknown.
  [[nodiscard]] int cpu() const;
  // CPU time at `now_ns` (CLOCK_MONOTONIC), since any fixed moment; nullopt when it cannot be told.
  [[nodiscard]] std::optional<int64_t> CpuTimeNs(int64_t now_ns) const;

 private:
  // No record yet, or some were lost: what /proc said last.
  [[nodiscard]] bool Uncertain() const {
    return !ring_ || ring_->history().state() == CpuState::kUnknown;
  }

  std::optional<SwitchRing> ring_;
  std::optional<ThreadStat> stat_;
  ThreadStat::Sample asked_;
  int64_t opened_ns_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace linescope
