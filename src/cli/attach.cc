#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_codes.h"
#include "cli/figures.h"
#include "cli/find_process.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/run_as.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "process/procfs.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    R"(attach [options] --pid PID
attach [options] --name PATTERN)",
    R"(Profiles a running Python process until it ends, until --duration, or until
Ctrl-C. The process goes on afterwards, unchanged.)",
    R"(Without --output, two files are written to the current folder: the report,
linescope-PID.html, and the profile, linescope-PID.linescope. Options can also
be set in the environment and in files; see linescope run --help. SIGUSR1 writes
the report of what there is so far.

Examples:
  linescope attach --pid 4711 --duration 30
  linescope attach --name 'celery.*worker' --rate 200 -o celery-%t.html

The system may forbid reading another process: linescope doctor --pid PID says
why, and what helps.)"};

// What is known of the process's program from its command line.
Target DescribeTarget(int pid) {
  const auto words = ReadCommandLine(pid);
  return words && !words->empty() ? DescribeCommand(*words) : Target();
}

}  // namespace

int AttachMain(const Arguments& arguments) {
  Recording recording;
  std::optional<int> pid;
  std::string name;
  CLI::App app("", "attach");
  AddPid(app, {"--pid", "PID", "the process's id", "Process"}, &pid);
  AddText(app,
          {"--name", "PATTERN",
           "the one process whose command line this regular expression is found in", "Process"},
          &name);
  AddCollectOptions(app, &recording.collect);
  AddResultOptions(app, &recording.results);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  if (pid.has_value() == !name.empty())
    return ReportUsageError("attach", "name the process with either --pid or --name");
  const auto settings = LoadSettings(app, std::filesystem::current_path(), ProcessEnv);
  if (!settings) return ReportUsageError("attach", settings.error().what);
  if (const std::string wrong = ContradictionIn(recording.collect); !wrong.empty())
    return ReportUsageError("attach", wrong);
  if (recording.results.verbose && *settings)
    PrintNote("settings: " + Printable((*settings)->string()));
  if (const auto status = RunAs("", KeepFiles::kYes, recording.results.verbose)) return *status;
  if (!pid) {
    const auto picked = FindProcessByName(name);
    if (!picked) {
      PrintError(picked.error().what);
      return ExitCodeFor(picked.error().code);
    }
    pid = *picked;
  }

  const Target target = DescribeTarget(*pid);
  recording.pid = pid;
  recording.shown_command = target.typed;
  recording.name = std::to_string(*pid);
  recording.title = target.name.empty() ? fmt::format("pid {}", *pid)
                                        : fmt::format("pid {} ({})", *pid, target.name);
  recording.scope.pid = *pid;
  recording.scope.working_directory = ReadWorkingDirectory(*pid).value_or("/");
  recording.scope.script = target.script;
  recording.scope.project_root = recording.collect.project_root;
  recording.scope.includes = recording.collect.includes;
  recording.scope.excludes = recording.collect.excludes;
  return Record(recording);
}

}  // namespace linescope
