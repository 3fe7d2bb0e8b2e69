#pragma once
// When to sample: absolute deadlines with random intervals, so that no periodic program is in
// lockstep with us.
#include <cstdint>

namespace linescope {

// Deadlines at intervals of U(0.5, 1.5) / rate. A fixed cadence of 1 ms against a program with a
// period of 1.00 ms measures its phase, not its shares. Deadlines that have passed are skipped and
// counted, never caught up with in a burst.
class Schedule {
 public:
  Schedule(double rate_hz, int64_t start_ns, uint64_t seed);

  [[nodiscard]] int64_t deadline_ns() const { return deadline_ns_; }
  // Called when a tick begins at `now_ns` (at or after the deadline): moves the deadline beyond it.
  // Returns how many deadlines had passed besides the one now served: missed ticks.
  uint64_t Advance(int64_t now_ns);
  // Leaves out the time until `now_ns` without counting it: nothing was due then.
  void Restart(int64_t now_ns);

  // Ticks that were due so far: served and missed.
  [[nodiscard]] uint64_t due() const { return due_; }

 private:
  int64_t NextInterval();

  double interval_ns_;
  uint64_t state_;
  int64_t deadline_ns_;
  uint64_t due_ = 0;
};

}  // namespace linescope
