#include <errno.h>
#include <fcntl.h>
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
#include "cli/environment.h"
#include "cli/exit_codes.h"
#include "cli/figures.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "native/unwinder.h"
#include "process/modules.h"
#include "process/namespaces.h"
#include "process/permissions.h"
#include "process/proc_file.h"
#include "process/process_events.h"
#include "process/procfs.h"
#include "process/user.h"
#include "sampler/stopper.h"

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

// A process of our own user that does not descend from us, as all that `attach` is for: rules that
// favour descendants do not help there. Ends with us.
class WaitingStranger {
 public:
  WaitingStranger() {
    int news[2], life[2];
    if (::pipe2(news, O_CLOEXEC) != 0) return;
    const UniqueFd news_read(news[0]);
    UniqueFd news_write(news[1]);
    if (::pipe2(life, O_CLOEXEC) != 0) return;
    UniqueFd life_read(life[0]);
    life_ = UniqueFd(life[1]);
    const pid_t parent = ::fork();
    if (parent == 0) {
      ::close(life[1]);
      if (::fork() != 0) ::_exit(0);
      const pid_t self = ::getpid();
      char end;
      if (::write(news[1], &self, sizeof self) == sizeof self) (void)!::read(life[0], &end, 1);
      ::_exit(0);
    }
    if (parent < 0) return;
    news_write.Reset();
    ::waitpid(parent, nullptr, 0);
    if (::read(news[0], &pid_, sizeof pid_) != sizeof pid_) pid_ = -1;
  }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  UniqueFd life_;
  pid_t pid_ = -1;
};

// A process that belongs to another user than we are.
std::optional<int> FindOthersProcess() {
  const auto pids = ListProcesses();
  if (!pids) return std::nullopt;
  for (const int pid : *pids) {
    const auto status = ReadStatus(pid);
    const auto stat = ReadStat(pid);
    if (!status || !stat || stat->is_kernel_thread() || stat->state == 'Z') continue;
    if (status->uid.real != ::getuid()) return pid;
  }
  return std::nullopt;
}

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
  if (const Status unwinding = CheckUnwinding(); unwinding) {
    findings.Good("--native: libunwind is there");
  } else {
    findings.Note("--native is not available: " + unwinding.error().what);
  }
}

// Launched programs are our children: being allowed to read one is all that `run` needs.
void CheckLaunch(Findings& findings) {
  const WaitingChild child;
  if (child.pid() < 0) {
    findings.Bad(fmt::format("a process cannot be started: {}", ErrnoText()), "", kExitInternal);
    return;
  }
  const MemoryAccess access = CheckMemoryAccess(child.pid());
  if (!access.allowed()) {
    findings.Bad("linescope run: programs that it launches cannot be read: " + access.why,
                 access.remedy, kExitDenied);
    return;
  }
  findings.Good("linescope run: programs that it launches can be read");
  if (const auto caller = SudoCaller(ProcessEnv, program_invocation_short_name)) {
    findings.Good(fmt::format("linescope run: programs run as {}, who called sudo",
                              caller->name.empty() ? std::to_string(caller->uid) : caller->name));
  }
  if (access.by_file) {
    findings.Note(
        fmt::format("process_vm_readv is not available ({}): memory is read through "
                    "/proc/PID/mem, which takes more calls",
                    ErrnoText(access.error)));
  } else {
    findings.Good("memory is read by process_vm_readv");
  }
  if (const Status stop = Stopper::Check(child.pid()); stop) {
    findings.Good("linescope dump: threads can be stopped for the moment of a look");
  } else {
    findings.Note("linescope dump: threads are read as they run: " + stop.error().what);
  }
}

