#pragma once
// The complete statement around a line, as the report quotes it.
#include <cstdint>
#include <string>

#include "source/index.h"
#include "source/text.h"

namespace linescope {

struct ExcerptLimits {
  uint32_t lines = 12;     // at least 3
  uint32_t columns = 240;  // UTF-16 units a line
};

struct Excerpt {
  LineRange lines;   // of the whole statement, also where `text` is cut; of the line itself where
                     // there is no statement
  std::string text;  // its lines joined by '\n', without the indentation that all of them share
  uint32_t hidden_lines =
      0;                   // lines left out; each gap is a line of `text` of its own, "… 34 lines"
  bool cut_lines = false;  // a line was longer than the limit; it ends in "…"
};

// The statement at `line`; where it is too long, its first line, `line` with its surroundings, and
// its last line are kept. A line that does not exist gives an empty text.
Excerpt StatementExcerpt(const SourceText& source, const SourceIndex& index, uint32_t line,
                         const ExcerptLimits& limits = {});

}  // namespace linescope
