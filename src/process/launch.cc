#include "process/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace linescope {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

struct Inherited {
  sigset_t mask;
  std::array<bool, NSIG> ignored{};
  unsigned long timer_slack_ns = 0;
  std::array<unsigned char, 1024> affinity{};  // 8192 CPUs, the kernel's own limit
  size_t affinity_size = 0;                    // 0: unknown
  rlimit descriptors{};

  Inherited() {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action;
      ignored[signal] = ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    const int slack = ::prctl(PR_GET_TIMERSLACK);
    if (slack > 0) timer_slack_ns = static_cast<unsigned long>(slack);
    const long size = ::syscall(SYS_sched_getaffinity, 0, affinity.size(), affinity.data());
    if (size > 0) affinity_size = static_cast<size_t>(size);
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
  }
};

std::optional<Inherited> g_inherited;

const Inherited& GetInherited() {
  if (!g_inherited) g_inherited.emplace();
  return *g_inherited;
}

// With SIGCHLD ignored the kernel would throw our children's exit statuses away.
void KeepExitStatuses() {
  struct sigaction action;
  if (::sigaction(SIGCHLD, nullptr, &action) != 0) return;
  if (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0)
    ::signal(SIGCHLD, SIG_DFL);
}

LaunchError MakeError(int exit_code, ErrorCode code, std::string what) {
  return {{code, std::move(what)}, exit_code};
}

// The start of a file, as far as it takes to tell what kind of program it is.
std::string ReadHead(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(256, '\0');
  const ssize_t n = fd ? ::read(fd.get(), head.data(), head.size()) : 0;
  head.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return head;
}

// Shells run a file that the kernel does not know if its first line is text, as POSIX has it.
bool LooksLikeText(std::string_view head) {
  return head.substr(0, head.find('\n')).find('\0') == std::string_view::npos;
}

LaunchError ExecError(const std::string& program, int error) {
  const std::string head = ReadHead(program);
  if (error == ENOENT && ::access(program.c_str(), F_OK) == 0) {
    if (head.starts_with("#!")) {
      std::string_view line = std::string_view(head).substr(2, head.find('\n') - 2);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return MakeError(
          kNotFound, ErrorCode::kUsage,
          fmt::format("cannot run {}: the interpreter named in its first line, {}, does not exist",
                      program, line.substr(0, line.find_first_of(" \t\r"))));
    }
    return MakeError(
        kNotFound, ErrorCode::kUsage,
        fmt::format(
            "cannot run {}: the program loader that it needs does not exist here (another C "
            "library or architecture)",
            program));
  }
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return MakeError(kNotFound, ErrorCode::kUsage,
                       fmt::format("cannot run {}: {}", program, ErrnoText(error)));
    case ENOEXEC:
      return MakeError(kNotExecutable, ErrorCode::kUsage,
                       fmt::format("cannot run {}: it is no program for this machine ({})", program,
                                   ErrnoText(error)));
    case E2BIG:
      return MakeError(
          kNotExecutable, ErrorCode::kUsage,
          fmt::format("cannot run {}: its arguments and environment are too long", program));
    default:
      return MakeError(kNotExecutable, ErrorCode::kUsage,
                       fmt::format("cannot run {}: {}", program, ErrnoText(error)));
  }
}

// Whether `path` can be executed by us as far as its mode and type tell; else 0 means "not there",
// or the errno.
bool CanExecute(const std::string& path, int* error) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    *error = errno;
    return false;
  }
  if (S_ISDIR(info.st_mode)) {
    *error = EISDIR;
    return false;
  }
  if (!S_ISREG(info.st_mode) || ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    *error = EACCES;
    return false;
  }
  return true;
}

std::string SearchPath() {
  if (const char* path = ::getenv("PATH")) return path;
  std::string fallback(::confstr(_CS_PATH, nullptr, 0), '\0');
  ::confstr(_CS_PATH, fallback.data(), fallback.size());
  fallback.resize(fallback.find('\0'));
  return fallback;
}

std::vector<std::string> MakeEnvironment(const LaunchOptions& options) {
  const auto is_changed = [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    return std::ranges::any_of(options.environment,
                               [&](const auto& change) { return change.first == name; });
  };
  std::vector<std::string> environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_changed(*entry)) environment.emplace_back(*entry);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) environment.push_back(fmt::format("{}={}", name, *value));
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// All that the child needs, prepared before the fork: after it, only calls that are safe in a
// signal handler.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* shell_argv;  // null: not a text file
  char* const* environment;
  std::array<int, 3> streams;
  int gate;
};

