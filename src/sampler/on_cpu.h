#pragma once
// Whether a thread is on a CPU, and how much CPU time it has had. From the kernel's context-switch
// records where they are allowed (exact, and no system call to ask), else from what /proc says: the
// counts in schedstat tell whether it has run since the last look, the state letter what it does.
#include <cstdint>
#include <optional>

#include "process/perf_switch.h"
#include "process/procfs.h"

namespace linescope {

class OnCpu {
 public:
  // kPreempted: ready to run, without a CPU.
  enum class State : uint8_t { kUnknown, kOn, kPreempted, kOff, kStopped };

  // `records`: whether to ask the kernel for them.
  OnCpu(int pid, int tid, bool records);

  // False: the answers below are as of the last Poll or Ask.
  [[nodiscard]] bool has_records() const { return ring_.has_value(); }
  // Takes in what happened, before the thread is read. With records ~10 ns; without, one small
  // read of /proc for a thread that sleeps (now and then for one that has slept long), none for
  // others.
  void Poll(int64_t now_ns);
  // The same afterwards. Without records: two reads of /proc, unless it sleeps on.
  void Look(int64_t now_ns);
  // One read of /proc. False when the thread has ended.
  bool Ask();
  // Something shows that it is awake.
  void NoteAwake() {
    next_look_ns_ = 0;
    settled_ = ready_ = false;
  }
  // Once in a while: whether a thread that seems to sleep is stopped.
  void LookForStop();

  [[nodiscard]] State state() const;
  // Known at once; the interpreter may take it off its list later, or leave it there.
  [[nodiscard]] bool ended() const;
  // It is off its CPU, and was all the time since the call of Poll or Look before, if switches()
  // was the same then.
  [[nodiscard]] bool rests() const { return (has_records() || settled_) && IsOff(); }
  // Moves with every change between on and off.
  [[nodiscard]] uint64_t switches() const;
  // When it got into this state, as far as that was seen.
  [[nodiscard]] int64_t changed_ns() const;
  // The CPU it runs on or ran on last; -1 when unknown.
  [[nodiscard]] int cpu() const;
  // CPU time at `now_ns` (CLOCK_MONOTONIC), since the thread was opened; nullopt when it cannot be
  // told. Without records it lags, for a thread that runs, by up to a tick of the kernel's.
  [[nodiscard]] std::optional<int64_t> CpuTimeNs(int64_t now_ns) const;

  // From when on a thread counts as having slept long.
  static constexpr int64_t kLongSleepNs = 1'000'000'000;

 private:
  // No record yet, or some were lost: what /proc said last.
  [[nodiscard]] bool Uncertain() const {
    return !ring_ || ring_->history().state() == CpuState::kUnknown;
  }
  [[nodiscard]] bool IsOff() const {
    const State now = state();
    return now == State::kOff || now == State::kPreempted || now == State::kStopped;
  }
  void PollRing();

  std::optional<SwitchRing> ring_;
  std::optional<ThreadStat> stat_;
  ThreadStat::Sample asked_;
  int64_t opened_ns_ = 0;
  bool has_sched_ = false;      // the kernel keeps schedstat
  uint64_t opened_cpu_ns_ = 0;  // what it said then
  uint64_t gaps_ = 0;
  std::optional<uint64_t> stopped_at_;  // the switches at which LookForStop found it stopped

  // Without records.
  ThreadStat::Sched sched_;
  bool settled_ = false;  // two looks found it asleep, and no run in between
  bool ready_ = false;    // woken up, and not on a CPU yet
  uint64_t runs_ = 0;
  int64_t changed_ns_ = 0;
  int64_t next_look_ns_ = 0;
};

}  // namespace linescope
