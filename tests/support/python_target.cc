#include "support/python_target.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "support/test_data.h"

namespace linescope {

PythonTarget::PythonTarget(const std::string& python, const std::vector<std::string>& arguments) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return;
  in_.Reset(in[1]);
  const UniqueFd child_in(in[0]);
  if (::pipe2(out, O_CLOEXEC) != 0) return;
  out_.Reset(out[0]);
  const UniqueFd child_out(out[1]);
  std::vector<char*> argv{const_cast<char*>(python.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test crashes
  ::dup2(child_in.get(), 0);
  ::dup2(child_out.get(), 1);
  ::execv(python.c_str(), argv.data());
  ::_exit(127);
}

PythonTarget::~PythonTarget() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string PythonTarget::ReadLine() {
  for (;;) {
    if (const size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    pollfd poll{out_.get(), POLLIN, 0};
    if (::poll(&poll, 1, 60'000) != 1) return {};
    char buffer[65536];
    const ssize_t n = ::read(out_.get(), buffer, sizeof buffer);
    if (n <= 0) return {};
    pending_.append(buffer, static_cast<size_t>(n));
  }
}

void PythonTarget::Send(const std::string& text) const {
  (void)!::write(in_.get(), text.data(), text.size());
}

bool PythonTarget::Stop() {
  int status = 0;
  // The parent hears of the stop when the last thread has stopped.
  return ::kill(pid_, SIGSTOP) == 0 && ::waitpid(pid_, &status, WUNTRACED) == pid_ &&
         WIFSTOPPED(status);
}

void PythonTarget::Continue() const { ::kill(pid_, SIGCONT); }

std::string ProgramPath(const std::string& name) { return TestData("programs") / name; }

}  // namespace linescope
