#pragma once
#include <cstdint>

#include "source/text.h"

namespace linescope {

// UTF-16 columns of byte offsets that mostly rise: each counts on from the last one, so that a line
// of a megabyte with a hundred thousand names in it is counted once and not once a name.
class ColumnCounter {
 public:
  explicit ColumnCounter(const SourceText& source) : source_(source) {}
  // The column of `byte` of the text, which lies in `line` and at the start of a character.
  uint32_t At(uint32_t line, uint32_t byte) {
    if (line != line_ || byte < byte_) {
      line_ = line;
      byte_ = source_.line_starts[line - 1];
      column_ = 0;
    }
    column_ += Utf16Length(std::string_view(source_.text).substr(byte_, byte - byte_));
    byte_ = byte;
    return column_;
  }

 private:
  const SourceText& source_;
  uint32_t line_ = 0;
  uint32_t byte_ = 0;
  uint32_t column_ = 0;
};

}  // namespace linescope
