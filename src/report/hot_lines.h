#pragma once
// A measured line as the overview quotes it: with its complete statement.
#include "report/report_model.h"

namespace linescope {

// Lines of a statement that are quoted at most; of a longer one those around the line are shown.
inline constexpr uint32_t kQuotedLines = 40;
// UTF-16 units of a quoted line; longer ones end in "…".
inline constexpr uint32_t kQuotedColumns = 400;

HotLine QuoteLine(const ReportFile& file, uint32_t file_id, uint32_t line,
                  const ReportMetrics& metrics);

}  // namespace linescope
