// What a program prints, as a live view shows its last lines: nothing in it may reach the terminal
// as anything but text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/program_output.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  constexpr size_t kLimit = 5;
  const auto lines = PlainLines({reinterpret_cast<const char*>(data), size}, kLimit);
  if (lines.size() > kLimit) __builtin_trap();
  for (const std::string& line : lines) {
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) __builtin_trap();
    }
  }
  return 0;
}
