#pragma once
// Which lines of two texts are the same. Lines are compared as numbers: equal texts have equal
// numbers.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace linescope {

// Positions in both texts, ascending in each.
using LinePairs = std::vector<std::pair<uint32_t, uint32_t>>;

// The longest common subsequence, by Myers' algorithm in linear space. Where two texts have too
// little in common for that to end soon (differences times length beyond `effort`), the rest is
// matched around lines that occur once in each, and may then be shorter than the longest.
LinePairs CommonLines(std::span<const uint32_t> base, std::span<const uint32_t> now,
                      uint64_t effort = 400'000'000);

// A run of lines that stand one after the other in both texts.
struct LineRun {
  uint32_t base = 0, now = 0, length = 0;
};

// Runs among lines that are not `taken` yet, the weightiest first, none overlapping another: blocks
// that were moved. `weight` of a line by its number says how much it tells (blank lines nothing); a
// run needs `least` of it in all, or a line of that weight `once` that occurs once in each text.
// Numbers from `separators` on never match: they keep texts that stand one after the other apart.
struct MoveOptions {
  std::span<const uint32_t> weight;
  uint64_t least = 0, once = 0;
};
std::vector<LineRun> MovedRuns(std::span<const uint32_t> base, std::span<const uint32_t> now,
                               const std::vector<bool>& base_taken,
                               const std::vector<bool>& now_taken, const MoveOptions& options);

}  // namespace linescope
