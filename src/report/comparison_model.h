#pragma once
// What a report of a run says about another one that it is compared with. Filled in by whoever
// compares; without one a report has no Diff column.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace linescope {

struct ReportChange {
  std::optional<int64_t> base_ns;  // absent: there is no counterpart in the base
  int64_t delta_ns = 0;            // more time than in the base; negative: less
  bool noise = true;               // sampling alone may have made it
};

struct ReportLineChange {
  uint32_t line = 0;
  ReportChange change;
};

struct ReportComparison {
  std::string base_title;
  std::string text;  // sentences: what was compared, and how
  ReportChange total;
  int64_t max_delta_ns = 0;  // the largest change that is no noise, either way
  // Parallel to the model's; absent: no samples on either side.
  std::vector<std::optional<ReportChange>> files, functions;
  std::vector<std::vector<ReportLineChange>> lines;  // by file; ascending
};

}  // namespace linescope
