#pragma once
// Decodes CPython's line tables: which piece of the source each code unit (2 bytes) belongs to.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/source_range.h"

namespace linescope {

// The ranges of a code object's units; without columns before 3.11 and where the table has none.
// About ten bytes a unit: neighbours share their range.
class UnitRanges {
 public:
  explicit UnitRanges(size_t units = 0) : ranges_(1), range_of_(units, 0) {}
  // The units [begin, end), as far as there are such.
  void Set(size_t begin, size_t end, const SourceRange& range);

  [[nodiscard]] size_t size() const { return range_of_.size(); }
  [[nodiscard]] const SourceRange& At(size_t unit) const { return ranges_[range_of_[unit]]; }

 private:
  std::vector<SourceRange> ranges_;  // the first one: none
  std::vector<uint32_t> range_of_;   // by unit
};

// The ranges of `units` code units; kNoLine where the table says none or ends early. Never reads
// past `table`; a malformed table gives what was decoded so far. 3.11+, Objects/locations.md (3.14:
// InternalDocs/code_objects.md).
UnitRanges DecodeLocationTable(std::span<const uint8_t> table, int32_t first_line, size_t units);
// The same of 3.10's co_linetable: pairs of a span in bytes and a change of the line before it.
UnitRanges DecodeLineRanges(std::span<const uint8_t> table, int32_t first_line, size_t units);
// The same of the co_lnotab before: pairs of a span in bytes and a change of the line behind it.
UnitRanges DecodeLineDeltas(std::span<const uint8_t> table, int32_t first_line, size_t units);

}  // namespace linescope
