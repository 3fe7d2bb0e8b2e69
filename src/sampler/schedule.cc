#include "sampler/schedule.h"

#include <algorithm>
#include <cmath>

namespace linescope {

Schedule::Schedule(double rate_hz, int64_t start_ns, uint64_t seed)
    : interval_ns_(1e9 / rate_hz), state_(seed | 1), deadline_ns_(start_ns) {
  deadline_ns_ += NextInterval();
}

int64_t Schedule::NextInterval() {
  // splitmix64
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const double uniform = static_cast<double>(z >> 11) * 0x1p-53;
  return std::max<int64_t>(1, std::llround(interval_ns_ * (0.5 + uniform)));
}

uint64_t Schedule::Advance(int64_t now_ns) {
  ++due_;
  deadline_ns_ += NextInterval();
  if (deadline_ns_ > now_ns) return 0;
  uint64_t missed = 0;
  // Far behind (the machine slept, the target was stopped): count by the mean interval instead of
  // stepping.
  const int64_t behind = now_ns - deadline_ns_;
  if (static_cast<double>(behind) > 64 * interval_ns_) {
    const auto skip = static_cast<uint64_t>(static_cast<double>(behind) / interval_ns_);
    missed += skip;
    deadline_ns_ += std::llround(static_cast<double>(skip) * interval_ns_);
  }
  while (deadline_ns_ <= now_ns) {
    ++missed;
    deadline_ns_ += NextInterval();
  }
  due_ += missed;
  return missed;
}

void Schedule::Restart(int64_t now_ns) { deadline_ns_ = now_ns + NextInterval(); }

}  // namespace linescope
