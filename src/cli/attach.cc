#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <regex>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_codes.h"
#include "cli/figures.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/record.h"
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
be set in the environment and in files; see linescope run --help.

Examples:
  linescope attach --pid 4711 --duration 30
  linescope attach --name 'celery.*worker' --rate 200 -o celery-%t.html

The system may forbid reading another process: linescope doctor --pid PID says
why, and what helps.)"};

constexpr size_t kListedMatches = 8;

struct Match {
  int pid = 0;
  std::string command;
};

// All processes whose command line `pattern` is found in, except ourselves and what we were started
// by: a shell or sudo has the pattern in its own command line.
Result<std::vector<Match>> FindByCommand(const std::string& pattern) {
  std::regex expression;
  try {
    expression.assign(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    return Fail(ErrorCode::kUsage, "--name: '{}' is not a regular expression", Printable(pattern));
  }
  LS_TRY(pids, ListProcesses());
  const auto ancestry = Ancestry(::getpid()).value_or(std::vector<int>());
  std::vector<Match> matches;
  for (const int pid : pids) {
    if (pid == ::getpid() || std::ranges::find(ancestry, pid) != ancestry.end()) continue;
    const auto words = ReadCommandLine(pid);
    if (!words || words->empty()) continue;
    std::string command;
    for (const std::string& word : *words) command += (command.empty() ? "" : " ") + word;
    if (std::regex_search(command, expression)) matches.push_back({pid, command});
  }
  return matches;
}

Result<int> PickByName(const std::string& pattern) {
  LS_TRY(matches, FindByCommand(pattern));
  if (matches.empty())
    return Fail(ErrorCode::kGone, "no process has '{}' in its command line", Printable(pattern));
  if (matches.size() == 1) return matches[0].pid;
  std::string list;
  for (size_t i = 0; i < std::min(matches.size(), kListedMatches); ++i)
    list +=
        fmt::format("\n  {:>7}  {}", matches[i].pid, Ellipsize(Printable(matches[i].command), 80));
  if (matches.size() > kListedMatches) list += "\n  …";
  return Fail(ErrorCode::kUsage,
              "{} processes have '{}' in their command line; choose one with --pid:{}",
              matches.size(), Printable(pattern), list);
}

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
  if (recording.results.verbose && *settings)
    PrintNote("settings: " + Printable((*settings)->string()));
  if (!pid) {
    const auto picked = PickByName(name);
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
