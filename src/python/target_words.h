#pragma once
// Words of the target's memory, which may be garbage.
#include <cstddef>
#include <cstring>

#include "process/remote_memory.h"

namespace linescope {

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Whether an object of the interpreter may lie there: no null, aligned, in user space.
inline bool PlausiblePointer(Address address) {
  return address >= 4096 && (address & 7) == 0 && address >> 47 == 0;
}

}  // namespace linescope
