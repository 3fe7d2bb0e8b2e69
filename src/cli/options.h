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
  Mode mode = Mode::kWall;
  Consistency consistency = Consistency::kAuto;
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
  std::optional<Display> display;  // unset: decided by where we run
  bool quiet = false;
  bool verbose = false;
};

void AddCollectOptions(CLI::App& app, CollectOptions* options);
void AddResultOptions(CLI::App& app, ResultOptions* options);
// --help, which ParseArguments answers.
void AddHelpOption(CLI::App& app);

const char* ConsistencyName(Consistency consistency);
const char* ModeName(Mode mode);

}  // namespace linescope
