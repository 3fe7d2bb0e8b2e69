#pragma once
// Which files, lines and functions of two runs are the same, although the program was edited
// between them. Stages: files by place, text and likeness → lines by their longest common
// subsequence, then within functions of one name, then as blocks that moved, then as lines that
// were edited in place → functions by name, then by where their lines went.
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/run_data.h"

namespace linescope {

enum class MatchKind : uint8_t {
  kNone,    // there is no counterpart
  kSame,    // the same text at the same place in order
  kMoved,   // the same text elsewhere
  kEdited,  // another text in the same place
};

// The counterpart in the base of a line of the other run.
struct BaseLine {
  MatchKind kind = MatchKind::kNone;
  uint32_t file = 0;
  uint32_t line = 0;
};

struct Matching {
  std::vector<std::optional<uint32_t>> file;      // by file of the other run: file of the base
  std::vector<std::vector<BaseLine>> line;        // by file and line - 1
  std::vector<std::optional<uint32_t>> function;  // by function: function of the base
};

Matching Match(const RunData& base, const RunData& now);

}  // namespace linescope
