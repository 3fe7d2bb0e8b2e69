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
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/target_words.h"
#include "cli/terminal.h"
#include "cli/top_live.h"
#include "cli/top_options.h"
#include "process/procfs.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    R"(top [options] --pid PID
top [options] --name PATTERN
top [options] SCRIPT [arguments...]
top [options] -m MODULE [arguments...]
top [options] -c CODE [arguments...]
top [options] -- PROGRAM [arguments...])",
    R"(Watches live, in the terminal, where a Python program spends its time: by line,
function, thread and process. Press ? for the keys, Enter for the source and the
stacks of a row, q to leave. With --pid or --name the process goes on, unchanged.

A program that top starts is run as linescope run does, but for the terminal,
which the view has: what the program prints there is kept, its last lines are
shown, and all of it is printed when you quit. Its standard input is empty
unless it is redirected. Ctrl-C interrupts the program, as it would without
LineScope. When you quit before it ends, it goes on in the foreground; the exit
status is the program's.)",
    R"(Figures: Time% is time at a line and in the library code it calls, Self% at the
line alone, Total% with everything that it calls. 100 % is one thread all of the
time.

--batch prints plain text, for logs and for where there is no terminal: one table
an interval, about that interval, on standard output, or on standard error beside
a program that top has started.

Options can also be set in the environment and in files; see linescope run --help.

Examples:
  linescope top --pid 4711
  linescope top --name 'celery.*worker' --by thread
  linescope top app.py --port 8000
  linescope top --batch --count 3 --interval 10 --pid 4711 > hot.txt)"};

constexpr char kProcess[] = "Process";
constexpr char kOther[] = "Other";

// What contradicts itself; empty: nothing.
std::string Contradiction(const TopRun& run) {
  if (!run.batch && run.count != 0)
    return "--count goes with --batch: a view has no end of its own";
  if (run.batch && !run.output_file.empty())
    return "--output-of-program goes with the view: with --batch the program prints as it would "
           "without LineScope";
  if (run.pid && !run.output_file.empty())
    return "--output-of-program is for a program that top starts";
  return "";
}

void FillScope(TopRun* run, const std::string& working_directory, const std::string& script) {
  run->scope.working_directory = working_directory;
  run->scope.script = script;
  run->scope.project_root = run->collect.project_root;
  run->scope.includes = run->collect.includes;
  run->scope.excludes = run->collect.excludes;
}

int WatchProcess(TopRun run, const std::string& name) {
  if (!run.pid) {
    const auto picked = FindProcessByName(name);
    if (!picked) {
      PrintError(picked.error().what);
      return ExitCodeFor(picked.error().code);
    }
    run.pid = *picked;
  }
  const auto words = ReadCommandLine(*run.pid);
  const Target target = words && !words->empty() ? DescribeCommand(*words) : Target();
  run.shown_command = target.typed;
  run.title = target.name.empty() ? fmt::format("pid {}", *run.pid)
                                  : fmt::format("pid {} ({})", *run.pid, target.name);
  run.scope.pid = *run.pid;
  FillScope(&run, ReadWorkingDirectory(*run.pid).value_or("/"), target.script);
  return WatchLive(run);
}

int WatchProgram(TopRun run, const TargetWords& words, const std::string& python) {
  const auto target = ResolveTarget(words, python, ProcessEnv);
  if (!target) {
    PrintError(target.error().what);
    return target.error().code;
  }
  if (run.verbose) PrintNote("command: " + Printable(JoinCommand(target->command)));
  run.command = target->command;
  run.shown_command = target->typed;
  run.title = TargetTitle(words, *target);
  run.code = target->code;
  run.scope.code_string = target->code.has_value();
  FillScope(&run, std::filesystem::current_path().string(), target->script);
  return WatchLive(run);
}

}  // namespace

int TopMain(const Arguments& arguments) {
  TopRun run;
  std::string name, python;
  CLI::App app("", "top");
  run.collect.subprocesses = true;
  // Threads that wait are many, and would hide the one that works; a key counts them, too.
  run.collect.mode = Mode::kCpu;
  AddPid(app, {"--pid", "PID", "the process's id", kProcess}, &run.pid);
  AddText(app,
          {"--name", "PATTERN",
           "the one process whose command line this regular expression is found in", kProcess},
          &name);
  AddViewOptions(app, &run);
  AddSamplingOptions(app, &run.collect);
  AddProjectOptions(app, &run.collect);
  AddPythonOption(app, &python);
  AddFlag(app, {"--quiet,-q", "", "say nothing but warnings and errors at the end", kOther},
          &run.quiet);
  AddFlag(app, {"--verbose,-v", "", "say what was decided and why", kOther}, &run.verbose);
  AddHelpOption(app);

  const auto line = SplitCommandLine(app, arguments);
  if (!line) return ReportUsageError("top", line.error().what);
  if (const auto status = ParseArguments(app, kHelp, line->own)) return *status;
  const bool attaches = run.pid || !name.empty();
  if (run.pid && !name.empty())
    return ReportUsageError("top", "name the process with either --pid or --name");
  if (attaches && !line->target.words.empty())
    return ReportUsageError("top", "watch either a running process or a program, not both");
  if (!attaches && line->target.words.empty())
    return ReportUsageError("top", line->missing + ", or --pid or --name of a process");
  const auto settings = LoadSettings(app, std::filesystem::current_path(), ProcessEnv);
  if (!settings) return ReportUsageError("top", settings.error().what);
  for (const std::string& mistake : {Contradiction(run), ContradictionIn(run.collect)}) {
    if (!mistake.empty()) return ReportUsageError("top", mistake);
  }
  if (run.verbose && *settings) PrintNote("settings: " + Printable((*settings)->string()));
  return attaches ? WatchProcess(std::move(run), name)
                  : WatchProgram(std::move(run), line->target, python);
}

}  // namespace linescope
