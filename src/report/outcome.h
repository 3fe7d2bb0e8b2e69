#pragma once
// How a run went, in words and numbers that add up.
#include "profile/reader.h"
#include "report/report_model.h"

namespace linescope {

// Fills outcome, outcome_text, python_version, rate_reached, ticks, scope and drops of `model` from
// the reader's facts.
void DescribeOutcome(const ProfileReader& reader, ReportModel& model);

// Words for a stored drop reason; reasons of later versions stand for themselves.
std::string DropReasonText(const std::string& reason);

}  // namespace linescope
