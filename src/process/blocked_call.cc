#include "process/blocked_call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "base/unique_fd.h"

namespace linescope {

std::optional<Address> ParseFutexWait(std::string_view text) {
  // "202 0x7f0a2c001b40 0x189 …": the call's number, then its arguments; "running" or "-1 …"
  // outside of one.
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const char* end = text.data() + space;
  int64_t number = -1;
  if (std::from_chars(text.data(), end, number).ptr != end || number != SYS_futex) {
    return std::nullopt;
  }
  text.remove_prefix(space + 1);
  if (!text.starts_with("0x")) return std::nullopt;
  Address address = 0;
  const char* begin = text.data() + 2;
  const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), address, 16);
  if (error != std::errc() || stop == begin) return std::nullopt;
  return address;
}

std::optional<Address> ReadFutexWait(int pid, int tid) {
  char path[64];
  *fmt::format_to_n(path, sizeof path - 1, "/proc/{}/task/{}/syscall", pid, tid).out = '\0';
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[256];
  const ssize_t n = file ? ::read(file.get(), text, sizeof text) : -1;
  if (n <= 0) return std::nullopt;
  return ParseFutexWait({text, static_cast<size_t>(n)});
}

}  // namespace linescope
