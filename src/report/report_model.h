#pragma once
// Everything that a report says, as plain data: what the HTML page, `stats --json` and the tests
// take their numbers from. Built from a profile once, by BuildModel; equal profiles give equal
// models. Texts are as the profile has them and may hold any bytes; only source texts are valid
// UTF-8.
//
// A time is nanoseconds of what the run's mode counts: wall time of all states in mode wall, CPU
// time in mode cpu.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/reader.h"
#include "report/call_graph.h"
#include "report/call_tree.h"
#include "report/comparison_model.h"
#include "report/left_out.h"
#include "source/index.h"
#include "source/links.h"
#include "source/text.h"

namespace linescope {

// Costs of a line, a function or a file. `time_ns` is that of the project's own code there with the
// library code it calls, without that of other project code; it is unavailable without a sample.
// `total_ns` includes everything called, counted once a stack.
struct ReportMetrics {
  std::optional<int64_t> time_ns;
  uint64_t samples = 0;
  std::optional<int64_t> total_ns;
  bool operator==(const ReportMetrics&) const = default;
};

struct ReportCost {
  int64_t time_ns = 0;
  uint64_t samples = 0;
  bool operator==(const ReportCost&) const = default;
};

// A piece of a line, in UTF-16 units as the page counts. `cost` without what other pieces cost that
// are part of it.
struct ReportExpression {
  uint32_t column = 0;
  uint32_t end_line = 0, end_column = 0;
  ReportCost cost;
  bool operator==(const ReportExpression&) const = default;
};

struct ReportLine {
  uint32_t line = 0;
  ReportMetrics metrics;
  // Of the line's time, most first; empty: columns are not known, or the text is not what ran.
  std::vector<ReportExpression> expressions;
};

struct ReportSource {
  SourceText text;
  SourceIndex index;
  std::vector<Link> links;  // by line and column; files are those of the model
};

// A file of the project: one that was sampled, or one of which the profile holds a snapshot.
struct ReportFile {
  std::string path;
  std::string label;  // shortest suffix of whole path parts that no other file has
  SourceKind kind = SourceKind::kPython;
  ReportMetrics metrics;
  std::optional<ReportSource> source;
  std::optional<bool> verified;   // see SourceSnapshot
  std::string note;               // why unavailable or unverified
  std::vector<ReportLine> lines;  // that were on a sampled stack, ascending; lines from 1
};

// The numbers are part of the report's format.
enum class ReportFunctionKind : uint8_t {
  kFunction = 0,
  kAsyncFunction = 1,
  kClass = 2,
  kLambda = 3,
  kComprehension = 4,
  kModule = 5,
  kOther = 6,  // not found in the source
};

struct ReportFunction {
  std::string name;  // qualified
  uint32_t file = 0;
  uint32_t line = 0;                  // of `def`; from 1
  std::optional<uint32_t> last_line;  // of its body's last statement
  ReportFunctionKind kind = ReportFunctionKind::kOther;
  std::optional<uint32_t> definition;  // in the file's index
  std::optional<FunctionId> sampled;   // in the profile; absent: never on a sampled stack
  ReportMetrics metrics;
};

// What a thread was doing, as the report tells it.
enum class StateGroup : uint8_t { kRunning, kGc, kGil, kWaiting, kIdle, kStopped, kUnknown };
StateGroup StateGroupOf(ThreadState state);
// "running", "gc", "gil", "waiting", "idle", "stopped", "unknown".
const char* StateGroupName(StateGroup group);

// Wall time by what a thread was doing, whatever the mode; `running` is without `gc`.
struct ReportStates {
  int64_t running_ns = 0, gc_ns = 0, gil_ns = 0, waiting_ns = 0, idle_ns = 0, stopped_ns = 0,
          unknown_ns = 0;
  int64_t cpu_ns = 0;
  // Holding the GIL, running or not.
  int64_t holding_ns = 0;
  bool gil_known = false;  // any sample told whether the GIL was held
  void Add(ThreadState state, int64_t wall_ns, int64_t cpu_ns);
};

struct ReportBucket {
  int64_t start_ns = 0, end_ns = 0;  // since the start of the run
  ReportStates states;
  uint64_t samples = 0;
  struct Place {
    uint32_t file = 0, line = 0;
  };
  std::optional<Place> hottest;  // the project line with the most time
};

struct ReportTotals {
  ReportCost all;        // = project + outside + no_python
  ReportCost project;    // on project lines
  ReportCost outside;    // Python stacks without a project line
  ReportCost no_python;  // threads in no Python code
  ReportStates states;
};

struct ReportProcess {
  ProcessRecord info;
  ReportCost cost;
};

struct ReportThread {
  ThreadRecord info;
  ReportCost cost;
  ReportStates states;  // gil_known is that of the process
};

// A line with its statement, as the overview quotes it.
struct HotLine {
  uint32_t file = 0;
  uint32_t line = 0;
  LineRange statement;   // `line` alone where there is none
  std::string label;     // "io.py:83-86"
  std::string function;  // innermost def or class around it; empty: unknown
  ReportMetrics metrics;
  std::optional<std::string>
      text;                   // lines `shown` without their common indentation; no source: absent
  LineRange shown;            // within `statement`
  std::vector<Token> tokens;  // in `text`; lines count from `shown.first`
};

enum class RunOutcome : uint8_t { kSuccess, kFailed, kInterrupted };

struct ReportDrop {
  std::string reason, text;
  uint64_t count = 0;
};

// Code that ran without being shown, see left_out.h.
struct ReportLeftOut {
  std::string name;  // empty: there is none
  LeftOutReason reason = LeftOutReason::kOutside;
  uint32_t files = 0;
  ReportCost cost;
};

struct ReportModel {
  RunInfo run;
  RunEnd end;
  RunOutcome outcome = RunOutcome::kSuccess;
  std::string outcome_text;                   // why; empty on success
  std::optional<std::string> python_version;  // of the root process
  std::optional<double> rate_reached;         // ticks taken a second
  // due = taken + missed; absent for a run that was cut off.
  struct Ticks {
    uint64_t due = 0, taken = 0, missed = 0;
  };
  std::optional<Ticks> ticks;
  std::string scope;                    // a sentence: which files are the project
  std::vector<ReportLeftOut> left_out;  // by falling time, the rest of many last
  std::vector<ReportDrop> drops;  // samples of taken ticks that are not in the profile, most first
  std::vector<Diagnostic> diagnostics;
  ReportTotals totals;
  std::vector<ReportBucket> timeline;
  std::vector<ReportFile> files;          // by path
  std::vector<ReportFunction> functions;  // by file, line, name
  CallGraph callers;                      // between them
  std::vector<HotLine> hot;               // most time first
  std::vector<ReportProcess> processes;
  std::vector<ReportThread> threads;
  CallTree calls;
  std::optional<ReportComparison> comparison;  // with another run; see compare
};

struct ModelOptions {
  size_t hot_lines = 50;
  size_t timeline_buckets = 600;  // at most
  size_t cells = 1'000'000;       // of the call tree, at most; more make its buckets wider
  unsigned threads = 0;           // that index sources; 0: as many as there are CPUs
};

// Fails when the profile's tables cannot be read. A source that cannot be read is a note of its
// file, not an error.
Result<ReportModel> BuildModel(ProfileReader& reader, const ModelOptions& options = {});

// Never empty: the run's title, else the name of what was run.
std::string TitleOf(const ReportModel& model);

// The shortest suffixes of whole path parts that tell the paths apart; a path that is itself such a
// suffix of another stays whole.
std::vector<std::string> UniqueSuffixes(const std::vector<std::string>& paths);

}  // namespace linescope
