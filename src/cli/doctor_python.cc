#include "cli/doctor_python.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/unique_fd.h"
#include "cli/environment.h"
#include "process/launch.h"
#include "process/remote_memory.h"
#include "python/runtime.h"
#include "python/thread_list.h"

extern char** environ;

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr int kStartTimeoutMs = 10'000;

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorCode::kInternal, "cannot make a pipe: {}", ErrnoText());
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// An interpreter that is up and waits. It ends when its standard input is closed, at the latest
// when we do.
class IdleInterpreter {
 public:
  IdleInterpreter(pid_t pid, UniqueFd input) : pid_(pid), input_(std::move(input)) {}
  IdleInterpreter(IdleInterpreter&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), input_(std::move(other.input_)) {}
  IdleInterpreter& operator=(IdleInterpreter&&) = delete;
  ~IdleInterpreter() {
    if (pid_ <= 0) return;
    input_.Reset();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_;
  UniqueFd input_;
};

Result<IdleInterpreter> StartInterpreter(const std::string& path) {
  LS_TRY(input, MakePipe());
  LS_TRY(output, MakePipe());
  std::string program = path;
  std::string isolated = "-I";
  std::string option = "-c";
  std::string code = "import sys; sys.stdout.write('.'); sys.stdout.flush(); sys.stdin.read()";
  char* const arguments[] = {program.data(), isolated.data(), option.data(), code.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Fail(ErrorCode::kIo, "cannot be started: {}", ErrnoText(error));
  IdleInterpreter interpreter(pid, std::move(input.write));
  output.write.Reset();
  pollfd wait{output.read.get(), POLLIN, 0};
  char dot = 0;
  if (::poll(&wait, 1, kStartTimeoutMs) != 1 || ::read(output.read.get(), &dot, 1) != 1)
    return Fail(ErrorCode::kNotPython, "does not start as a Python interpreter");
  return interpreter;
}

Result<std::string> ReadVersion(const std::string& path) {
  LS_TRY(interpreter, StartInterpreter(path));
  LS_TRY(python, ExamineInterpreter(interpreter.pid()));
  return python.version;
}

}  // namespace

std::vector<InterpreterFinding> FindInterpreters() {
  std::vector<std::string> names = {"python3", "python"};
  for (int minor = kOldestMinor; minor <= kNewestMinor; ++minor)
    names.push_back("python3." + std::to_string(minor));
  std::vector<std::string> paths;
  if (const auto environment = ProcessEnv("VIRTUAL_ENV"); environment && !environment->empty())
    paths.push_back(*environment + "/bin/python");
  for (const std::string& name : names)
    if (const auto found = ResolveProgram(name)) paths.push_back(*found);

  std::vector<std::string> seen;
  std::vector<InterpreterFinding> findings;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::string file = fs::canonical(path, error).string();
    if (error || std::ranges::find(seen, file) != seen.end()) continue;
    seen.push_back(file);
    findings.push_back({path, ReadVersion(path)});
  }
  return findings;
}

Result<ProcessPython> ExamineInterpreter(int pid) {
  LS_TRY(memory, OpenRemoteMemory(pid));
  LS_TRY(runtime, FindRuntime(pid, memory.get()));
  ThreadList threads;
  ReadThreadList(memory.get(), runtime.table, runtime.address, &threads);
  return ProcessPython{DescribePython(memory.get(), runtime),
                       static_cast<int>(threads.threads.size()), runtime.file, runtime.found_by,
                       runtime.warnings};
}

}  // namespace linescope
