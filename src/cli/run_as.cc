#include "cli/run_as.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"

namespace linescope {
namespace {

// The environment that a login of the user has, where sudo made it root's.
void SetEnvironment(const User& user) {
  for (const char* name : {"SUDO_COMMAND", "SUDO_USER", "SUDO_UID", "SUDO_GID", "MAIL"})
    ::unsetenv(name);
  if (user.name.empty()) return;
  ::setenv("USER", user.name.c_str(), 1);
  ::setenv("LOGNAME", user.name.c_str(), 1);
  ::setenv("HOME", user.home.c_str(), 1);
  ::setenv("SHELL", user.shell.c_str(), 1);
}

}  // namespace

std::optional<int> RunAs(const std::string& user, KeepFiles files, bool verbose) {
  std::optional<User> other;
  if (!user.empty()) {
    auto found = FindUser(user);
    if (!found) {
      PrintError(found.error().what);
      return kExitUsage;
    }
    if (found->uid == ::geteuid()) return std::nullopt;
    if (::geteuid() != 0) {
      PrintError(
          fmt::format("only root may run a program as user {}: sudo linescope run --user {} ...",
                      Printable(user), Printable(user)));
      return kExitDenied;
    }
    other = std::move(*found);
  } else if (::geteuid() == 0) {
    other = SudoCaller(ProcessEnv, program_invocation_short_name);
  }
  if (!other) return std::nullopt;
  if (const Status became = BecomeUser(*other, files); !became) {
    PrintError(became.error().what);
    return kExitDenied;
  }
  SetEnvironment(*other);
  if (verbose) {
    PrintNote(fmt::format("works as user {}{}", Printable(other->name),
                          user.empty() ? ", who called sudo" : ""));
  }
  return std::nullopt;
}

}  // namespace linescope
