#include "source/encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace linescope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// 0x80 to 0x9F of cp1252; 0 where it has no character. The rest is Latin-1.
constexpr std::array<uint16_t, 32> kCp1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

// Where ISO 8859-15 differs from Latin-1.
constexpr std::array<std::pair<uint8_t, uint16_t>, 8> kLatin9 = {{{0xA4, 0x20AC},
                                                                  {0xA6, 0x0160},
                                                                  {0xA8, 0x0161},
                                                                  {0xB4, 0x017D},
                                                                  {0xB8, 0x017E},
                                                                  {0xBC, 0x0152},
                                                                  {0xBD, 0x0153},
                                                                  {0xBE, 0x0178}}};

// The character of `byte` (0x80 to 0xFF), 0 where the encoding has none.
using ByteTable = uint32_t (*)(uint8_t byte);

ByteTable BuiltInTable(std::string_view encoding) {
  if (encoding == "ascii") return [](uint8_t) -> uint32_t { return 0; };
  if (encoding == "iso-8859-1") return [](uint8_t byte) -> uint32_t { return byte; };
  if (encoding == "cp1252") {
    return [](uint8_t byte) -> uint32_t { return byte < 0xA0 ? kCp1252[byte - 0x80] : byte; };
  }
  if (encoding == "iso-8859-15") {
    return [](uint8_t byte) -> uint32_t {
      for (auto [from, to] : kLatin9) {
        if (byte == from) return to;
      }
      return byte;
    };
  }
  return nullptr;
}

DecodedBytes DecodeByTable(std::string_view bytes, ByteTable table) {
  DecodedBytes result;
  result.utf8.reserve(bytes.size() + bytes.size() / 8);
  for (char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      result.utf8 += c;
    } else if (uint32_t code_point = table(byte)) {
      AppendUtf8(code_point, &result.utf8);
    } else {
      result.utf8 += kReplacement;
      ++result.replaced;
    }
  }
  return result;
}

class Iconv {
 public:
  explicit Iconv(const char* from) : handle_(iconv_open("UTF-8", from)) {}
  Iconv(const Iconv&) = delete;
  Iconv& operator=(const Iconv&) = delete;
  ~Iconv() {
    if (ok()) iconv_close(handle_);
  }
  bool ok() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  DecodedBytes Decode(std::string_view bytes) {
    DecodedBytes result;
    char* in = const_cast<char*>(bytes.data());  // iconv's signature; it does not write there
    size_t in_left = bytes.size();
    std::array<char, 4096> buffer;
    bool flushed = false;
    while (in_left > 0 || !flushed) {
      char* out = buffer.data();
      size_t out_left = buffer.size();
      flushed = in_left == 0;
      const size_t status = flushed ? iconv(handle_, nullptr, nullptr, &out, &out_left)
                                    : iconv(handle_, &in, &in_left, &out, &out_left);
      const int error = errno;
      result.utf8.append(buffer.data(), static_cast<size_t>(out - buffer.data()));
      if (status != static_cast<size_t>(-1) || error == E2BIG) continue;
      // EILSEQ or EINVAL (cut at the end): skip one byte and go on from a clean state.
      if (in_left == 0) break;
      result.utf8 += kReplacement;
      ++result.replaced;
      ++in;
      --in_left;
      iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    }
    return result;
  }

 private:
  iconv_t handle_;
};

bool IsBlankOrComment(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t\f");
  return start == std::string_view::npos || line[start] == '#';
}

// PEP 263: ^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)
std::optional<std::string> EncodingOfLine(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t\f");
  if (start == std::string_view::npos || line[start] != '#') return std::nullopt;
  constexpr std::string_view kWord = "coding";
  for (size_t at = line.find(kWord, start); at != std::string_view::npos;
       at = line.find(kWord, at + 1)) {
    size_t i = at + kWord.size();
    if (i >= line.size() || (line[i] != ':' && line[i] != '=')) continue;
    i = line.find_first_not_of(" \t", i + 1);
    if (i == std::string_view::npos) continue;
    size_t end = i;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) ||
                                 line[end] == '-' || line[end] == '_' || line[end] == '.')) {
      ++end;
    }
    if (end > i) return std::string(line.substr(i, end - i));
  }
  return std::nullopt;
}

}  // namespace

std::string DeclaredEncoding(std::string_view bytes) {
  for (int line_number = 0; line_number < 2; ++line_number) {
    const size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    if (auto encoding = EncodingOfLine(line)) return *encoding;
    if (!IsBlankOrComment(line)) return {};
    const bool crlf = bytes.substr(end).starts_with("\r\n");
    bytes.remove_prefix(std::min(bytes.size(), end + (crlf ? 2 : 1)));
  }
  return {};
}

std::string NormalizedEncoding(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c == '_' || c == ' ') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    result += c;
  }
  constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
      {"utf8", "utf-8"},         {"utf-8-sig", "utf-8"},
      {"u8", "utf-8"},           {"utf", "utf-8"},
      {"utf-8-unix", "utf-8"},   {"utf-8-dos", "utf-8"},
      {"utf8-unix", "utf-8"},    {"utf-8-mac", "utf-8"},
      {"cp65001", "utf-8"},      {"us-ascii", "ascii"},
      {"646", "ascii"},          {"latin-1", "iso-8859-1"},
      {"latin1", "iso-8859-1"},  {"iso8859-1", "iso-8859-1"},
      {"l1", "iso-8859-1"},      {"latin", "iso-8859-1"},
      {"8859", "iso-8859-1"},    {"iso-latin-1", "iso-8859-1"},
      {"cp819", "iso-8859-1"},   {"windows-1252", "cp1252"},
      {"1252", "cp1252"},        {"latin-9", "iso-8859-15"},
      {"latin9", "iso-8859-15"}, {"iso8859-15", "iso-8859-15"},
      {"l9", "iso-8859-15"},     {"mac-roman", "macintosh"},
      {"macroman", "macintosh"}, {"iso-latin-1-unix", "iso-8859-1"},
  };
  for (auto [alias, encoding] : kAliases) {
    if (result == alias) return std::string(encoding);
  }
  return result;
}

DecodedBytes DecodeBytes(std::string_view bytes, std::string_view encoding) {
  if (encoding == "utf-8") return {.utf8 = std::string(bytes)};
  if (ByteTable table = BuiltInTable(encoding)) return DecodeByTable(bytes, table);
  Iconv converter{std::string(encoding).c_str()};
  if (!converter.ok()) return {.utf8 = std::string(bytes), .known = false};
  return converter.Decode(bytes);
}

}  // namespace linescope
