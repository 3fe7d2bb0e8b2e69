#pragma once
// A comparison as JSON for programs (docs/comparing.md), as Markdown for job pages, and as the
// extra column of a report.
#include <string>

#include "compare/comparison.h"
#include "report/comparison_model.h"

namespace linescope {

std::string ComparisonJson(const Comparison& comparison, const std::string& version);

// Tables of at most `limit` rows each, of changes that are no noise.
std::string ComparisonMarkdown(const Comparison& comparison, size_t limit);

// For the report of the new run, whose model has its files and functions in the same order.
ReportComparison ComparisonColumn(const Comparison& comparison, const ReportModel& model);

// Text of a program in a cell of a Markdown table: no markup, no line ends, no mentions.
std::string MarkdownText(const std::string& text);
std::string MarkdownCode(const std::string& text);

}  // namespace linescope
