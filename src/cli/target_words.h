#pragma once
// The command lines of `run` and `top`: our options, then the target's own words.
#include <string>

#include "cli/commands.h"
#include "cli/target.h"

namespace CLI {
class App;
}

namespace linescope {

struct CommandLine {
  Arguments own;        // the options before the target
  TargetWords target;   // no words: there is none
  std::string missing;  // what to say of that
};
// Fails with kUsage for unknown options and for missing values.
Result<CommandLine> SplitCommandLine(const CLI::App& app, const Arguments& arguments);

// What to call the target: "app.py", "python -m http.server".
std::string TargetTitle(const TargetWords& words, const Target& target);

}  // namespace linescope
