#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/dump_read.h"
#include "cli/dump_source.h"
#include "cli/dump_text.h"
#include "cli/exit_codes.h"
#include "cli/find_process.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/run_as.h"
#include "cli/terminal.h"
#include "process/namespaces.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    R"(dump [options] --pid PID
dump [options] --name PATTERN)",
    R"(Shows once where every Python thread of a running process is: its state, and
its calls, newest first, with file, line and the line's text.

What is shown is exact: threads that run are stopped for the moment in which
they are read, a millisecond or less with few threads, some tens with hundreds;
those that sleep are left alone.
Where the system forbids a stop, or with --no-stop, they are read as they run.)",
    R"(States: running (on a CPU, or about to be), waiting (for a lock, data, or time
to pass), idle (waiting, with no Python code to go on with), stopped (by job
control or a debugger). The text of a line is left out where the file has
changed after the process started.

--native shows compiled functions, too, inlined ones included, with file and
line where there is debug information. Where code has no unwinding information,
what called it is not known: a line says so, and the Python calls are complete.

--locals shows names and values as locals() and repr() would, without running
any code of the process: objects of other than the plain built-in types as
<module.Class at 0x...>. What is too long is cut, with a sign.

Examples:
  linescope dump --pid 4711
  linescope dump --name 'celery.*worker' --locals
  linescope dump --pid 4711 --native
  linescope dump --pid 4711 --json | jq '.threads[].frames[0]'

The system may forbid reading another process: linescope doctor --pid PID says
why, and what helps.)"};

constexpr char kProcess[] = "Process";
constexpr char kReading[] = "Reading";
constexpr char kOutput[] = "Output";

int Refuse(const Error& error) {
  PrintError(error.what);
  return ExitCodeFor(error.code);
}

}  // namespace

int DumpMain(const Arguments& arguments) {
  DumpOptions options;
  std::optional<int> pid;
  std::string name;
  std::optional<DumpConsistency> consistency;
  bool no_stop = false, as_json = false;
  CLI::App app("", "dump");
  AddPid(app, {"--pid", "PID", "the process's id", kProcess}, &pid);
  AddText(app,
          {"--name", "PATTERN",
           "the one process whose command line this regular expression is found in", kProcess},
          &name);
  AddChoice<DumpConsistency>(
      app,
      {"--consistency", "",
       "stop what runs where permitted (auto, the default), or fail (stop), or stop nothing (free)",
       kReading},
      {{"auto", DumpConsistency::kAuto},
       {"stop", DumpConsistency::kStop},
       {"free", DumpConsistency::kFree}},
      &consistency);
  AddFlag(app, {"--no-stop", "", "the same as --consistency free", kReading}, &no_stop);
  AddFlag(app,
          {"--native", "", "compiled functions (C, C++, Rust, Cython) between the Python ones, too",
           kReading},
          &options.native);
  AddFlag(app, {"--locals", "", "the variables of each frame too", kReading}, &options.locals);
  AddFlag(app, {"--json", "", "everything as JSON, for programs", kOutput}, &as_json);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  if (pid.has_value() == !name.empty())
    return ReportUsageError("dump", "name the process with either --pid or --name");
  if (no_stop && consistency && *consistency != DumpConsistency::kFree)
    return ReportUsageError("dump", "--no-stop contradicts --consistency");
  options.consistency =
      no_stop ? DumpConsistency::kFree : consistency.value_or(DumpConsistency::kAuto);
  if (!pid) {
    const auto found = FindProcessByName(name);
    if (!found) return Refuse(found.error());
    pid = *found;
  }
  options.pid = *pid;
  if (const Status proc = CheckProc(); !proc) return Refuse(proc.error());
  if (const auto status = RunAs("", KeepFiles::kYes, false)) return *status;
  const auto dump = TakeDump(options);
  if (!dump) {
    const int status = Refuse(dump.error());
    PrintPidHint(*pid);
    return status;
  }
  for (const std::string& warning : dump->warnings) PrintWarning(warning);
  DumpSources sources(*dump);
  const std::string text = as_json ? DumpJson(*dump, sources)
                                   : DumpText(*dump, sources, DescribeTerminal(STDOUT_FILENO));
  if (!WriteStdout(text)) {
    PrintError(fmt::format("cannot write to standard output: {}", ErrnoText()));
    return kExitFile;
  }
  return kExitOk;
}

}  // namespace linescope
