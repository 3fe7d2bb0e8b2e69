// Any bytes are a line table of each kind: decoding ends, and gives a line for each unit asked for.
#include <cstdlib>

#include "python/line_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  int32_t first_line = 0;
  __builtin_memcpy(&first_line, data, 4);
  const size_t units = data[4] | size_t{data[5]} << 8;
  for (const auto decode :
       {linescope::DecodeLocationTable, linescope::DecodeLineRanges, linescope::DecodeLineDeltas}) {
    const auto ranges = decode({data + 6, size - 6}, first_line, units);
    if (ranges.size() != units) std::abort();
    for (size_t unit = 0; unit < units; ++unit) {
      const linescope::SourceRange& range = ranges.At(unit);
      if (range.line < 0 || range.column < linescope::kNoColumn) std::abort();
      if (range.has_columns() && (range.end_column < 0 || range.end_line < range.line))
        std::abort();
    }
  }
  return 0;
}
