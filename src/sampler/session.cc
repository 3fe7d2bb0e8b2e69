#include "sampler/session.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "process/launch.h"
#include "process/procfs.h"
#include "process/signals.h"
#include "sampler/recorder.h"
#include "sampler/sampler.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;
// A signal that a process sent to LineScope may have gone to the whole process group. If the target
// still lives after this, it is passed on.
constexpr int64_t kForwardGraceNs = 150 * kMs;
// An interpreter that is only being loaded gets so much time to appear when attaching.
constexpr int64_t kAttachPatienceNs = 2000 * kMs;
constexpr int kPollMs = 100;
// What was collected is on disk within a second.
constexpr int64_t kCommitNs = 500 * kMs;

// What is being profiled: a child of ours, or somebody else's process.
class TargetProcess {
 public:
  static Result<TargetProcess> Attach(int pid) {
    TargetProcess target;
    target.pid_ = pid;
    target.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!target.pidfd_ && errno != ENOSYS) {
      const int error = errno;
      if (error == ESRCH || error == EINVAL) {
        return Fail(ErrorCode::kGone, "there is no process {}", pid);
      }
      return Fail(ErrorCode::kDenied, "process {} cannot be watched: {}", pid, ErrnoText(error));
    }
    LS_TRY(stat, ReadStat(pid));
    if (stat.state == 'Z' || stat.state == 'X') {
      return Fail(ErrorCode::kGone, "process {} has ended already; only its entry is left", pid);
    }
    if (stat.is_kernel_thread()) {
      return Fail(ErrorCode::kNotPython, "process {} is a thread of the kernel", pid);
    }
    target.start_ticks_ = stat.start_ticks;
    return target;
  }

  static std::expected<TargetProcess, LaunchError> Start(const std::vector<std::string>& command) {
    auto launched = Launch({.argv = command, .program = {}, .environment = {}});
    if (!launched) return std::unexpected(launched.error());
    TargetProcess target;
    target.pid_ = launched->pid();
    target.child_.emplace(std::move(*launched));
    return target;
  }

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] bool launched() const { return child_.has_value(); }
  LaunchedProcess& child() { return *child_; }
  [[nodiscard]] int fd() const { return child_ ? child_->pidfd() : pidfd_.get(); }

  bool Ended() {
    if (child_) {
      auto ended = child_->WaitForEnd(0);
      return !ended || *ended;
    }
    if (pidfd_) {
      pollfd event{pidfd_.get(), POLLIN, 0};
      return ::poll(&event, 1, 0) > 0;
    }
    auto stat = ReadStat(pid_);
    return !stat || stat->start_ticks != start_ticks_ || stat->state == 'Z';
  }

 private:
  int pid_ = 0;
  UniqueFd pidfd_;
  uint64_t start_ticks_ = 0;
  std::optional<LaunchedProcess> child_;
};

