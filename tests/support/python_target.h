#pragma once
// A Python program run by a test: read from, written to, stopped and killed.
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace linescope {

// A child process, killed and reaped at the end of the test. Its stdin and stdout are ours, its
// stderr is the test's.
class PythonTarget {
 public:
  PythonTarget(const std::string& python, const std::vector<std::string>& arguments);
  PythonTarget(const PythonTarget&) = delete;
  PythonTarget& operator=(const PythonTarget&) = delete;
  ~PythonTarget();

  [[nodiscard]] int pid() const { return pid_; }
  // The next line of its stdout without the newline; empty at its end or after 60 seconds.
  std::string ReadLine();
  void Send(const std::string& text) const;
  // SIGSTOP, and wait until every thread has stopped. False when it ended instead.
  [[nodiscard]] bool Stop();
  void Continue() const;

 private:
  pid_t pid_ = -1;
  UniqueFd in_, out_;
  std::string pending_;
};

// Path of tests/programs/`name`.
std::string ProgramPath(const std::string& name);

}  // namespace linescope
