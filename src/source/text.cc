#include "source/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "source/encoding.h"

namespace linescope {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Length of the valid character at `text[i]`, or 0; then `*bad` is the length of the maximal
// invalid part (Unicode standard, section 3.9, "U+FFFD substitution of maximal subparts").
size_t CharacterLength(std::string_view text, size_t i, size_t* bad) {
  const auto lead = static_cast<uint8_t>(text[i]);
  *bad = 1;
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80, high = 0xBF;  // what the second byte may be
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // overlong
    if (lead == 0xED) high = 0x9F;  // surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;   // overlong
    if (lead == 0xF4) high = 0x8F;  // above U+10FFFF
  } else {
    return 0;
  }
  for (size_t k = 1; k < length; ++k) {
    if (i + k >= text.size()) return 0;
    const auto byte = static_cast<uint8_t>(text[i + k]);
    if (k == 1 ? byte < low || byte > high : !IsContinuation(text[i + k])) return 0;
    *bad = k + 1;
  }
  return length;
}

// Makes every line end one '\n' and notes where lines begin.
void NormalizeLines(std::string& text, std::vector<uint32_t>& line_starts) {
  size_t out = 0;
  bool at_line_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (at_line_start) line_starts.push_back(static_cast<uint32_t>(out));
    char c = text[i];
    if (c == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
      c = '\n';
    }
    text[out++] = c;
    at_line_start = c == '\n';
  }
  text.resize(out);
}

uint32_t Utf16Units(char lead) {
  return IsContinuation(lead) ? 0 : static_cast<uint8_t>(lead) >= 0xF0 ? 2 : 1;
}

}  // namespace

std::string_view SourceText::Line(uint32_t line) const {
  if (line == 0 || line > LineCount()) return {};
  const size_t begin = line_starts[line - 1];
  size_t end = line < LineCount() ? line_starts[line] : text.size();
  if (end > begin && text[end - 1] == '\n') --end;
  return std::string_view(text).substr(begin, end - begin);
}

size_t MakeValidUtf8(std::string& text) {
  // Nearly every source is valid: find the first fault before copying anything.
  size_t i = 0, bad = 0;
  while (i < text.size()) {
    const size_t length = CharacterLength(text, i, &bad);
    if (length == 0) break;
    i += length;
  }
  if (i == text.size()) return 0;
  std::string result = text.substr(0, i);
  size_t replaced = 0;
  while (i < text.size()) {
    if (const size_t length = CharacterLength(text, i, &bad)) {
      result.append(text, i, length);
      i += length;
    } else {
      result += kReplacement;
      i += bad;
      ++replaced;
    }
  }
  text = std::move(result);
  return replaced;
}

SourceText DecodeSource(std::string_view bytes) {
  SourceText source;
  const bool bom = bytes.starts_with(kBom);
  if (bom) bytes.remove_prefix(kBom.size());
  const std::string declared = DeclaredEncoding(bytes);
  // A BOM makes it UTF-8; Python refuses any other declaration beside it.
  if (!bom && !declared.empty()) source.encoding = NormalizedEncoding(declared);
  DecodedBytes decoded = DecodeBytes(bytes, source.encoding);
  if (!decoded.known) {
    source.note = fmt::format("unknown encoding \"{}\", read as UTF-8", source.encoding);
    source.encoding = "utf-8";
  }
  source.text = std::move(decoded.utf8);
  const size_t replaced = decoded.replaced + MakeValidUtf8(source.text);
  if (replaced > 0) {
    if (!source.note.empty()) source.note += "; ";
    source.note += fmt::format("{} invalid byte sequence{} in {} shown as \xEF\xBF\xBD", replaced,
                               replaced == 1 ? "" : "s", source.encoding);
  }
  NormalizeLines(source.text, source.line_starts);
  return source;
}

uint32_t Utf16Length(std::string_view utf8) {
  uint32_t units = 0;
  for (char c : utf8) units += Utf16Units(c);
  return units;
}

uint32_t Utf16Column(std::string_view line, uint32_t byte_column) {
  size_t end = std::min<size_t>(byte_column, line.size());
  while (end > 0 && end < line.size() && IsContinuation(line[end])) --end;
  return Utf16Length(line.substr(0, end));
}

uint32_t ByteColumn(std::string_view line, uint32_t utf16_column) {
  uint32_t units = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (IsContinuation(line[i])) continue;
    const uint32_t width = Utf16Units(line[i]);
    if (units + width > utf16_column) return static_cast<uint32_t>(i);
    units += width;
  }
  return static_cast<uint32_t>(line.size());
}

}  // namespace linescope
