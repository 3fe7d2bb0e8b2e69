#include "source/token_writer.h"

#include <algorithm>

namespace linescope {

void TokenWriter::Add(uint32_t begin, uint32_t end, TokenClass token_class) {
  begin = std::max(begin, end_);
  end_ = std::max(end, end_);
  while (begin < end) {
    while (line_ < source_.LineCount() && source_.line_starts[line_] <= begin) ++line_;
    const bool is_last_line = line_ >= source_.LineCount();
    const auto line_end =
        is_last_line ? static_cast<uint32_t>(source_.text.size()) : source_.line_starts[line_];
    const uint32_t next = std::min(end, line_end);
    const uint32_t stop = source_.text[next - 1] == '\n' ? next - 1 : next;
    if (stop > begin) AddInLine(begin, stop, token_class);
    begin = next;
  }
}

void TokenWriter::AddInLine(uint32_t begin, uint32_t end, TokenClass token_class) {
  const uint32_t column = columns_.At(line_, begin);
  const uint32_t length = columns_.At(line_, end) - column;
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
