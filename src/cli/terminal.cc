#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace linescope {
namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not valid UTF-8
};

CodePoint DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (bytes == 0 || lead >= 0xF5 || text.size() < bytes) return {};
  uint32_t value = lead & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    return {};
  return {value, bytes};
}

// The blocks that terminals draw two columns wide or on top of the character before; not the whole
// of Unicode's tables.
int CodePointWidth(uint32_t c) {
  if ((c >= 0x300 && c < 0x370) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F))
    return 0;
  if ((c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
      (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
      (c >= 0xFFE0 && c < 0xFFE7) || (c >= 0x1F300 && c < 0x1F650) ||
      (c >= 0x1F900 && c < 0x1FA00) || (c >= 0x20000 && c < 0x40000))
    return 2;
  return 1;
}

// Reorders text or hides it: the direction overrides and isolates, line and paragraph separators.
bool IsTreacherous(uint32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0x7F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

void PrintLine(const char* colour, std::string_view kind, std::string_view sentence) {
  const bool coloured = DescribeTerminal(STDERR_FILENO).colour && colour != nullptr;
  // One write, so that lines of the target never stand in the middle of ours.
  const std::string line = fmt::format("linescope: {}{}{}{}\n", coloured ? colour : "", kind,
                                       coloured ? "\x1b[0m" : "", sentence);
  std::fflush(stderr);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Terminal DescribeTerminal(int fd) {
  Terminal terminal;
  if (::isatty(fd) == 0) return terminal;
  winsize size{};
  const bool sized = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  terminal.width = sized ? size.ws_col : 80;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  terminal.colour = (no_colour == nullptr || *no_colour == '\0') && term != nullptr &&
                    std::string_view(term) != "dumb";
  return terminal;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    } else if (point.value == '\t') {
      out += "    ";
    } else if (point.value < 0x20 || point.value == 0x7F) {
      out += fmt::format("\\x{:02x}", point.value);
    } else if (IsTreacherous(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return out;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    width += point.bytes == 0 ? 1 : CodePointWidth(point.value);
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return width;
}

std::string Ellipsize(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    const size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    const int columns = point.bytes == 0 ? 1 : CodePointWidth(point.value);
    if (used + columns > width - 1) break;
    out += text.substr(0, bytes);
    used += columns;
    text.remove_prefix(bytes);
  }
  return width > 0 ? out + "…" : "";
}

void PrintError(std::string_view sentence) { PrintLine("\x1b[1;31m", "error: ", sentence); }
void PrintWarning(std::string_view sentence) { PrintLine("\x1b[1;33m", "warning: ", sentence); }
void PrintNote(std::string_view sentence) { PrintLine(nullptr, "", sentence); }

bool WriteStdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace linescope
