#pragma once
#include <time.h>

#include <cstdint>

namespace linescope {

// CLOCK_MONOTONIC in nanoseconds: the clock of every sample, bucket and deadline.
inline int64_t MonotonicNs() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

// CLOCK_REALTIME in nanoseconds since the epoch: for what people read.
inline int64_t RealtimeNs() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

}  // namespace linescope
