#pragma once
// Writes a profile as one self-contained HTML file. Stages: BuildModel (numbers, indexed sources) →
// BuildChunks, IndexJson (data) → WritePage (HTML) → one file under its final name.
#include <filesystem>

#include "base/result.h"
#include "profile/reader.h"
#include "report/report_model.h"

namespace linescope {

struct ReportOptions {
  ModelOptions model;
  std::string title;     // empty: the profile's own
  unsigned threads = 0;  // that compress; 0: as many as there are CPUs
};

// Writes the report of `profile` to `out`. Equal profiles and options give equal bytes. A regular
// file appears under its name only when it is whole (what was there before stays until then, and
// stays when writing fails); a device or pipe is written to as it is.
Status WriteReport(ProfileReader& profile, const std::filesystem::path& out,
                   const ReportOptions& options = {});
Status WriteReport(const ReportModel& model, const std::filesystem::path& out,
                   unsigned threads = 0);

}  // namespace linescope
