#pragma once
// A side of a comparison, read from a file: a profile, or a report that LineScope wrote.
#include <optional>
#include <string>

#include "base/result.h"
#include "compare/run_data.h"
#include "report/report_model.h"

namespace linescope {

struct ComparedRun {
  RunData data;
  std::optional<ReportModel> model;  // of a profile
};

// Tells the two kinds apart by their first bytes, and says what a file is that is neither.
Result<ComparedRun> LoadComparedRun(const std::string& path);

}  // namespace linescope
