#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/unique_fd.h"
#include "cli/arguments.h"
#include "cli/browser.h"
#include "cli/commands.h"
#include "cli/doctor_python.h"
#include "cli/exit_codes.h"
#include "cli/figures.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "process/permissions.h"
#include "process/procfs.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    "doctor [options]",
    R"(Says what works on this machine and what does not, and how to mend it:
permission to read other processes, the kernel's help, the Python interpreters
that are found. With --pid it examines one process instead.)",
    R"(The exit status is 0 when profiling will work, else that of the command which
would fail.)"};

// Prints findings as they are made, and remembers the worst.
class Findings {
 public:
  Findings() : colour_(DescribeTerminal(STDOUT_FILENO).colour) {}

  void Section(const std::string& title) {
    Say(fmt::format("{}{}{}\n", Colour("\x1b[1m"), title, Colour("\x1b[0m")));
  }
  void Good(const std::string& what) { Line("\x1b[32m", "ok", what); }
  void Note(const std::string& what) { Line("\x1b[33m", "note", what); }
  void Bad(const std::string& what, const std::string& remedy, ExitCode status) {
    Line("\x1b[1;31m", "NO", what);
    if (!remedy.empty()) Say("         to mend it: " + Printable(remedy) + "\n");
    if (status_ == kExitOk) status_ = status;
  }
  [[nodiscard]] ExitCode status() const { return status_; }

 private:
  [[nodiscard]] const char* Colour(const char* code) const { return colour_ ? code : ""; }
  void Line(const char* colour, const char* mark, const std::string& what) {
    Say(fmt::format("  {}{:<4}{}   {}\n", Colour(colour), mark, Colour("\x1b[0m"),
                    Printable(what)));
  }
  static void Say(const std::string& text) { WriteStdout(text); }

  bool colour_ = false;
  ExitCode status_ = kExitOk;
};

// A child of ours that waits to be looked at, and is gone afterwards.
class WaitingChild {
 public:
  WaitingChild() : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) ::pause();
  }
  ~WaitingChild() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_;
};

void CheckSystem(Findings& findings) {
  utsname name{};
  ::uname(&name);
  const std::string system = fmt::format("{} {} on {}", name.sysname, name.release, name.machine);
  if (std::strcmp(name.machine, "x86_64") == 0) {
    findings.Good(system);
  } else {
    findings.Bad(system + ": LineScope reads x86-64 processes only", "", kExitUnsupported);
  }
  const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  findings.Good(fmt::format("{} CPU{} for this process", cpus, cpus == 1 ? "" : "s"));
}

// Launched programs are our children: being allowed to read one is all that `run` needs.
void CheckLaunch(Findings& findings) {
  const WaitingChild child;
  if (child.pid() < 0) {
    findings.Bad(fmt::format("a process cannot be started: {}", ErrnoText()), "", kExitInternal);
    return;
  }
  const MemoryAccess access = CheckMemoryAccess(child.pid());
  if (access.allowed()) {
    findings.Good("linescope run: programs that it launches can be read");
  } else {
    findings.Bad("linescope run: programs that it launches cannot be read: " + access.why,
                 access.remedy, kExitDenied);
  }
}

void CheckAttach(Findings& findings) {
  const auto scope = YamaScope();
  const std::string yama =
      scope ? fmt::format("; Yama's ptrace_scope is {}: {}", *scope, YamaScopeMeaning(*scope)) : "";
  if (HaveSysPtrace()) {
    if (scope.value_or(0) == 3) {
      findings.Note("linescope attach: no process can be read" + yama);
    } else {
      findings.Good("linescope attach: every process can be read (CAP_SYS_PTRACE)");
    }
  } else if (scope.value_or(0) == 0) {
    findings.Good("linescope attach: your own processes can be read; those of others need sudo");
  } else {
    findings.Note("linescope attach: needs sudo here" + yama);
  }
}

// Context-switch records tell exactly when a thread was on a CPU; without them LineScope infers it.
void CheckPerfEvents(Findings& findings) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.context_switch = 1;
  attributes.exclude_kernel = 1;
  const UniqueFd event(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (event) {
    findings.Good("perf events: the kernel tells when threads are on a CPU");
  } else {
    findings.Note(fmt::format(
        "perf events: not available ({}); when a thread was on a CPU is inferred from /proc",
        ErrnoText()));
  }
}

void CheckInterpreters(Findings& findings) {
  const auto interpreters = FindInterpreters();
  if (interpreters.empty()) {
    findings.Note("no Python interpreter on PATH; name one with linescope run --python");
    return;
  }
  for (const InterpreterFinding& interpreter : interpreters) {
    if (interpreter.version) {
      findings.Good(fmt::format("{}: Python {}", interpreter.path, *interpreter.version));
    } else {
      findings.Note(fmt::format("{}: {}", interpreter.path, interpreter.version.error().what));
    }
  }
}

void CheckSurroundings(Findings& findings) {
  std::error_code ignored;
  const std::string folder = std::filesystem::current_path(ignored).string();
  if (::access(".", W_OK) == 0) {
    findings.Good("reports can be written to the current folder, " + folder);
  } else {
    findings.Note("the current folder cannot be written: name another place with -o");
  }
  if (HaveDisplay()) {
    findings.Good("reports open in the browser after a run");
  } else {
    findings.Good("no display: after a run the hottest lines are printed");
  }
}

void ExamineProcess(int pid, Findings& findings) {
  const auto stat = ReadStat(pid);
  if (!stat) {
    const ErrorCode code = stat.error().code;
    findings.Bad(code == ErrorCode::kGone ? "there is no such process" : stat.error().what, "",
                 ExitCodeFor(code));
    return;
  }
  const auto words = ReadCommandLine(pid).value_or(std::vector<std::string>());
  findings.Good(fmt::format("process {}: {}", pid,
                            words.empty() ? "[" + stat->comm + "]" : JoinCommand(words)));
  const MemoryAccess access = CheckMemoryAccess(pid);
  if (!access.allowed()) {
    findings.Bad("its memory cannot be read: " + access.why, access.remedy,
                 access.rule == AccessRule::kGone ? kExitGone : kExitDenied);
    return;
  }
  findings.Good("its memory can be read");
  const auto interpreter = ExamineInterpreter(pid);
  if (!interpreter) {
    findings.Bad(interpreter.error().what, "", ExitCodeFor(interpreter.error().code));
    return;
  }
  findings.Good(fmt::format("Python {}, {} thread{}", interpreter->version, interpreter->threads,
                            interpreter->threads == 1 ? "" : "s"));
}

}  // namespace

int DoctorMain(const Arguments& arguments) {
  std::optional<int> pid;
  CLI::App app("", "doctor");
  AddPid(app, {"--pid", "PID", "a process that shall be profiled", "Options"}, &pid);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;

  Findings findings;
  if (pid) {
    findings.Section(fmt::format("Process {}", *pid));
    ExamineProcess(*pid, findings);
    return findings.status();
  }
  findings.Section(fmt::format("LineScope {}", kVersion));
  CheckSystem(findings);
  findings.Section("Permissions");
  CheckLaunch(findings);
  CheckAttach(findings);
  CheckPerfEvents(findings);
  findings.Section("Python interpreters");
  CheckInterpreters(findings);
  findings.Section("Results");
  CheckSurroundings(findings);
  return findings.status();
}

}  // namespace linescope
