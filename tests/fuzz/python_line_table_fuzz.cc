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
    const auto lines = decode({data + 6, size - 6}, first_line, units);
    if (lines.size() != units) std::abort();
    for (const int32_t line : lines) {
      if (line < 0) std::abort();
    }
  }
  return 0;
}
