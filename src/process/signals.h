#pragma once
// The signals that end a run or ask for something, as events with their origin.
//
// Job control needs nothing here. SIGTSTP, SIGTTIN, SIGTTOU and SIGCONT keep their default actions:
// Ctrl-Z stops LineScope and its target together, because the terminal sends it to the whole
// foreground group, so the shell sees its job stopped; `fg` and `bg` continue the group. What stops
// the target alone is LaunchedProcess::StopWithTarget's matter.
#include <signal.h>

#include <array>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

struct SignalEvent {
  int number = 0;
  // The kernel's terminal driver sent it (Ctrl-C, Ctrl-\, hang-up): then every process of the
  // foreground group has had it. Otherwise a process sent it, to us alone as far as we can know.
  bool from_terminal = false;
  int sender = 0;  // pid; 0 when the kernel sent it, or a process outside our pid namespace
};

// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 become events, except those
// that were ignored when LineScope started (nohup): they stay ignored. SIGPIPE and SIGXFSZ are
// ignored, so that a closed terminal and a full limit become errors of the write. The destructor
// restores everything. One at a time; threads that should not be interrupted call
// BlockSignalsInThisThread.
class SignalWatch {
 public:
  static Result<std::unique_ptr<SignalWatch>> Install();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  // Readable while an event waits.
  [[nodiscard]] int fd() const { return read_end_.get(); }
  // The oldest event not yet taken. Does not wait.
  std::optional<SignalEvent> Take();

 private:
  SignalWatch() = default;
  void Replace(int signal, const struct sigaction& action);

  struct Saved {
    int signal = 0;
    struct sigaction action;
  };
  UniqueFd read_end_;
  UniqueFd write_end_;
  std::array<Saved, 8> saved_{};
  size_t saved_count_ = 0;
};

// Blocks, in the calling thread, every signal that a process may block.
void BlockSignalsInThisThread();

}  // namespace linescope