void CheckAttach(Findings& findings) {
  const WaitingStranger stranger;
  if (stranger.pid() > 0) {
    const MemoryAccess access = CheckMemoryAccess(stranger.pid());
    if (access.allowed()) {
      findings.Good("linescope attach: your own processes can be read");
    } else {
      findings.Note(fmt::format("linescope attach: your own processes cannot be read: {}; {}",
                                access.why, access.remedy));
    }
  }
  const auto other = FindOthersProcess();
  if (!other) {
    findings.Note("linescope attach: there is no other user's process here to try");
    return;
  }
  const MemoryAccess access = CheckMemoryAccess(*other);
  if (access.allowed()) {
    findings.Good(fmt::format("linescope attach: those of other users too (process {})", *other));
  } else {
    findings.Note(fmt::format("linescope attach: those of other users not (process {}): {}; {}",
                              *other, access.why, access.remedy));
  }
}

// Whether a file can be opened that is mapped, but has no name any more.
void CheckDeletedFiles(Findings& findings) {
  const auto modules = ListCodeModules(::getpid());
  if (!modules || modules->empty()) return;
  const Mapping& mapping = modules->front().mappings.front();
  const UniqueFd file(
      ::open(fmt::format("/proc/self/map_files/{:x}-{:x}", mapping.start, mapping.end).c_str(),
             O_RDONLY | O_CLOEXEC));
  if (file) {
    findings.Good("libraries that were deleted or replaced can be opened");
  } else {
    findings.Note(fmt::format(
        "libraries that were deleted or replaced cannot be opened ({}); of those, what is "
        "mapped is read, which is enough unless they are stripped",
        ErrnoText()));
  }
}

void CheckProcessEvents(Findings& findings) {
  if (const auto events = ProcessEvents::Open(); events) {
    findings.Good("process events: the kernel tells of children as they start and end");
  } else {
    findings.Note("process events: not available; children are looked for in /proc: " +
                  events.error().what);
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
  findings.Good(fmt::format("process {}: {}", DescribePid(pid, NamespacePids(pid)),
                            words.empty() ? "[" + stat->comm + "]" : JoinCommand(words)));
  const MemoryAccess access = CheckMemoryAccess(pid);
  if (!access.allowed()) {
    findings.Bad("its memory cannot be read: " + access.why, access.remedy,
                 access.rule == AccessRule::kGone ? kExitGone : kExitDenied);
    return;
  }
  findings.Good(access.by_file ? "its memory can be read, through /proc/PID/mem"
                               : "its memory can be read, by process_vm_readv");
  if (const auto root = ReadProcLink(fmt::format("/proc/{}/root", pid)); root && *root != "/") {
    findings.Good("its root folder is " + *root);
  }
  const auto interpreter = ExamineInterpreter(pid);
  if (!interpreter) {
    findings.Bad(interpreter.error().what, "", ExitCodeFor(interpreter.error().code));
    return;
  }
  findings.Good(fmt::format("Python {}, {} thread{}", interpreter->version, interpreter->threads,
                            interpreter->threads == 1 ? "" : "s"));
  findings.Good(fmt::format("found by {} in {}", interpreter->found_by, interpreter->file));
  for (const std::string& warning : interpreter->warnings) findings.Note(warning);
}

}  // namespace

int DoctorMain(const Arguments& arguments) {
  std::optional<int> pid;
  CLI::App app("", "doctor");
  AddPid(app, {"--pid", "PID", "a process that shall be profiled", "Options"}, &pid);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;

  Findings findings;
  const Status proc = CheckProc();
  if (!proc) {
    findings.Bad(proc.error().what, "", ExitCodeFor(proc.error().code));
    return findings.status();
  }
  if (pid) {
    findings.Section(fmt::format("Process {}", *pid));
    ExamineProcess(*pid, findings);
    if (const std::string hint = WrongPidHint(*pid);
        findings.status() != kExitOk && !hint.empty()) {
      findings.Note(hint);
    }
    return findings.status();
  }
  findings.Section(fmt::format("LineScope {}", kVersion));
  CheckSystem(findings);
  findings.Section("Permissions");
  CheckLaunch(findings);
  CheckAttach(findings);
  CheckDeletedFiles(findings);
  CheckPerfEvents(findings);
  CheckProcessEvents(findings);
  findings.Section("Python interpreters");
  CheckInterpreters(findings);
  findings.Section("Results");
  CheckSurroundings(findings);
  return findings.status();
}

}  // namespace linescope
