#pragma once
// From the target's part of the command line to what is executed.
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/exit_codes.h"

namespace linescope {

// How the target was named; see `linescope run --help`.
enum class TargetForm { kScript, kModule, kCode, kProgram };

struct TargetWords {
  TargetForm form = TargetForm::kScript;
  std::vector<std::string> words;  // the script, module, code or program, and its arguments
};

struct Target {
  std::vector<std::string> command;  // to execute
  std::vector<std::string> typed;    // as the user would have typed it without LineScope
  std::string name;                  // short, for titles and file names: "app" for app.py
  std::string script;                // the Python script, where there is one that is known
  std::optional<std::string> code;   // the text of -c
};

struct TargetError {
  ExitCode code = kExitNotFound;
  std::string what;
};

// Finds the interpreter (`python`, as --python gives it, else VIRTUAL_ENV's, else python3 or python
// on PATH) and the script, and refuses what cannot be run.
std::expected<Target, TargetError> ResolveTarget(const TargetWords& words,
                                                 const std::string& python, const GetEnv& get_env);

// What is known of a program from the words that started it: for a Python interpreter its script,
// module or code.
Target DescribeCommand(const std::vector<std::string>& words);

}  // namespace linescope