[[noreturn]] void RunChild(const ChildPlan& plan) {
  const Inherited& inherited = GetInherited();
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    action.sa_handler = inherited.ignored[signal] ? SIG_IGN : SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  if (inherited.timer_slack_ns != 0) ::prctl(PR_SET_TIMERSLACK, inherited.timer_slack_ns);
  if (inherited.affinity_size != 0) {
    ::syscall(SYS_sched_setaffinity, 0, inherited.affinity_size, inherited.affinity.data());
  }
  ::setrlimit(RLIMIT_NOFILE, &inherited.descriptors);
  for (int i = 0; i < 3; ++i) {
    if (plan.streams[i] >= 0) ::dup2(plan.streams[i], i);
  }
  ::pthread_sigmask(SIG_SETMASK, &inherited.mask, nullptr);

  char go;
  ssize_t n;
  do {
    n = ::recv(plan.gate, &go, 1, 0);
  } while (n < 0 && errno == EINTR);
  if (n != 1) ::_exit(kNotFound);  // nobody is there to release us any more

  ::execve(plan.program, plan.argv, plan.environment);
  if (errno == ENOEXEC && plan.shell_argv != nullptr)
    ::execve("/bin/sh", plan.shell_argv, plan.environment);
  const int error = errno;
  ::send(plan.gate, &error, sizeof error, MSG_NOSIGNAL);
  ::_exit(error == ENOENT ? kNotFound : kNotExecutable);
}

int PidfdOpen(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// A wait for the end of a child that another thread of ours traces tells its stops, too, whatever
// it asks for (kernel/exit.c, wait_task_stopped).
bool IsEnd(const siginfo_t& info) {
  return info.si_pid != 0 &&
         (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
}

}  // namespace

void SaveInheritedSignals() { g_inherited.emplace(); }

void RaiseDescriptorLimit() {
  rlimit limit = GetInherited().descriptors;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool InheritedIgnored(int signal) {
  return signal > 0 && signal < NSIG && GetInherited().ignored[signal];
}

std::expected<std::string, LaunchError> ResolveProgram(const std::string& program) {
  const auto explain = [&](const std::string& path, int error) {
    if (error == EISDIR) {
      return std::unexpected(MakeError(kNotExecutable, ErrorCode::kUsage,
                                       fmt::format("cannot run {}: it is a directory", path)));
    }
    if (error == EACCES) {
      return std::unexpected(
          MakeError(kNotExecutable, ErrorCode::kUsage,
                    fmt::format("cannot run {}: it is not executable, or lies behind a directory "
                                "that may not be entered; chmod +x may help",
                                path)));
    }
    return std::unexpected(ExecError(path, error));
  };
  int error = 0;
  if (program.empty()) {
    return std::unexpected(
        MakeError(kNotFound, ErrorCode::kUsage, "cannot run a program without a name"));
  }
  if (program.find('/') != std::string::npos) {
    if (CanExecute(program, &error)) return program;
    return explain(program, error);
  }
  std::string refused;
  const std::string path = SearchPath();
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    if (CanExecute(candidate, &error)) return candidate;
    if (error == EACCES && refused.empty()) refused = candidate;
    begin = end + 1;
  }
  if (!refused.empty()) return explain(refused, EACCES);
  return std::unexpected(
      MakeError(kNotFound, ErrorCode::kUsage,
                fmt::format("cannot run {}: no such program along PATH ({})", program, path)));
}

std::expected<LaunchedProcess, LaunchError> Launch(const LaunchOptions& options) {
  if (options.argv.empty()) {
    return std::unexpected(MakeError(kNotFound, ErrorCode::kUsage, "there is no program to run"));
  }
  auto program = ResolveProgram(options.program.empty() ? options.argv[0] : options.program);
  if (!program) return std::unexpected(std::move(program).error());

  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> shell_arguments = {"/bin/sh", *program};
  shell_arguments.insert(shell_arguments.end(), arguments.begin() + 1, arguments.end());
  std::vector<std::string> environment = MakeEnvironment(options);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> shell_argv = Pointers(shell_arguments);
  const std::vector<char*> envp = Pointers(environment);

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected(MakeError(kNotExecutable, ErrorCode::kIo,
                                     fmt::format("cannot make a socket pair: {}", ErrnoText())));
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);

  const ChildPlan plan{
      .program = program->c_str(),
      .argv = argv.data(),
      .shell_argv = LooksLikeText(ReadHead(*program)) ? shell_argv.data() : nullptr,
      .environment = envp.data(),
      .streams = options.streams,
      .gate = theirs.get()};
  GetInherited();
  KeepExitStatuses();
  // No handler of ours may run in the child.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int fork_error = errno;
  if (pid == 0) {
    ::close(ours.get());
    RunChild(plan);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return std::unexpected(
        MakeError(kNotExecutable, ErrorCode::kIo,
                  fmt::format("cannot start a process: {}", ErrnoText(fork_error))));
  }
  return LaunchedProcess(pid, UniqueFd(PidfdOpen(pid)), std::move(ours), *std::move(program));
}

