#pragma once
// The options that commands share. Each is defined once, here; environment and configuration files
// set the same ones.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sampler/session.h"

namespace CLI {
class App;
}

namespace linescope {

enum class Display { kBrowser, kSummary, kNone };

// What to collect: run and attach.
struct CollectOptions {
  double rate_hz = 1000;
  Mode mode = Mode::kWall;  // set before the options are added: the default
  Consistency consistency = Consistency::kAuto;
  std::optional<bool> idle;  // --idle or --no-idle; unset: as the mode has it
  bool gc = false;
  bool switch_records = true;
  bool tasks = false;
  bool native = false;        // not of top, which shows Python functions
  bool subprocesses = false;  // set before the options are added: their default
  std::vector<std::string> includes, excludes;
  std::string project_root;
  std::optional<double> duration_s;
  double delay_s = 0;
  std::string title;
  std::vector<std::pair<std::string, std::string>> labels;
};

// What to do with it: run and attach.
struct ResultOptions {
  std::vector<std::string> outputs, formats;  // as given; see outputs.h
  std::string profile;
  bool ai = true;                  // the report can ask a model
  std::optional<Display> display;  // unset: decided by where we run
  bool quiet = false;
  bool verbose = false;
};

// Those that say how to sample, and what is the user's own code.
void AddSamplingOptions(CLI::App& app, CollectOptions* options);
void AddProjectOptions(CLI::App& app, CollectOptions* options);
// All of them.
void AddCollectOptions(CLI::App& app, CollectOptions* options);
// What is wrong with options that contradict each other: a sentence; empty: nothing.
std::string ContradictionIn(const CollectOptions& options);
// --ai and --no-ai, of every command that writes a report.
void AddAiOption(CLI::App& app, const std::string& group, bool* ai);
void AddResultOptions(CLI::App& app, ResultOptions* options);
// --python of what is launched.
void AddPythonOption(CLI::App& app, std::string* python);
// --help, which ParseArguments answers.
void AddHelpOption(CLI::App& app);

// What they ask of the session.
void CollectAs(const CollectOptions& options, SessionOptions* session);

const char* ConsistencyName(Consistency consistency);
const char* ModeName(Mode mode);

}  // namespace linescope
