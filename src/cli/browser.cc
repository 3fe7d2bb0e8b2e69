#include "cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "cli/environment.h"
#include "process/launch.h"

extern char** environ;

namespace linescope {

bool HaveDisplay() {
  return !EnvIsSet("CI") && (EnvIsSet("DISPLAY") || EnvIsSet("WAYLAND_DISPLAY"));
}

Status OpenInBrowser(const std::string& file) {
  const auto opener = ResolveProgram("xdg-open");
  if (!opener) return Fail(ErrorCode::kIo, "cannot open the report: xdg-open is not installed");
  std::string program = *opener;
  std::string path = file;
  char* const arguments[] = {program.data(), path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Its own session: it lives on when the terminal is closed, and Ctrl-C is not for it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Fail(ErrorCode::kIo, "cannot open the report: {}", ErrnoText(error));
  return {};
}

}  // namespace linescope
