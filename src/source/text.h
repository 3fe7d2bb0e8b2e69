#pragma once
// Python source as text: bytes of a file, decoded as CPython decodes them, with one line table that
// everything else counts by.
//
// Two units of columns exist and are named in every signature: bytes of UTF-8 (tree-sitter,
// co_positions) and UTF-16 code units (the page). Lines are counted from 1, columns from 0.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace linescope {

// Lines `first` to `last`, both included, counted from 1.
struct LineRange {
  uint32_t first = 0;
  uint32_t last = 0;
  bool operator==(const LineRange&) const = default;
};

struct SourceText {
  std::string
      text;  // valid UTF-8 without BOM; LF, CRLF and CR have become '\n', nothing else ends a line
  std::vector<uint32_t> line_starts;  // byte offset in `text` of each line; empty for an empty text
  std::string encoding = "utf-8";     // lower case with hyphens, as declared (PEP 263) or by BOM
  std::string note;  // what had to be mended, a sentence for the reader; empty: nothing

  uint32_t LineCount() const { return static_cast<uint32_t>(line_starts.size()); }
  // Without its '\n'. Empty for a line that does not exist.
  std::string_view Line(uint32_t line) const;
};

// Decodes a source of at most 4 GB. Never fails: bytes that are invalid in the encoding become
// U+FFFD, an encoding that is not known here is read as UTF-8, and `note` says so.
SourceText DecodeSource(std::string_view bytes);

// Replaces every byte sequence that is not valid UTF-8 (overlong forms, surrogates and cut
// sequences included) by U+FFFD, one for each maximal part, as the Unicode standard and browsers
// do. Returns how many were replaced.
size_t MakeValidUtf8(std::string& text);

// Length in UTF-16 units of valid UTF-8.
uint32_t Utf16Length(std::string_view utf8);
// Column in UTF-16 units of a byte column; beyond the end it is the line's length. Inside a
// character: its start.
uint32_t Utf16Column(std::string_view line, uint32_t byte_column);
// The inverse.
uint32_t ByteColumn(std::string_view line, uint32_t utf16_column);

}  // namespace linescope
