#pragma once
// Starting the target as if LineScope were not there, held before its exec until the sampler is
// ready.
//
// The child shares our standard streams (unless given others), working directory, umask, process
// group, session and controlling terminal, gets the signal mask, dispositions, timer slack, CPU
// affinity and limit of descriptors that we ourselves inherited (SaveInheritedSignals), and the
// descriptors that we inherited without close-on-exec; all of our own are O_CLOEXEC. Job control
// works as it would for a pipeline: the terminal's signals reach both of us, see StopWithTarget for
// what does not come from the terminal.
#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

// Remembers signal mask and ignored signals, timer slack, CPU affinity and limit of descriptors as
// inherited, for the targets launched later. To be called first in main, before anything changes
// them and before there are threads; without it the first Launch or SignalWatch remembers what it
// finds.
void SaveInheritedSignals();

// As many descriptors for ourselves as an unprivileged process may have: each thread that is
// sampled takes three, and the usual limit is meant for programs that use select(2).
void RaiseDescriptorLimit();

// Whether we were started with `signal` ignored (nohup, a background job of a plain shell): then it
// stays so.
bool InheritedIgnored(int signal);

// Why a program could not be started. Is an Error, so that LS_TRY and LS_CHECK_OK pass it on.
struct LaunchError : Error {
  int exit_code = 126;  // as shells and env(1) have it: 127 not found, 126 found but not executable
};

// What execvp(3) would execute for `program`: itself if it has a slash, else the first executable
// file along PATH. Checks that it is a file we may execute; whether the kernel can is shown by the
// exec alone.
std::expected<std::string, LaunchError> ResolveProgram(const std::string& program);

struct LaunchOptions {
  std::vector<std::string> argv;  // argv[0] as the program shall see it
  std::string program = {};       // found as ResolveProgram says; empty: argv[0]
  // Variables set over our own environment, or removed from it where there is no value.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment = {};
  // Descriptors to become the standard streams; -1: ours.
  std::array<int, 3> streams = {-1, -1, -1};
};

struct ExitStatus {
  int code = 0;    // the exit status, if it exited by itself
  int signal = 0;  // what killed it; 0: it exited by itself
  bool core_dumped = false;

  // What a shell would report in $?.
  [[nodiscard]] int ShellCode() const { return signal != 0 ? 128 + signal : code; }
};

// A child of ours. Nobody else may wait for it. A child that was never released ends with this
// object, and by itself when LineScope dies; a released one is never killed, and runs on.
class LaunchedProcess {
 public:
  LaunchedProcess(pid_t pid, UniqueFd pidfd, UniqueFd gate, std::string program);
  LaunchedProcess(LaunchedProcess&& other) noexcept;
  LaunchedProcess& operator=(LaunchedProcess&&) = delete;
  ~LaunchedProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable once the process has ended; -1 before Linux 5.3.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }

  // Lets it execute the program, and returns when it does (its memory is the program's from then
  // on) or could not. After an error the child has ended and only waits to be reaped.
  std::expected<void, LaunchError> Release();

  // True once it has ended; it stays a zombie, whose /proc entries can be read, until Reap. Waits
  // `timeout_ms` at most, -1: for ever.
  Result<bool> WaitForEnd(int timeout_ms);
  // Waits for the end if need be, and takes the zombie away. Once.
  Result<ExitStatus> Reap();
  // Both; nullopt when it still runs.
  Result<std::optional<ExitStatus>> Wait(int timeout_ms);

  // If job control has stopped the process alone (it raised SIGTSTP itself, or read the terminal
  // from the background), stops ourselves by the same signal, so that the shell sees its job
  // stopped and takes the terminal back. Returns after SIGCONT; the shell sends that to the whole
  // group, so the target goes on, too. True if it did so. A SIGSTOP is not mirrored: whoever sends
  // it to the target alone will also send it SIGCONT alone. When Ctrl-Z stops us all, there is
  // nothing to do: we were stopped by the terminal, too. To be called now and then; cheap.
  bool StopWithTarget();

 private:
  pid_t pid_;  // -1: moved from or reaped
  UniqueFd pidfd_;
  UniqueFd gate_;  // our end of the socket that holds the child; closed by Release
  std::string program_;
};

std::expected<LaunchedProcess, LaunchError> Launch(const LaunchOptions& options);

}  // namespace linescope
