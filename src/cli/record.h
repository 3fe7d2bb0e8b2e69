#pragma once
// What `run` and `attach` have in common: collect, write what was asked for, say how it went.
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "sampler/session.h"
#include "source/scope.h"

namespace linescope {

struct Recording {
  CollectOptions collect;
  ResultOptions results;
  std::vector<std::string> command;        // to launch; or
  std::optional<int> pid;                  // to attach to
  std::vector<std::string> shown_command;  // as the report shows it
  std::string name;                        // for file names: "app"
  std::string title;                       // for people: "app.py", "pid 4711"
  ScopeOptions scope;
  std::optional<std::string> code;  // the text of -c
};

// Returns the exit status: for a launched target its own, whatever became of the profile.
int Record(const Recording& recording);

}  // namespace linescope
