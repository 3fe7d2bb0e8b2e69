#pragma once
// What `doctor` finds out about Python.
#include <string>
#include <vector>

#include "base/result.h"

namespace linescope {

struct InterpreterFinding {
  std::string path;
  Result<std::string> version;  // "3.12.1", as read from outside; or why it cannot be read
};

// The interpreters of the active environment and on PATH, each file once. Each is started, looked
// at as `run` would do it, and ended again.
std::vector<InterpreterFinding> FindInterpreters();

struct ProcessPython {
  std::string version;
  int threads = 0;
  std::string file, found_by;  // see PythonRuntime
  std::vector<std::string> warnings;
};

// The interpreter inside a running process, as `attach` would find it.
Result<ProcessPython> ExamineInterpreter(int pid);

}  // namespace linescope
