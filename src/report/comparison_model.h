#pragma once
// What a report of a run says about another one that it is compared with. Filled in by whoever
// compares; without one a report has no Diff column.
#include <algorithm>
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

// A line of the base that has no counterpart.
struct ReportGoneLine {
  std::string place;  // "pkg/io.py:84"
  std::string text;   // without indentation; empty: its source was not captured
  int64_t base_ns = 0;
};

struct ReportComparison {
  std::string base_title;
  std::string text;  // sentences: what was compared, and how
  ReportChange total;
  int64_t max_delta_ns = 0;  // the largest change that is no noise, either way
  // Parallel to the model's; absent: no samples on either side.
  std::vector<std::optional<ReportChange>> files, functions;
  std::vector<std::vector<ReportLineChange>> lines;  // by file; ascending
  std::vector<ReportGoneLine> gone;                  // the greatest that are no noise

  // Null: no samples on either side.
  [[nodiscard]] const ReportChange* LineAt(uint32_t file, uint32_t line) const {
    const auto at = std::ranges::lower_bound(lines[file], line, {}, &ReportLineChange::line);
    return at != lines[file].end() && at->line == line ? &at->change : nullptr;
  }
};

}  // namespace linescope
