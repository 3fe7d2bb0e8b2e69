#include "cli/commands.h"

#include <fmt/format.h>

#include <array>

#include "cli/arguments.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "cli/version.h"

namespace linescope {
namespace {

constexpr std::array kCommands = {
    Command{"run", "launch a Python program and profile it", RunMain},
    Command{"attach", "profile a running process", AttachMain},
    Command{"dump", "show once where every thread of a running process is", DumpMain},
    Command{"top", "watch live where a Python program spends its time", TopMain},
    Command{"report", "write the HTML report of a stored profile", ReportMain},
    Command{"stats", "show the hottest lines and functions of a stored profile", StatsMain},
    Command{"export", "convert a stored profile for other tools", ExportMain},
    Command{"diff", "compare two stored profiles, line by line", DiffMain},
    Command{"check", "fail when a profile is over its budget, or slower than a baseline",
            CheckMain},
    Command{"doctor", "say what works on this machine, and how to mend what does not", DoctorMain},
};

std::string Help() {
  std::string out =
      R"(LineScope measures which lines of a Python program take the time, from outside:
nothing to change in the program, nothing to install into its environment.

Usage:
  linescope SCRIPT [arguments...]     the same as linescope run SCRIPT ...
  linescope COMMAND [options]

Commands:
)";
  for (const Command& command : kCommands)
    out += fmt::format("  {:<10}{}\n", command.name, command.summary);
  out += R"(
Start here:
  linescope app.py                    runs app.py; report: linescope-app.html
  linescope -m pytest tests           a module
  linescope attach --pid 4711         a process that is running

Each command has its own --help; --version tells the version.

Exit status: for run that of the program, for check 1 when over, else 0.
LineScope's own failures:
)";
  return out + kExitCodesHelp;
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }

int LineScopeMain(const Arguments& arguments) {
  if (arguments.empty()) {
    return ReportUsageError("", "there is nothing to do: name a script, or a command");
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h" || first == "help")
    return WriteStdout(Help()) ? kExitOk : kExitFile;
  if (first == "--version" || first == "-V")
    return WriteStdout(fmt::format("linescope {}\n", kVersion)) ? kExitOk : kExitFile;
  for (const Command& command : kCommands)
    if (first == command.name) return command.main({arguments.begin() + 1, arguments.end()});
  return RunMain(arguments);
}

}  // namespace linescope
