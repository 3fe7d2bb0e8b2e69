#pragma once
// One side of a comparison: what a profile, or a written report, says about a run.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/report_data.h"
#include "report/report_model.h"

namespace linescope {

struct RunCost {
  int64_t time_ns = 0;
  uint64_t samples = 0;
  bool operator==(const RunCost&) const = default;
};

struct RunLine {
  uint32_t line = 0;
  RunCost cost;
};

// A `def` or `async def` with a body.
struct RunDefinition {
  std::string name;  // qualified
  uint32_t first = 0, last = 0;
};

struct RunFile {
  std::string path;   // as the interpreter has it
  std::string place;  // below the project's root where it lies there; what files are matched by
  RunCost cost;
  bool has_source = false;
  std::vector<std::string> text;  // lines
  std::vector<RunLine> lines;     // with samples, ascending
  std::vector<RunDefinition> definitions;
};

struct RunFunction {
  std::string name;  // qualified
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t last = 0;  // 0: unknown
  RunCost cost;
};

struct RunData {
  std::string origin;  // the file that it was read from, for messages
  std::string title;
  std::string mode;  // wall, cpu, gil
  bool idle = true;
  bool attached = false;
  bool whole = true;  // from the program's start to its end
  std::optional<int64_t> elapsed_ns;
  std::string python, host;
  int64_t started_unix_ms = 0;
  RunCost total, project;
  std::vector<RunFile> files;          // of the project, by path
  std::vector<RunFunction> functions;  // by file and line
};

RunData RunDataOf(const ReportModel& model);
// From a report that LineScope wrote. The bytes are untrusted.
Result<RunData> RunDataOf(const ReportData& report);

// `path` below the first of `folders` that holds it; else as it is.
std::string PathBelow(const std::string& path, const std::vector<std::string>& folders);

}  // namespace linescope
