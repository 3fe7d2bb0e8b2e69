#include "sampler/session.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/signal_name.h"
#include "native/unwinder.h"
#include "process/launch.h"
#include "process/procfs.h"
#include "process/signals.h"
#include "sampler/recorder.h"
#include "sampler/run_summary.h"
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
// What was collected is on disk within a second. So often, counted from the start, as what is
// steady becomes fewer rows then.
constexpr int64_t kCommitNs = kSteadyBlockNs;
// Batches come at multiples of a tenth of a second; this late there is none to wait for.
constexpr int64_t kCommitPatienceNs = 150 * kMs;

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
    if (stat.has_ended()) {
      return Fail(ErrorCode::kGone, "process {} has ended already; only its entry is left", pid);
    }
    if (stat.is_kernel_thread()) {
      return Fail(ErrorCode::kNotPython, "process {} is a thread of the kernel", pid);
    }
    target.start_ticks_ = stat.start_ticks;
    return target;
  }

  static std::expected<TargetProcess, LaunchError> Start(const SessionOptions& options) {
    auto launched = Launch(
        {.argv = options.command, .program = {}, .environment = {}, .streams = options.streams});
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

// How far the native stacks could be merged. None: without --native, or nothing was sampled.
std::optional<Diagnostic> DescribeNative(const SampleTotals& totals) {
  const NativeMergeCounts& native = totals.native;
  const uint64_t failed = native.unread + native.cut + native.mismatch;
  const uint64_t all = failed + native.merged;
  if (all == 0) return std::nullopt;
  auto share = [&](uint64_t part) {
    return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
  };
  std::string text = fmt::format("native frames: {} of the stacks complete", share(native.merged));
  if (native.cut != 0) {
    text += fmt::format(", {} known only in part, where code has no unwinding information",
                        share(native.cut));
  }
  if (native.mismatch != 0) {
    text += fmt::format(", {} without those between Python frames, where the two did not fit",
                        share(native.mismatch));
  }
  if (native.unread != 0) {
    text += fmt::format(", {} without any, where the registers could not be read",
                        share(native.unread));
  }
  if (failed != 0) text += "; the Python frames are whole in all of them";
  const bool many = failed * 20 > all;
  return Diagnostic{many ? "warning" : "info", text};
}

class Run {
 public:
  explicit Run(const SessionOptions& options) : options_(options) {}
  Result<SessionResult> Go();

 private:
  Status Prepare();
  void Loop();
  void Wait(int64_t now_ns);
  void OnSignal(const SignalEvent& event, int64_t now_ns);
  void ForwardDue(int64_t now_ns);
  enum class Commit : uint8_t { kWhenDue, kNow, kWithTheEnd };
  void Store(Commit commit);
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
  RunSummary summary_;
  std::unique_ptr<ProfileWriter> writer_;  // none: nothing is recorded
  std::unique_ptr<Recorder> recorder_;     // of writer_
  std::unique_ptr<Sampler> sampler_;
  std::vector<Forward> forwards_;
  int64_t start_ns_ = 0, next_commit_ns_ = 0;
  int64_t collected_until_ns_ = 0;  // by the batches
  std::optional<int64_t> until_ns_;
  bool stopped_by_user_ = false;
  bool look_ = false;  // asked for
  Status store_ = {};
};

Status Run::Prepare() {
  if (options_.native) LS_CHECK_OK(CheckUnwinding());
  if (options_.pid) {
    LS_TRY(target, TargetProcess::Attach(*options_.pid));
    target_.emplace(std::move(target));
    LS_TRY(memory, OpenRemoteMemory(target_->pid()));
    memory_ = std::move(memory);
    LS_TRY(runtime, FindWithPatience(target_->pid(), memory_.get()));
    runtime_ = runtime;
    if (options_.mode == Mode::kGil && runtime.table.free_threaded) {
      return Fail(
          ErrorCode::kUsage,
          "process {} runs a free-threaded build of Python, which has no GIL that --mode gil "
          "could count; use --mode cpu",
          target_->pid());
    }
    if (options_.stops_threads()) LS_CHECK_OK(Stopper::Check(target_->pid()));
  }
  LS_TRY(signals, SignalWatch::Install());
  signals_ = std::move(signals);
  if (!options_.profile_path.empty()) {
    LS_TRY(writer, ProfileWriter::Create(options_.profile_path, options_.run));
    writer_ = std::move(writer);
  }
  if (!options_.pid) {
    auto target = TargetProcess::Start(options_);
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
  if (event.number == SIGUSR1) {
    look_ = true;
    return;
  }
  if (options_.observer != nullptr) options_.observer->OnSignal(event.number, event.from_terminal);
  if (!target_->launched()) {
    // Attached: any of those that end means "enough".
    stopped_by_user_ |= event.number != SIGUSR2;
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

void Run::Store(Commit commit) {
  std::vector<Batch> batches = queue_.TakeAll();
  for (Batch& batch : batches) {
    collected_until_ns_ = std::max(collected_until_ns_, batch.end_ns);
    summary_.Apply(batch);
    if (options_.observer != nullptr) options_.observer->OnBatch(batch);
    if (recorder_) recorder_->Apply(batch);
  }
  if (!writer_) return;
  const int64_t now = MonotonicNs();
  const bool overdue =
      collected_until_ns_ >= next_commit_ns_ || now >= next_commit_ns_ + kCommitPatienceNs;
  const bool due = commit == Commit::kNow || (commit == Commit::kWhenDue && overdue);
  if (!due && !look_) return;
  next_commit_ns_ = now + kCommitNs - (now - start_ns_) % kCommitNs;
  Status committed = writer_->Commit();
  if (committed) {
    store_ = {};
  } else {
    // Kept in memory and tried again with the next batch.
    store_ = committed;
  }
  if (std::exchange(look_, false) && options_.on_look) options_.on_look(target_->pid());
}

void Run::Loop() {
  for (;;) {
    const int64_t now = MonotonicNs();
    ForwardDue(now);
    if (target_->Ended() || stopped_by_user_ || (until_ns_ && now >= *until_ns_)) return;
    Wait(now);
    Store(Commit::kWhenDue);
    if (options_.observer != nullptr && !options_.observer->OnWake(MonotonicNs())) return;
    // Not while threads are stopped by us: it would take away the notices that the sampler waits
    // for.
    if (target_->launched() && !options_.stops_threads()) {
      target_->child().StopWithTarget();
    }
  }
}

// Until something happens, or something is due.
void Run::Wait(int64_t now_ns) {
  // Descriptors below 0 are ignored.
  const int observer = options_.observer != nullptr ? options_.observer->fd() : -1;
  pollfd events[4] = {{queue_.fd(), POLLIN, 0},
                      {signals_->fd(), POLLIN, 0},
                      {target_->fd(), POLLIN, 0},
                      {observer, POLLIN, 0}};
  ::poll(events, std::size(events), TimeoutMs(now_ns));
  while (auto event = signals_->Take()) OnSignal(*event, MonotonicNs());
}

Result<SessionResult> Run::Go() {
  LS_CHECK_OK(Prepare());
  start_ns_ = MonotonicNs();
  next_commit_ns_ = start_ns_ + kCommitNs;
  const auto delay_ns = std::llround(options_.delay_s * 1e9);
  if (writer_) recorder_ = std::make_unique<Recorder>(writer_.get(), &options_, start_ns_);
  Sampler::Options sampler_options{.pid = target_->pid(),
                                   .tree = {},
                                   .rate_hz = options_.rate_hz,
                                   .consistency = options_.consistency,
                                   .switch_records = options_.switch_records,
                                   .gc = options_.gc,
                                   .gil = options_.mode == Mode::kGil,
                                   .native = options_.native,
                                   .runtime = runtime_,
                                   .command = options_.run.command,
                                   .run_start_ns = start_ns_,
                                   .start_ns = start_ns_ + delay_ns,
                                   .tasks = options_.tasks,
                                   .waiting_tasks = options_.mode == Mode::kWall};
  // Before the program begins, so that nothing is missed.
  if (options_.subprocesses) {
    RaiseDescriptorLimit();
    // What is launched is held before its program as yet.
    sampler_options.tree.emplace(target_->pid(), ProcessTree::Source::kEvents,
                                 target_->launched() ? ProcessTree::Root::kHasNoChildren
                                                     : ProcessTree::Root::kMayHaveChildren);
  }
  sampler_ = std::make_unique<Sampler>(std::move(sampler_options), std::move(memory_), &queue_);
  if (options_.duration_s) {
    until_ns_ = start_ns_ + delay_ns + std::llround(*options_.duration_s * 1e9);
  }
  if (target_->launched()) {
    // The program begins here; until now the child has only waited.
    if (auto released = target_->child().Release(); !released) {
      Error error = released.error();
      if (writer_) {
        writer_.reset();
        std::error_code ignored;
        std::filesystem::remove(options_.profile_path, ignored);
      }
      return std::unexpected(std::move(error));
    }
  }
  if (options_.observer != nullptr) options_.observer->OnStart(target_->pid(), start_ns_);
  sampler_->Start();
  Loop();
  sampler_->Join();
  const int64_t end_ns = MonotonicNs();
  // After --duration there may be a long wait for the end.
  const bool waits = target_->launched() && !target_->Ended();
  Store(waits ? Commit::kNow : Commit::kWithTheEnd);
  if (options_.observer != nullptr) options_.observer->OnSamplingEnd();
  until_ns_.reset();

  SessionResult result;
  RunEnd& end = result.end;
  if (target_->launched()) {
    // After --duration the target goes on, unwatched, and we wait for it: its exit status is ours.
    for (;;) {
      auto ended = target_->child().WaitForEnd(0);
      if (!ended || *ended) break;
      Wait(MonotonicNs());
      ForwardDue(MonotonicNs());
      if (options_.observer != nullptr) options_.observer->OnWake(MonotonicNs());
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
  if (recorder_ && (target_->launched() || target_->Ended())) {
    recorder_->EndRoot(end_ns, end.exit_code, end.term_signal);
  }
  const SampleTotals& totals = summary_.totals();
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
  if (const auto note = DescribeNative(totals)) {
    summary_.Add(*note);
    if (recorder_) recorder_->AddDiagnostic(*note);
  }
  result.consistency_used = DescribeConsistency(
      options_.stops_threads() ? Consistency::kStop : options_.consistency, totals);
  end.consistency_used = result.consistency_used;
  if (totals.sampled_ns > 0) end.rate_reached_hz = result.rate_reached_hz;
  result.python_versions = summary_.python_versions();
  result.processes = summary_.process_count();
  result.python_processes = summary_.python_count();
  result.diagnostics = summary_.diagnostics();
  if (writer_) {
    if (auto finished = writer_->Finish(end); !finished) store_ = finished;
  }
  result.store = store_;
  return result;
}

}  // namespace

std::string DescribeConsistency(Consistency asked, const SampleTotals& totals) {
  const uint64_t all = totals.exact + totals.free;
  if (all == 0) return totals.samples == 0 ? "" : "idle";
  // Standing still, for the one reason or the other.
  const char* exact = asked == Consistency::kStop   ? "stopped"
                      : asked == Consistency::kFree ? "still"
                                                    : "pinned";
  const double share = 100.0 * static_cast<double>(totals.exact) / static_cast<double>(all);
  if (share < 0.05) return "free";
  if (share > 99.95) return exact;
  return fmt::format("{} {:.1f} %, free {:.1f} %", exact, share, 100 - share);
}

Result<SessionResult> RunSession(const SessionOptions& options) { return Run(options).Go(); }

}  // namespace linescope
