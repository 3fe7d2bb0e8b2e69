#pragma once
// When a thread got onto a CPU and off it, from the kernel's context-switch records: exact, with
// times, and read without a system call. Costs the target about 1.1 µs a switch.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

enum class CpuState : uint8_t {
  kUnknown,  // no record yet, or records were lost since
  kOn,
  kOff,
};

// What a stream of context-switch records says about one thread. Pure: fed by SwitchRing, by tests
// and by a fuzzer. Times are CLOCK_MONOTONIC nanoseconds.
//
// Between `start_ns` and the first record the thread was all the time in the state that this record
// ends; after lost records nothing is known until the next one. Always: on_cpu_ns + off_cpu_ns +
// unknown_ns = time of the last record - start_ns.
class SwitchHistory {
 public:
  explicit SwitchHistory(int64_t start_ns) : last_change_ns_(start_ns) {}

  // Takes one record (perf_event_header, its body, and the sample id of PID and TID, time, CPU at
  // its end). False for bytes that cannot be one; records of kinds that say nothing about switches
  // are passed over.
  bool Consume(std::span<const std::byte> record);
  // Records may have been lost: the state is unknown until the next one.
  void Forget() {
    state_ = CpuState::kUnknown;
    forgotten_ = true;
    ++gaps_;
  }

  [[nodiscard]] CpuState state() const { return state_; }
  // The last switch off the CPU found the thread still runnable: the kernel took the CPU away.
  // Before Linux 4.17 always false.
  [[nodiscard]] bool preempted() const { return preempted_; }
  // Time of the last switch; of the start as long as there was none.
  [[nodiscard]] int64_t last_change_ns() const { return last_change_ns_; }
  // CPU of the last record; -1: none yet.
  [[nodiscard]] int cpu() const { return cpu_; }

  // Up to the last record.
  [[nodiscard]] int64_t on_cpu_ns() const { return on_cpu_ns_; }
  [[nodiscard]] int64_t off_cpu_ns() const { return off_cpu_ns_; }
  [[nodiscard]] int64_t unknown_ns() const { return unknown_ns_; }
  // Up to `now`: with the time since the last record where the state is kOn.
  [[nodiscard]] int64_t OnCpuNs(int64_t now_ns) const {
    return on_cpu_ns_ +
           (state_ == CpuState::kOn && now_ns > last_change_ns_ ? now_ns - last_change_ns_ : 0);
  }
  // The thread has ended.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] uint64_t switches_in() const { return switches_in_; }
  [[nodiscard]] uint64_t switches_out() const { return switches_out_; }
  [[nodiscard]] uint64_t preemptions() const { return preemptions_; }
  [[nodiscard]] uint64_t lost() const { return lost_; }  // records
  // How often records were lost, or may have been: from the first one on, the times above are too
  // short.
  [[nodiscard]] uint64_t gaps() const { return gaps_; }

 private:
  void Switch(bool off, bool preempted, int64_t time_ns, int cpu);

  CpuState state_ = CpuState::kUnknown;
  bool forgotten_ = false;  // the time since last_change_ns_ holds lost records
  bool preempted_ = false;
  bool ended_ = false;
  int cpu_ = -1;
  int64_t last_change_ns_;
  int64_t on_cpu_ns_ = 0;
  int64_t off_cpu_ns_ = 0;
  int64_t unknown_ns_ = 0;
  uint64_t switches_in_ = 0;
  uint64_t switches_out_ = 0;
  uint64_t preemptions_ = 0;
  uint64_t lost_ = 0;
  uint64_t gaps_ = 0;
};

// The records lie in a ring of `data.size()` bytes (a power of two), from `tail` to `head`, both
// counted without wrapping. Feeds them to `history` and returns the new tail: `head`, also when the
// bytes make no sense (then the history forgets).
uint64_t ConsumeRing(std::span<const std::byte> data, uint64_t head, uint64_t tail,
                     SwitchHistory* history);

// The kernel's ring of one thread. Not thread-safe; the thread that polls need not be the one that
// opened.
class SwitchRing {
 public:
  // kDenied (perf_event_paranoid, a seccomp filter, the locked-memory limit), kUnsupported (old
  // kernel, no perf events), kGone, kIo (out of descriptors): the caller falls back to the state
  // letter.
  static Result<SwitchRing> Open(int tid);

  SwitchRing(SwitchRing&&) = default;
  SwitchRing& operator=(SwitchRing&&) = default;

  // Takes all new records: loads and stores in the mapped page only.
  void Poll();
  [[nodiscard]] const SwitchHistory& history() const { return history_; }

 private:
  struct Unmap {
    size_t size = 0;
    void operator()(void* pages) const;
  };
  SwitchRing(UniqueFd fd, std::unique_ptr<void, Unmap> pages, int64_t start_ns);

  UniqueFd fd_;
  std::unique_ptr<void, Unmap> pages_;  // perf_event_mmap_page, then the data
  std::span<const std::byte> data_;
  SwitchHistory history_;
};

}  // namespace linescope
