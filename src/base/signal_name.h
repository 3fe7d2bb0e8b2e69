#pragma once
#include <fmt/format.h>
#include <string.h>

#include <string>

namespace linescope {

// "SIGTERM"; "signal 40" where it has no name.
inline std::string SignalName(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace linescope
