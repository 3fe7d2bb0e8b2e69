#pragma once
// Decodes CPython's line tables: which source line each code unit belongs to.
#include <cstdint>
#include <span>
#include <vector>

namespace linescope {

inline constexpr int32_t kNoLine = 0;  // units that belong to no line

// The line of every one of `units` code units (2 bytes each); kNoLine where the table says none or
// ends early. Never reads past `table`; a malformed table gives the lines decoded so far.
// 3.11+, Objects/locations.md.
std::vector<int32_t> DecodeLocationTable(std::span<const uint8_t> table, int32_t first_line,
                                         size_t units);
// The same of 3.10's co_linetable: pairs of a span in bytes and a change of the line before it.
std::vector<int32_t> DecodeLineRanges(std::span<const uint8_t> table, int32_t first_line,
                                      size_t units);
// The same of the co_lnotab before: pairs of a span in bytes and a change of the line behind it.
std::vector<int32_t> DecodeLineDeltas(std::span<const uint8_t> table, int32_t first_line,
                                      size_t units);

}  // namespace linescope
