#include "process/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include "process/launch.h"

namespace linescope {
namespace {

// The write end of the living SignalWatch's pipe; -1: none.
std::atomic<int> g_pipe = -1;
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

void OnSignal(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  SignalEvent event;
  event.number = number;
  event.from_terminal = info->si_code == SI_KERNEL;
  event.sender = info->si_code <= 0 ? info->si_pid : 0;  // kill, sigqueue, tgkill
  // A pipe full of unread signals loses further ones; nobody misses the thousandth Ctrl-C.
  (void)!::write(g_pipe.load(), &event, sizeof event);
  errno = saved_errno;
}

}  // namespace

void SignalWatch::Replace(int signal, const struct sigaction& action) {
  if (InheritedIgnored(signal)) return;
  Saved& saved = saved_[saved_count_++];
  saved.signal = signal;
  ::sigaction(signal, &action, &saved.action);
}

Result<std::unique_ptr<SignalWatch>> SignalWatch::Install() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return Fail(ErrorCode::kIo, "cannot make a pipe: {}", ErrnoText());
  std::unique_ptr<SignalWatch> watch(new SignalWatch);
  watch->read_end_.Reset(ends[0]);
  watch->write_end_.Reset(ends[1]);
  int expected = -1;
  if (!g_pipe.compare_exchange_strong(expected, ends[1])) {
    return Fail(ErrorCode::kInternal, "signals are being watched already");
  }
  struct sigaction action{};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    watch->Replace(signal, action);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ}) watch->Replace(signal, ignore);
  return watch;
}

SignalWatch::~SignalWatch() {
  for (size_t i = 0; i < saved_count_; ++i)
    ::sigaction(saved_[i].signal, &saved_[i].action, nullptr);
  int expected = write_end_.get();
  g_pipe.compare_exchange_strong(expected, -1);
}

std::optional<SignalEvent> SignalWatch::Take() {
  SignalEvent event;
  const ssize_t n = ::read(read_end_.get(), &event, sizeof event);
  return n == static_cast<ssize_t>(sizeof event) ? std::optional(event) : std::nullopt;
}

void BlockSignalsInThisThread() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace linescope
