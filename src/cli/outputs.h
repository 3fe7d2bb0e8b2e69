#pragma once
// The files that a run leaves: which, where, and whether they can be written, decided before the
// target starts.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "export/export.h"

namespace linescope {

enum class OutputFormat {
  kHtml,
  kCollapsed,
  kSpeedscope,
  kPprof,
  kFirefox,
  kChromeTrace,
  kCallgrind,
  kJson,
  kCsv,
  kSvg,
};

// The export that makes it; nullopt: none does, it is the report.
std::optional<ExportFormat> ExportedAs(OutputFormat format);
// Names for --format, and the endings that tell a format.
const char* FormatName(OutputFormat format);
Result<OutputFormat> FormatNamed(const std::string& name);
// What --help of `export` says of each format, a line each.
std::string FormatsHelp();
// Fails with kUsage, listing the endings that are known.
Result<OutputFormat> FormatOfFile(const std::filesystem::path& file);

// What %p, %h, %t, %n and %r become.
struct Placeholders {
  std::optional<int> pid;  // unset: not known before the target starts
  std::string host;
  std::string time;     // 20261130-142501, local
  std::string program;  // safe in a file's name
  std::string rank;     // of this process in its job; "0" where there is no job
};
Placeholders DescribeRun(const std::string& program, std::optional<int> pid);

// `pattern` with its placeholders replaced; %% is a percent sign, and a %p that is not known yet
// stays. Fails with kUsage for other letters.
Result<std::string> ExpandPlaceholders(const std::string& pattern, const Placeholders& values);

struct OutputFile {
  std::string path;  // may still contain %p
  OutputFormat format = OutputFormat::kHtml;
};

struct OutputPlan {
  std::vector<OutputFile> files;
  std::string profile;    // where the profile is kept; empty: not kept; may still contain %p
  std::string recording;  // where it is while the run goes on
};

struct OutputRequest {
  std::vector<std::string> outputs, formats;  // -o and --format, as given
  std::string profile;                        // --profile
};

// Decides all of it and tries every place. Without -o the report and the profile get names of their
// own in the current folder; with it exactly the named files are written. Fails with kUsage or kIo.
Result<OutputPlan> PlanOutputs(const OutputRequest& request, const Placeholders& values);

// Can a file be written at `path`, without harming what is there? Refused: no such folder, a folder
// of that name, no permission, and a regular file that is not one of ours (`format`; nullopt: a
// profile).
Status CheckPlace(const std::string& path, std::optional<OutputFormat> format);

// Replaces a %p that was not known before.
std::string WithPid(const std::string& path, int pid);

}  // namespace linescope
