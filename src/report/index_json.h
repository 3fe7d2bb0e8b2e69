#pragma once
// The index of a report (DATA.md section 3).
#include <string>

#include "report/chunks.h"
#include "report/report_model.h"

namespace linescope {

inline constexpr int kReportFormat = 1;

// `generator` is LineScope's name and version. Safe inside a <script> element.
std::string IndexJson(const ReportModel& model, const ReportChunks& chunks,
                      const std::string& generator);

}  // namespace linescope