LaunchedProcess::LaunchedProcess(pid_t pid, UniqueFd pidfd, UniqueFd gate, std::string program)
    : pid_(pid), pidfd_(std::move(pidfd)), gate_(std::move(gate)), program_(std::move(program)) {}

LaunchedProcess::LaunchedProcess(LaunchedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      gate_(std::move(other.gate_)),
      program_(std::move(other.program_)) {}

LaunchedProcess::~LaunchedProcess() {
  if (pid_ <= 0 || !gate_) return;
  ::kill(pid_, SIGKILL);  // never released, so it is not anybody's program yet
  (void)Reap();
}

std::expected<void, LaunchError> LaunchedProcess::Release() {
  if (!gate_) return {};
  const UniqueFd gate = std::move(gate_);
  ssize_t n;
  do {
    n = ::send(gate.get(), "g", 1, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  // The end of the socket comes with the exec (close-on-exec), or with the child's death by a
  // signal, which Wait tells.
  int error = 0;
  do {
    n = ::recv(gate.get(), &error, sizeof error, 0);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof error)) return {};
  return std::unexpected(ExecError(program_, error));
}

Result<bool> LaunchedProcess::WaitForEnd(int timeout_ms) {
  const int64_t deadline = MonotonicNs() + int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return Fail(ErrorCode::kInternal, "cannot wait for process {}: {}", pid_, ErrnoText());
    }
    if (IsEnd(info)) return true;
    const int64_t left_ms =
        timeout_ms < 0 ? INT32_MAX : (deadline - MonotonicNs() + 999'999) / 1'000'000;
    if (left_ms <= 0) return false;
    pollfd wait{pidfd_.get(), POLLIN, 0};
    // Without a pidfd, poll ignores the entry and just sleeps.
    const int64_t nap_ms = pidfd_ ? left_ms : std::min<int64_t>(left_ms, 5);
    ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(nap_ms, INT32_MAX)));
  }
}

Result<ExitStatus> LaunchedProcess::Reap() {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) {
    if (errno != EINTR)
      return Fail(ErrorCode::kInternal, "cannot wait for process {}: {}", pid_, ErrnoText());
  }
  pid_ = -1;
  ExitStatus status;
  if (info.si_code == CLD_EXITED) {
    status.code = info.si_status;
  } else {
    status.signal = info.si_status;
    status.core_dumped = info.si_code == CLD_DUMPED;
  }
  return status;
}

Result<std::optional<ExitStatus>> LaunchedProcess::Wait(int timeout_ms) {
  LS_TRY(ended, WaitForEnd(timeout_ms));
  if (!ended) return std::nullopt;
  LS_TRY(status, Reap());
  return status;
}

bool LaunchedProcess::StopWithTarget() {
  if (pid_ <= 0) return false;
  const auto stopped_by = [&](int flags) {
    siginfo_t info{};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | flags);
    return result == 0 && info.si_pid != 0 ? info.si_status : 0;
  };
  if (stopped_by(WNOWAIT) == 0) return false;
  // After `fg` SIGCONT reaches the members of the group one after the other: we may run while the
  // target does not yet.
  ::usleep(20'000);
  const int signal = stopped_by(0);
  if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU) return false;
  ::kill(::getpid(), signal);
  return true;
}

}  // namespace linescope