// Attaching early in a process's life: it may be about to map its interpreter.
Result<PythonRuntime> FindWithPatience(int pid, RemoteMemory* memory) {
  const int64_t begin = MonotonicNs();
  for (;;) {
    auto runtime = FindRuntime(pid, memory);
    const bool ready =
        runtime && ProbeRuntime(memory, runtime->table, runtime->address) == RuntimeState::kReady;
    if (ready) return runtime;
    if (!runtime && runtime.error().code != ErrorCode::kNotPython) return runtime;
    auto start = ProcessStartUnixNs(pid);
    const bool young = start && RealtimeNs() - *start < kAttachPatienceNs;
    if ((!young && !runtime) || MonotonicNs() - begin > kAttachPatienceNs) {
      if (runtime) {
        return Fail(ErrorCode::kNotPython,
                    "process {} has a Python interpreter mapped ({}), but has not started it", pid,
                    runtime->file);
      }
      return runtime;
    }
    ::usleep(1000);
  }
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// "pinned", "free", or how the samples of running threads divide. Empty: there were none.
std::string DescribeConsistency(const SessionOptions& options, const SampleTotals& totals) {
  const uint64_t all = totals.exact + totals.free;
  if (all == 0) return totals.samples == 0 ? "" : "idle";
  // Standing still, for the one reason or the other.
  const char* exact = options.consistency == Consistency::kStop   ? "stopped"
                      : options.consistency == Consistency::kFree ? "still"
                                                                  : "pinned";
  const double share = 100.0 * static_cast<double>(totals.exact) / static_cast<double>(all);
  if (share < 0.05) return "free";
  if (share > 99.95) return exact;
  return fmt::format("{} {:.1f} %, free {:.1f} %", exact, share, 100 - share);
}

class Run {
 public:
  explicit Run(const SessionOptions& options) : options_(options) {}
  Result<SessionResult> Go();

 private:
  Status Prepare();
  void Loop();
  void OnSignal(const SignalEvent& event, int64_t now_ns);
  void ForwardDue(int64_t now_ns);
  void Store(bool last);
  [[nodiscard]] int TimeoutMs(int64_t now_ns) const;

  struct Forward {
    int signal;
    int64_t at_ns;
  };

  const SessionOptions& options_;
  std::optional<TargetProcess> target_;
  std::unique_ptr<RemoteMemory> memory_;
  std::optional<PythonRuntime> runtime_;
  std::unique_ptr<SignalWatch> signals_;
  BatchQueue queue_;
  std::unique_ptr<ProfileWriter> writer_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<Forward> forwards_;
  int64_t start_ns_ = 0, next_commit_ns_ = 0;
  std::optional<int64_t> until_ns_;
  bool stopped_by_user_ = false;
  Status store_ = {};
};

Status Run::Prepare() {
  if (options_.pid) {
    LS_TRY(target, TargetProcess::Attach(*options_.pid));
    target_.emplace(std::move(target));
    LS_TRY(memory, OpenRemoteMemory(target_->pid()));
    memory_ = std::move(memory);
    LS_TRY(runtime, FindWithPatience(target_->pid(), memory_.get()));
    runtime_ = runtime;
    if (options_.consistency == Consistency::kStop) LS_CHECK_OK(Stopper::Check(target_->pid()));
  }
  LS_TRY(signals, SignalWatch::Install());
  signals_ = std::move(signals);
  LS_TRY(writer, ProfileWriter::Create(options_.profile_path, options_.run));
  writer_ = std::move(writer);
  if (!options_.pid) {
    auto target = TargetProcess::Start(options_.command);
    if (!target) return std::unexpected(static_cast<const Error&>(target.error()));
    target_.emplace(std::move(*target));
    LS_TRY(memory, OpenRemoteMemory(target_->pid()));
    memory_ = std::move(memory);
  }
  return {};
}

int Run::TimeoutMs(int64_t now_ns) const {
  int64_t until = now_ns + kPollMs * kMs;
  if (until_ns_) until = std::min(until, *until_ns_);
  for (const Forward& forward : forwards_) until = std::min(until, forward.at_ns);
  return static_cast<int>(std::max<int64_t>(0, (until - now_ns + kMs - 1) / kMs));
}

void Run::OnSignal(const SignalEvent& event, int64_t now_ns) {
  if (!target_->launched()) {
    // Attached: any of them means "enough".
    stopped_by_user_ = true;
    return;
  }
  // The terminal has given it to the target, too.
  if (event.from_terminal) return;
  forwards_.push_back({event.number, now_ns + kForwardGraceNs});
}

void Run::ForwardDue(int64_t now_ns) {
  std::erase_if(forwards_, [&](const Forward& forward) {
    if (forward.at_ns > now_ns) return false;
    if (!target_->Ended()) ::kill(target_->pid(), forward.signal);
    return true;
  });
}

void Run::Store(bool last) {
  const std::vector<Batch> batches = queue_.TakeAll();
  for (const Batch& batch : batches) recorder_->Apply(batch);
  const int64_t now = MonotonicNs();
  if (!last && now < next_commit_ns_) return;
  next_commit_ns_ = now + kCommitNs;
  Status committed = writer_->Commit();
  if (committed) {
    store_ = {};
  } else {
    // Kept in memory and tried again with the next batch.
    store_ = committed;
  }
}

void Run::Loop() {
  for (;;) {
    const int64_t now = MonotonicNs();
    ForwardDue(now);
    if (target_->Ended() || stopped_by_user_ || (until_ns_ && now >= *until_ns_)) return;
    pollfd events[3] = {
        {queue_.fd(), POLLIN, 0}, {signals_->fd(), POLLIN, 0}, {target_->fd(), POLLIN, 0}};
    const nfds_t count = target_->fd() >= 0 ? 3 : 2;
    ::poll(events, count, TimeoutMs(now));
    while (auto event = signals_->Take()) OnSignal(*event, MonotonicNs());
    Store(false);
    // Not while threads are stopped by us: it would take away the notices that the sampler waits
    // for.
    if (target_->launched() && options_.consistency != Consistency::kStop) {
      target_->child().StopWithTarget();
    }
  }
}

Result<SessionResult> Run::Go() {
  LS_CHECK_OK(Prepare());
  start_ns_ = MonotonicNs();
  const auto delay_ns = std::llround(options_.delay_s * 1e9);
  recorder_ = std::make_unique<Recorder>(writer_.get(), &options_, start_ns_);
  Sampler::Options sampler_options{.pid = target_->pid(),
                                   .tree = {},
                                   .rate_hz = options_.rate_hz,
                                   .consistency = options_.consistency,
                                   .runtime = runtime_,
                                   .command = options_.run.command,
                                   .run_start_ns = start_ns_,
                                   .start_ns = start_ns_ + delay_ns};
  // Before the program begins, so that nothing is missed.
  if (options_.subprocesses) {
    RaiseDescriptorLimit();
    sampler_options.tree.emplace(target_->pid());
  }
  sampler_ = std::make_unique<Sampler>(std::move(sampler_options), std::move(memory_), &queue_);
  if (options_.duration_s) {
    until_ns_ = start_ns_ + delay_ns + std::llround(*options_.duration_s * 1e9);
  }
  if (target_->launched()) {
    // The program begins here; until now the child has only waited.
    if (auto released = target_->child().Release(); !released) {
      Error error = released.error();
      writer_.reset();
      std::error_code ignored;
      std::filesystem::remove(options_.profile_path, ignored);
      return std::unexpected(std::move(error));
    }
  }
  sampler_->Start();
  Loop();
  sampler_->Join();
  const int64_t end_ns = MonotonicNs();
  Store(true);

  SessionResult result;
  RunEnd& end = result.end;
  if (target_->launched()) {
    // After --duration the target goes on, unwatched, and we wait for it: its exit status is ours.
    for (;;) {
      auto ended = target_->child().WaitForEnd(kPollMs);
      if (!ended || *ended) break;
      while (auto event = signals_->Take()) OnSignal(*event, MonotonicNs());
      ForwardDue(MonotonicNs());
      target_->child().StopWithTarget();
    }
    if (auto status = target_->child().Reap()) {
      if (status->signal != 0) {
        end.term_signal = status->signal;
        end.error = fmt::format("killed by {}", SignalName(status->signal));
      } else {
        end.exit_code = status->code;
        if (status->code != 0) end.error = fmt::format("exit status {}", status->code);
      }
    }
  }
  if (target_->launched() || target_->Ended()) {
    recorder_->EndRoot(end_ns, end.exit_code, end.term_signal);
  }
  const SampleTotals& totals = recorder_->totals();
  end.state = ProfileState::kComplete;
  end.elapsed_ns = end_ns - start_ns_;
  end.ticks_due = totals.ticks_due;
  end.ticks_taken = totals.ticks_taken;
  end.samples = totals.samples;
  result.missed = totals.missed;
  for (size_t i = 0; i < totals.drops.size(); ++i) {
    if (totals.drops[i] == 0) continue;
    result.drops.emplace_back(static_cast<DropReason>(i), totals.drops[i]);
    if (static_cast<DropReason>(i) != DropReason::kMissedTick) result.dropped += totals.drops[i];
  }
  if (totals.sampled_ns > 0) {
    result.rate_reached_hz =
        static_cast<double>(totals.ticks_taken) * 1e9 / static_cast<double>(totals.sampled_ns);
  }
  result.consistency_used = DescribeConsistency(options_, totals);
  end.consistency_used = result.consistency_used;
  if (totals.sampled_ns > 0) end.rate_reached_hz = result.rate_reached_hz;
  result.python_versions = recorder_->python_versions();
  result.processes = recorder_->process_count();
  result.python_processes = recorder_->python_count();
  result.diagnostics = recorder_->diagnostics();
  if (auto finished = writer_->Finish(end); !finished) store_ = finished;
  result.store = store_;
  return result;
}

}  // namespace

Result<SessionResult> RunSession(const SessionOptions& options) { return Run(options).Go(); }

}  // namespace linescope
