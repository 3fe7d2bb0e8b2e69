// Rings of context-switch records of any bytes. The first two bytes say where the ring's tail is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "process/perf_switch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  constexpr size_t kRing = 4096;
  if (size < 2) return 0;
  const uint64_t tail = data[0] | uint64_t{data[1]} << 8;
  const size_t used = std::min(size - 2, kRing);
  std::vector<std::byte> ring(kRing);
  for (size_t i = 0; i < used; ++i) ring[(tail + i) % kRing] = static_cast<std::byte>(data[2 + i]);
  SwitchHistory history(0);
  const uint64_t head = tail + used;
  if (ConsumeRing(ring, head, tail, &history) != head) __builtin_trap();
  // The times always add up.
  if (history.on_cpu_ns() < 0 || history.off_cpu_ns() < 0 || history.unknown_ns() < 0 ||
      history.on_cpu_ns() + history.off_cpu_ns() + history.unknown_ns() !=
          history.last_change_ns()) {
    __builtin_trap();
  }
  return 0;
}
