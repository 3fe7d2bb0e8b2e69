#pragma once
// Writes a profile as one self-contained HTML file. Stages: BuildModel (numbers, indexed sources) →
// BuildChunks, IndexJson (data) → PageHtml → one file under its final name.
#include <filesystem>

#include "base/result.h"
#include "profile/reader.h"
#include "report/report_model.h"

namespace linescope {

struct ReportOptions {
  std::string title = {};  // empty: the profile's own
  bool ai = true;          // can ask a model when its user wants that; else the file cannot connect
  unsigned threads = 0;    // that index and compress; 0: as many as there are CPUs
};

// Writes the report of `profile` to `out`. Equal profiles and options give equal bytes. A regular
// file appears under its name only when it is whole (what was there before stays until then, and
// stays when writing fails); a device or pipe is written to as it is.
Status WriteReport(ProfileReader& profile, const std::filesystem::path& out,
                   const ReportOptions& options = {});

// The same as text, of a model that was built already; its title is the model's.
Result<std::string> ReportHtml(const ReportModel& model, const ReportOptions& options = {});

}  // namespace linescope
