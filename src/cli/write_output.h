#pragma once
#include <string>

#include "base/result.h"
#include "cli/outputs.h"
#include "export/export.h"
#include "profile/profile.h"
#include "profile/reader.h"
#include "report/report_writer.h"

namespace linescope {

struct OutputOptions {
  ReportOptions report = {};
  ExportOptions exports = {};
};

// One file made from a profile, as text. A report is not one of them.
Result<std::string> OutputText(ProfileReader& reader, const Profile& profile, OutputFormat format,
                               const ExportOptions& options = {});

// Writes one file made from a profile: a report, an export. A regular file appears under its name
// when it is whole, or not at all.
Status WriteOutput(ProfileReader& reader, const Profile& profile, const std::string& path,
                   OutputFormat format, const OutputOptions& options = {});

}  // namespace linescope
