#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/figures.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/run_as.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/target_words.h"
#include "cli/terminal.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    R"(run [options] SCRIPT [arguments...]
run [options] -m MODULE [arguments...]
run [options] -c CODE [arguments...]
run [options] -- PROGRAM [arguments...])",
    R"(Runs a Python program and measures which of its lines take the time. Everything
after the script, module, code or program is the program's own. It runs as it
would without LineScope: same input, output, signals and exit status. The last
form takes any command that ends up running Python. The -- can be left out for a
program on PATH (python app.py, pytest -x), and for a file that can be executed
and is no Python script.)",
    R"(Without --output, two files are written to the current folder: the report,
linescope-NAME.html, and the profile, linescope-NAME.linescope, from which
reports and exports can be made later. A second run replaces them.

Options can also be set in the environment (LINESCOPE_RATE=500; lists with
commas) and in linescope.toml or [tool.linescope] of pyproject.toml, in this
folder or above it. The command line wins, then the environment.

Signals that LineScope gets it passes on to the program, but SIGUSR1: it writes
the report of what there is so far (kill -USR1 PID).

Examples:
  linescope run app.py --port 8000           --port belongs to app.py
  linescope run --rate 5000 -m pytest -x     the module pytest
  linescope run uvicorn app:main             the program uvicorn
  linescope run -o out.collapsed -- celery -A tasks worker)"};

}  // namespace

int RunMain(const Arguments& arguments) {
  Recording recording;
  std::string python, user;
  CLI::App app("", "run");
  recording.collect.subprocesses = true;
  AddCollectOptions(app, &recording.collect);
  AddResultOptions(app, &recording.results);
  AddPythonOption(app, &python);
  AddText(app,
          {"--user", "NAME",
           "for root: whose program it is, and whose files the results; default: who called sudo",
           "Other"},
          &user);
  AddHelpOption(app);

  const auto line = SplitCommandLine(app, arguments);
  if (!line) return ReportUsageError("run", line.error().what);
  if (const auto status = ParseArguments(app, kHelp, line->own)) return *status;
  if (line->target.words.empty()) return ReportUsageError("run", line->missing);

  const std::filesystem::path folder = std::filesystem::current_path();
  const auto settings = LoadSettings(app, folder, ProcessEnv);
  if (!settings) return ReportUsageError("run", settings.error().what);
  if (const std::string wrong = ContradictionIn(recording.collect); !wrong.empty())
    return ReportUsageError("run", wrong);
  if (const auto status = RunAs(user, KeepFiles::kNo, recording.results.verbose)) return *status;
  const auto target = ResolveTarget(line->target, python, ProcessEnv);
  if (!target) {
    PrintError(target.error().what);
    return target.error().code;
  }
  if (recording.results.verbose) {
    if (*settings) PrintNote("settings: " + Printable((*settings)->string()));
    PrintNote("command: " + Printable(JoinCommand(target->command)));
  }
  recording.command = target->command;
  recording.shown_command = target->typed;
  recording.name = target->name;
  recording.title = TargetTitle(line->target, *target);
  recording.code = target->code;
  recording.scope.working_directory = folder.string();
  recording.scope.script = target->script;
  recording.scope.code_string = target->code.has_value();
  recording.scope.project_root = recording.collect.project_root;
  recording.scope.includes = recording.collect.includes;
  recording.scope.excludes = recording.collect.excludes;
  return Record(recording);
}

}  // namespace linescope
