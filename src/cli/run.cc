#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/figures.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/settings.h"
#include "cli/target.h"
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

Examples:
  linescope run app.py --port 8000           --port belongs to app.py
  linescope run --rate 5000 -m pytest -x     the module pytest
  linescope run uvicorn app:main             the program uvicorn
  linescope run -o out.collapsed -- celery -A tasks worker)"};

TargetWords TakeTarget(const OptionsEnd& end, const Arguments& arguments) {
  TargetWords target;
  switch (end.kind) {
    case OptionsEnd::Kind::kDashes:
      target.form = TargetForm::kProgram;
      break;
    case OptionsEnd::Kind::kLastOption:
      target.form = end.option == "-m" ? TargetForm::kModule : TargetForm::kCode;
      if (!end.value.empty()) target.words.push_back(end.value);
      break;
    case OptionsEnd::Kind::kWord:
    case OptionsEnd::Kind::kNothing:
      break;
  }
  target.words.insert(target.words.end(), arguments.begin() + static_cast<ptrdiff_t>(end.index),
                      arguments.end());
  return target;
}

std::string MissingTarget(const OptionsEnd& end) {
  switch (end.kind) {
    case OptionsEnd::Kind::kDashes:
      return "a program to run is missing after --";
    case OptionsEnd::Kind::kLastOption:
      return end.option == "-m" ? "the module's name is missing after -m"
                                : "the code is missing after -c";
    case OptionsEnd::Kind::kWord:
    case OptionsEnd::Kind::kNothing:
      break;
  }
  return "a script to run is missing (or -m MODULE, -c CODE, -- PROGRAM)";
}

std::string Title(const TargetWords& words, const Target& target) {
  switch (words.form) {
    case TargetForm::kModule:
      return "python -m " + words.words[0];
    case TargetForm::kCode:
      return "python -c";
    case TargetForm::kScript:
      return words.words[0] == "-" ? "python -"
                                   : std::filesystem::path(words.words[0]).filename().string();
    case TargetForm::kProgram:
      break;
  }
  return target.script.empty() ? std::filesystem::path(words.words[0]).filename().string()
                               : std::filesystem::path(target.script).filename().string();
}

}  // namespace

int RunMain(const Arguments& arguments) {
  Recording recording;
  std::string python;
  CLI::App app("", "run");
  recording.collect.subprocesses = true;
  AddCollectOptions(app, &recording.collect);
  AddResultOptions(app, &recording.results);
  AddText(app,
          {"--python", "FILE",
           "the interpreter, or its virtual environment's folder; default: the active "
           "environment's, else python3 on PATH; not for -- PROGRAM",
           "Other"},
          &python);
  AddHelpOption(app);

  const std::vector<std::string> last_options = {"-m", "-c"};
  const auto end = FindOptionsEnd(app, arguments, last_options);
  if (!end) return ReportUsageError("run", end.error().what);
  auto own_end = arguments.begin();
  if (end->kind == OptionsEnd::Kind::kDashes || end->kind == OptionsEnd::Kind::kLastOption) {
    own_end += static_cast<ptrdiff_t>(end->index) - 1;
  } else {
    own_end += static_cast<ptrdiff_t>(end->index);
  }
  const Arguments own(arguments.begin(), own_end);
  if (const auto status = ParseArguments(app, kHelp, own)) return *status;
  const TargetWords words = TakeTarget(*end, arguments);
  if (words.words.empty()) return ReportUsageError("run", MissingTarget(*end));

  const std::filesystem::path folder = std::filesystem::current_path();
  const auto settings = LoadSettings(app, folder, ProcessEnv);
  if (!settings) return ReportUsageError("run", settings.error().what);
  const auto target = ResolveTarget(words, python, ProcessEnv);
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
  recording.title = Title(words, *target);
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
