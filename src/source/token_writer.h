#pragma once
#include <cstdint>
#include <vector>

#include "source/column_counter.h"
#include "source/index.h"
#include "source/text.h"

namespace linescope {

// Turns byte ranges into tokens: cuts them at line ends and counts columns in UTF-16 units. Ranges
// come in rising order; what begins before the end of the last one is ignored. Touching ranges of
// one class become one token.
class TokenWriter {
 public:
  TokenWriter(const SourceText& source, std::vector<Token>& tokens)
      : source_(source), tokens_(tokens), columns_(source) {}
  void Add(uint32_t begin, uint32_t end, TokenClass token_class);

 private:
  void AddInLine(uint32_t begin, uint32_t end, TokenClass token_class);

  const SourceText& source_;
  std::vector<Token>& tokens_;
  ColumnCounter columns_;
  uint32_t line_ = 1;  // that `end_` lies in
  uint32_t end_ = 0;   // of the last range
};

}  // namespace linescope
