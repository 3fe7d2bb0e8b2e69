#include "source/token_writer.h"

#include <algorithm>

namespace linescope {

void TokenWriter::Add(uint32_t begin, uint32_t end, TokenClass token_class) {
  begin = std::max(begin, byte_);
  while (begin < end) {
    while (line_ < source_.LineCount() && source_.line_starts[line_] <= begin) {
      byte_ = source_.line_starts[line_++];
      column_ = 0;
    }
    const bool is_last_line = line_ >= source_.LineCount();
    const auto line_end =
        is_last_line ? static_cast<uint32_t>(source_.text.size()) : source_.line_starts[line_];
    uint32_t stop = std::min(end, line_end);
    const uint32_t next = stop;
    if (stop > begin && source_.text[stop - 1] == '\n') --stop;
    if (stop > begin) AddInLine(begin, stop, token_class);
    begin = next;
  }
}

void TokenWriter::AddInLine(uint32_t begin, uint32_t end, TokenClass token_class) {
  const std::string_view text = source_.text;
  const uint32_t column = column_ + Utf16Length(text.substr(byte_, begin - byte_));
  const uint32_t length = Utf16Length(text.substr(begin, end - begin));
  byte_ = end;
  column_ = column + length;
  if (length == 0) return;
  if (!tokens_.empty()) {
    Token& last = tokens_.back();
    if (last.line == line_ && last.token_class == token_class &&
        last.column + last.length == column) {
      last.length += length;
      return;
    }
  }
  tokens_.push_back({line_, column, length, token_class});
}

}  // namespace linescope
