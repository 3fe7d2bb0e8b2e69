#include "cli/report_so_far.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"
#include "cli/terminal.h"

extern char** environ;

namespace linescope {
namespace {

// `linescope export` of the file that is running now. Its own session: Ctrl-C is for the target.
Result<int> BeginExport(std::string profile, std::string path, OutputFormat format, bool ai) {
  std::string program = "linescope", command = "export", option = "--format", output = "--output";
  std::string name = FormatName(format), connect = ai ? "--ai" : "--no-ai";
  char* const arguments[] = {program.data(), command.data(), profile.data(),
                             option.data(),  name.data(),    output.data(),
                             path.data(),    connect.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Fail(ErrorCode::kIo, "{}", ErrnoText(error));
  return pid;
}

}  // namespace

void ReportSoFar::Begin(int pid) {
  std::erase_if(writers_, [](int writer) { return ::waitpid(writer, nullptr, WNOHANG) != 0; });
  if (!writers_.empty()) {
    PrintWarning("the report so far is still being written");
    return;
  }
  for (const OutputFile& file : plan_->files) {
    const std::string path = WithPid(file.path, pid);
    if (auto writer = BeginExport(plan_->recording, path, file.format, ai_)) {
      writers_.push_back(*writer);
      PrintNote(fmt::format("writing {} so far", Printable(path)));
    } else {
      PrintError(fmt::format("cannot write {} so far: {}", Printable(path), writer.error().what));
    }
  }
}

void ReportSoFar::Wait() {
  for (const int writer : writers_) {
    while (::waitpid(writer, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  writers_.clear();
}

}  // namespace linescope
