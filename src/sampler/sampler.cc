#include "sampler/sampler.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/clock.h"
#include "process/procfs.h"
#include "process/signals.h"
#include "python/thread_names.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kHousekeepingNs = 100 * kMs;
// The width of the finest time bucket: a batch belongs into one bucket.
constexpr int64_t kFlushNs = 100 * kMs;
constexpr int64_t kVerifyNs = 1000 * kMs;
constexpr int64_t kNamesNs = 2000 * kMs;
constexpr int64_t kScanNs = 1000 * kMs;
constexpr int64_t kFirstSearchNs = kMs / 2;
// A program gets its interpreter soon after it has begun, as a rule.
constexpr int64_t kYoungNs = 2000 * kMs;
// Most forks execute another program sooner than this, and need not be looked at before.
constexpr int64_t kForkToExecNs = 2 * kMs;
// What a fork did before it was first seen is taken for the same, if that was so soon.
constexpr int64_t kUnseenNs = 5 * kMs;
// Processes that could not be sampled and are named.
constexpr size_t kMaxExplained = 5;
// A new process is about to show who of all is busy.
constexpr int64_t kNewcomerNs = 10 * kMs;
// A thread pushed off its CPU so shortly before the tick was pushed off by the sampler itself.
constexpr int64_t kOwnPreemptionNs = 100'000;
// Ticks without a single readable thread, after which the interpreter is looked for anew (exec,
// exit).
constexpr int kLostAfterTicks = 3;

}  // namespace

Sampler::Sampler(Options options, std::unique_ptr<RemoteMemory> memory, BatchQueue* queue)
    : options_(std::move(options)), memory_(std::move(memory)), queue_(queue) {}

Sampler::~Sampler() { Join(); }

void Sampler::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Sampler::Join() {
  if (thread_.joinable()) {
    RequestStop();
    thread_.join();
  }
}

// False when asked to stop. Returns early when the tree of processes has news.
bool Sampler::Sleep(int64_t deadline_ns) {
  const bool spin = ready_count_ != 0 && options_.rate_hz > kSpinAboveRate;
  if (spin) {
    while (MonotonicNs() < deadline_ns) {
      if (stop_.load(std::memory_order_relaxed)) return false;
      __builtin_ia32_pause();
    }
    return !stop_.load(std::memory_order_relaxed);
  }
  while (!stop_.load(std::memory_order_relaxed)) {
    // Long waits in pieces, so that a stop is noticed.
    const int64_t now = MonotonicNs();
    if (now >= deadline_ns) return true;
    const int64_t until = std::min(deadline_ns, now + 50 * kMs);
    if (options_.tree) {
      const timespec rest{(until - now) / 1'000'000'000, (until - now) % 1'000'000'000};
      pollfd tree{options_.tree->fd(), POLLIN, 0};
      if (::ppoll(&tree, 1, &rest, nullptr) > 0) {
        tree_has_news_ = true;
        return !stop_.load(std::memory_order_relaxed);
      }
    } else {
      const timespec at{until / 1'000'000'000, until % 1'000'000'000};
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
    if (until == deadline_ns) return !stop_.load(std::memory_order_relaxed);
  }
  return false;
}

void Sampler::Run() {
  BlockSignalsInThisThread();  // they are for the thread that waits for the run's end
  PreferPromptWakeUps();
  batch_begin_ns_ = MonotonicNs();
  next_flush_ns_ = batch_begin_ns_ + kFlushNs;
  Target& root = AddTarget(options_.pid, nullptr, Origin::kFound, options_.run_start_ns);
  root.memory = std::move(memory_);
  root.runtime = std::exchange(options_.runtime, std::nullopt);
  while (!stop_.load(std::memory_order_relaxed)) {
    int64_t now = MonotonicNs();
    if (options_.tree && (tree_has_news_ || now >= next_follow_ns_)) FollowTree(now);
    if (now >= options_.start_ns) Search(now);
    if (!Sleep(NextWakeUp(MonotonicNs()))) break;
    now = MonotonicNs();
    if (ready_count_ != 0 && now >= schedule_->deadline_ns()) {
      totals_.lateness_ns += now - schedule_->deadline_ns();
      const uint64_t missed = schedule_->Advance(now);
      totals_.missed += missed;
      totals_.drops[static_cast<size_t>(DropReason::kMissedTick)] += missed;
      totals_.ticks_due += 1 + missed;
      ++totals_.ticks_taken;
      Tick(now);
      if (now >= next_house_ns_) Housekeeping(now);
      if (now >= next_place_ns_) ChoosePlace(now);
    }
    if (now >= next_flush_ns_) Flush(now, false);
  }
  // The end of the run may have come with the ends of others.
  if (options_.tree) FollowTree(MonotonicNs());
  const int64_t now = MonotonicNs();
  for (auto& target : targets_) ExplainSearch(*target);
  if (!ever_ready_ && search_error_) {
    std::string others;
    if (next_process_ > 1) {
      others = options_.tree ? "; nor was any of its child processes"
                             : "; its child processes are not followed (--subprocesses)";
    }
    diagnostics_.push_back(
        {"warning", fmt::format("nothing was sampled: {}{}", search_error_->what, others)});
  }
  for (const std::string& what : unsampled_) {
    if (ever_ready_) diagnostics_.push_back({"warning", "a child was not sampled: " + what});
  }
  if (ready_count_ != 0) totals_.sampled_ns += now - sampling_since_ns_;
  sampling_since_ns_ = now;
  for (auto& target : targets_) {
    for (auto& thread : target->threads) {
      ReportThread(ThreadEvent::Kind::kEnded, *target, *thread, now);
    }
  }
  Flush(now, true);
}

int64_t Sampler::NextWakeUp(int64_t now_ns) const {
  int64_t wake = next_flush_ns_;
  if (ready_count_ != 0) wake = std::min(wake, schedule_->deadline_ns());
  if (options_.tree && options_.tree->source() == ProcessTree::Source::kLooking) {
    wake = std::min(wake, next_follow_ns_);
  }
  if (now_ns < options_.start_ns) return std::min(wake, options_.start_ns);
  for (const auto& target : targets_) {
    if (!target->ready) wake = std::min(wake, target->next_search_ns);
  }
  return wake;
}

// Looks for the interpreters of those processes where it is due.
void Sampler::Search(int64_t now_ns) {
  for (auto& target : targets_) {
    if (target->ready || now_ns < target->next_search_ns) continue;
    if (!FindInterpreter(*target, now_ns)) {
      target->next_search_ns = MonotonicNs() + target->search_step_ns;
    }
  }
}

void Sampler::ReportThread(ThreadEvent::Kind kind, const Target& target, const Thread& thread,
                           int64_t at_ns) {
  const int tid = thread.python.native_id;
  events_.push_back({kind, target.index, thread.index, tid, tid == target.pid, thread.name, at_ns});
}

void Sampler::ReportProcess(ProcessNews::Kind kind, const Target& target, int64_t at_ns,
                            std::optional<int> wait_status) {
  ProcessNews news{.kind = kind,
                   .process = target.index,
                   .at_ns = at_ns,
                   .pid = target.pid,
                   .parent = target.parent,
                   .wait_status = wait_status};
  if (kind != ProcessNews::Kind::kEnded) {
    news.command = target.command;
    news.executable = target.executable;
    news.start_unix_ns = target.program_unix_ns;
  }
  processes_.push_back(std::move(news));
}

// What it runs, as long as it can be asked.
void Sampler::ReadProgram(Target& target) {
  target.command = ReadCommandLine(target.pid).value_or(std::vector<std::string>());
  target.executable = ReadExe(target.pid).value_or("");
  target.program_unix_ns = RealtimeNs() - (MonotonicNs() - target.started_ns);
  if (!target.command.empty()) return;
  if (target.index == 0) {
    target.command = options_.command;
  } else if (auto stat = ReadStat(target.pid)) {
    target.command = {stat->comm};  // it has ended already; its name is left
  }
}

Sampler::Target& Sampler::AddTarget(int pid, const Target* parent, Origin origin, int64_t at_ns) {
  targets_.push_back(std::make_unique<Target>());
  Target& target = *targets_.back();
  target.pid = pid;
  target.index = next_process_++;
  if (parent != nullptr) target.parent = parent->index;
  target.started_ns = at_ns;
  target.search_step_ns = kFirstSearchNs;
  target.next_scan_ns = at_ns + kScanNs;
  if (origin == Origin::kForked) {
    // Its parent's program and, at the same addresses, its interpreter.
    target.command = parent->command;
    target.executable = parent->executable;
    target.program_unix_ns = parent->program_unix_ns;
    target.runtime = parent->runtime;
    target.copied = true;
    target.next_search_ns = at_ns + kForkToExecNs;
    const auto status = ReadStatus(pid);
    target.own_tid = status && !status->ns_pids.empty() ? status->ns_pids.back() : pid;
  } else {
    ReadProgram(target);
    if (auto start = ProcessStartUnixNs(pid)) target.program_unix_ns = *start;
  }
  ReportProcess(ProcessNews::Kind::kStarted, target, at_ns);
  return target;
}

void Sampler::FollowTree(int64_t now_ns) {
  tree_has_news_ = false;
  next_follow_ns_ = now_ns + ProcessTree::kLookEveryNs;
  news_.clear();
  options_.tree->Take(now_ns, &news_);
  for (const TreeEvent& event : news_) {
    auto of = [&](int pid) {
      const auto found =
          std::ranges::find_if(targets_, [&](const auto& target) { return target->pid == pid; });
      return found == targets_.end() ? nullptr : found->get();
    };
    switch (event.kind) {
      case TreeEvent::Kind::kStarted:
        if (const Target* parent = of(event.parent)) {
          AddTarget(event.pid, parent, event.found ? Origin::kFound : Origin::kForked, event.at_ns);
        }
        break;
      case TreeEvent::Kind::kExecuted:
        if (Target* target = of(event.pid)) OnExec(*target, event.at_ns);
        break;
      case TreeEvent::Kind::kEnded:
        RemoveTarget(event.pid, event.wait_status, event.at_ns);
        break;
    }
  }
}

// What a process executes, until the next exec; a fork has its parent's.
uint64_t Sampler::ImageOf(int pid) {
  const auto stat = ReadStat(pid);
  return stat ? stat->start_stack : 0;
}

// It runs another program now.
void Sampler::OnExec(Target& target, int64_t at_ns) {
  if (target.ready && target.image == ImageOf(target.pid)) {
    // The news was slower than the search: what was found is of this program.
    target.copied = false;
    ReadProgram(target);
    ReportProcess(ProcessNews::Kind::kChanged, target, at_ns);
    return;
  }
  if (target.ready) LoseInterpreter(target);
  target.runtime.reset();
  target.copied = false;
  target.search_error.reset();
  target.search_step_ns = kFirstSearchNs;
  target.next_search_ns = at_ns + kFirstSearchNs;
  target.next_scan_ns = at_ns + kScanNs;
  BeginProgram(target, at_ns);
}

// What was sampled until now is another process of the run; what was not was only on its way to the
// program.
void Sampler::BeginProgram(Target& target, int64_t at_ns) {
  if (target.had_threads) {
    ReportProcess(ProcessNews::Kind::kEnded, target, at_ns);
    target.index = next_process_++;
    target.had_threads = false;
    target.started_ns = at_ns;
    ReadProgram(target);
    ReportProcess(ProcessNews::Kind::kStarted, target, at_ns);
  } else {
    ReadProgram(target);
    ReportProcess(ProcessNews::Kind::kChanged, target, at_ns);
  }
}

void Sampler::RemoveTarget(int pid, std::optional<int> wait_status, int64_t at_ns) {
  const auto found =
      std::ranges::find_if(targets_, [&](const auto& target) { return target->pid == pid; });
  if (found == targets_.end()) return;
  Target& target = **found;
  if (target.ready) LoseInterpreter(target);
  ExplainSearch(target);
  ReportProcess(ProcessNews::Kind::kEnded, target, at_ns, wait_status);
  if (target.memory) ended_calls_ += target.memory->calls();
  targets_.erase(found);
}

// Remembers why a process was not sampled: the first reason that says more than that it is no
// Python.
void Sampler::ExplainSearch(const Target& target) {
  if (target.ever_ready || !target.search_error) return;
  const Error& error = *target.search_error;
  if (error.code == ErrorCode::kGone) return;
  const bool is_python = error.code != ErrorCode::kNotPython;
  if (!search_error_ || (is_python && search_error_->code == ErrorCode::kNotPython)) {
    search_error_ = error;
  }
  if (is_python && target.parent && unsampled_.size() < kMaxExplained)
    unsampled_.insert(error.what);
}

bool Sampler::FindInterpreter(Target& target, int64_t now_ns) {
  // An address may mean the same in the next program, too.
  const uint64_t image = ImageOf(target.pid);
  auto back_off = [&] {
    // What no event announces may happen at any time, an embedded interpreter hours after the
    // start.
    const bool old = options_.tree && now_ns - target.started_ns > kYoungNs;
    target.search_step_ns =
        std::min<int64_t>(target.search_step_ns * 3 / 2, old ? 1000 * kMs : 50 * kMs);
  };
  if (!target.memory) {
    auto memory = OpenRemoteMemory(target.pid);
    if (!memory) {
      target.search_error = memory.error();
      back_off();
      return false;
    }
    target.memory = *std::move(memory);
  }
  RemoteMemory* memory = target.memory.get();
  if (!target.runtime || (!target.copied && now_ns >= target.next_file_search_ns)) {
    // Files may be mapped yet, or replaced by an exec: look again, not only probe again.
    // The scan is dear: once it is clear that no file says where the interpreter is.
    const bool scan = now_ns >= target.next_scan_ns;
    if (scan) target.next_scan_ns = now_ns + kScanNs;
    auto found = FindRuntime(target.pid, memory, scan ? ScanMemory::kYes : ScanMemory::kNo);
    target.next_file_search_ns = MonotonicNs() + 20 * kMs;
    if (!found) {
      target.search_error = found.error();
      target.runtime.reset();
      back_off();
      return false;
    }
    target.runtime = *found;
  }
  bool ready =
      ProbeRuntime(memory, target.runtime->table, target.runtime->address) == RuntimeState::kReady;
  if (ready) {
    CompleteRuntime(target.pid, memory, &*target.runtime);
    ready = !target.copied || CopyIsReady(target);
  }
  if (!ready) {
    // The interpreter is about to come up: look closely, its first line counts. A copy comes up at
    // once, or it is about to execute another program.
    target.search_step_ns = kMs / 4;
    if (target.copied) target.search_step_ns += (now_ns - target.started_ns) / 8;
    return false;
  }
  target.image = ImageOf(target.pid);
  if (target.image != image) {
    target.next_file_search_ns = 0;
    target.search_step_ns = kMs / 4;
    return false;
  }
  target.codes = std::make_unique<CodeCache>(memory, &target.runtime->table);
  target.code_ids.clear();
  // Without events of processes an exec shows by this alone.
  if (!options_.tree) BeginProgram(target, now_ns);
  target.ready = true;
  if (ready_count_++ == 0) {
    sampling_since_ns_ = window_begin_ns_ = MonotonicNs();
    if (schedule_) schedule_->Restart(sampling_since_ns_);
  }
  now_ns = MonotonicNs();
  RefreshThreads(target, now_ns);
  if (target.threads.empty()) {
    LoseInterpreter(target);
    target.search_step_ns = kMs / 4;
    return false;
  }
  pythons_.push_back({target.index, target.runtime->version.ToString(), target.runtime->file,
                      target.runtime->found_by, target.runtime->warnings});
  if (!schedule_) {
    schedule_.emplace(options_.rate_hz, now_ns,
                      static_cast<uint64_t>(now_ns) ^ static_cast<uint64_t>(options_.pid) << 32);
    next_house_ns_ = now_ns + kHousekeepingNs;
    next_flush_ns_ = now_ns + kFlushNs - (now_ns - options_.run_start_ns) % kFlushNs;
  }
  target.next_verify_ns = now_ns + kVerifyNs;
  target.next_names_ns = now_ns + kHousekeepingNs;
  target.bad_ticks = 0;
  target.ever_ready = ever_ready_ = true;
  // Names that a copy has already; it may live too short for the next housekeeping.
  if (target.copied) RefreshNames(target);
  if (ready_count_ == 1) {
    ChoosePlace(now_ns);
  } else {
    next_place_ns_ = std::min(next_place_ns_, now_ns + kNewcomerNs);
  }
  return true;
}

// Whether the copied interpreter has noticed that it is one: until then, and until the exec that
// follows a vfork, the memory is the parent's, threads included.
bool Sampler::CopyIsReady(Target& target) {
  if (!ReadThreadList(target.memory.get(), target.runtime->table, target.runtime->address,
                      &target.list)) {
    return false;
  }
  return std::ranges::any_of(target.list.threads, [&](const PythonThread& thread) {
    return thread.native_id == target.own_tid;
  });
}

void Sampler::LoseInterpreter(Target& target) {
  const int64_t now = MonotonicNs();
  if (--ready_count_ == 0) {
    if (schedule_) totals_.sampled_ns += now - sampling_since_ns_;
    sampling_since_ns_ = now;
    pinning_.Unpin();
  }
  Calibrate(target, now);
  for (auto& thread : target.threads) {
    ReportThread(ThreadEvent::Kind::kEnded, target, *thread, now);
  }
  target.threads.clear();
  target.codes.reset();
  target.runtime.reset();
  target.copied = false;
  target.ready = false;
  target.search_step_ns = kFirstSearchNs;
  target.next_search_ns = now + kFirstSearchNs;
}

void Sampler::RefreshThreads(Target& target, int64_t now_ns) {
  target.next_list_ns = now_ns + kHousekeepingNs;
  RemoteMemory* memory = target.memory.get();
  if (!ReadThreadList(memory, target.runtime->table, target.runtime->address, &target.list)) return;
  std::vector<std::unique_ptr<Thread>> kept;
  kept.reserve(target.list.threads.size());
  bool fresh = false;
  for (const PythonThread& info : target.list.threads) {
    auto known = std::find_if(target.threads.begin(), target.threads.end(),
                              [&](const auto& thread) { return thread && thread->python == info; });
    if (known != target.threads.end()) {
      kept.push_back(std::move(*known));
      continue;
    }
    // A copy lists the threads of its parent for a moment.
    const bool is_main = info.native_id == target.pid;
    if (target.copied && target.own_tid == target.pid && !is_main &&
        !ReadThreadStat(target.pid, info.native_id)) {
      continue;
    }
    auto thread = std::make_unique<Thread>(next_thread_++, target.pid, info, memory,
                                           &target.runtime->table, target.codes.get());
    // A fork's only thread is there since the fork.
    const bool since_fork =
        target.copied && is_main && !target.had_threads && now_ns - target.started_ns < kUnseenNs;
    thread->last_ns = since_fork ? std::min(target.started_ns, now_ns) : now_ns;
    if (auto name = ReadThreadName(target.pid, info.native_id)) thread->name = *name;
    ReportThread(ThreadEvent::Kind::kStarted, target, *thread, thread->last_ns);
    kept.push_back(std::move(thread));
    fresh = true;
  }
  for (auto& thread : target.threads) {
    if (!thread) continue;
    ReportThread(ThreadEvent::Kind::kEnded, target, *thread, now_ns);
  }
  target.threads = std::move(kept);
  if (!target.threads.empty()) target.had_threads = true;
  // A thread enters threading._active a moment after its thread state appears.
  if (fresh) target.next_names_ns = std::min(target.next_names_ns, now_ns + 5 * kMs);
}

void Sampler::RefreshNames(Target& target) {
  for (const PythonInterpreter& interpreter : target.list.interpreters) {
    const auto names =
        ReadThreadNames(target.memory.get(), target.runtime->table, interpreter.modules);
    for (auto& thread : target.threads) {
      if (thread->python.interpreter != interpreter.address) continue;
      const auto it = names.find(thread->python.pthread_id);
      if (it == names.end() || it->second.empty() || it->second == thread->name) continue;
      thread->name = it->second;
      ReportThread(ThreadEvent::Kind::kRenamed, target, *thread, MonotonicNs());
    }
  }
}

// Pinned beside the busy thread, if there is one among all processes, or free. See Consistency.
void Sampler::ChoosePlace(int64_t now_ns) {
  next_place_ns_ = now_ns + kHousekeepingNs;
  if (options_.consistency == Consistency::kFree || options_.consistency == Consistency::kStop)
    return;
  if (options_.consistency == Consistency::kAuto && options_.rate_hz > kPinnedMaxRate) return;
  Thread* busiest = nullptr;
  int64_t total = 0;
  const int64_t window = now_ns - window_begin_ns_;
  for (auto& target : targets_) {
    for (auto& thread : target->threads) {
      if (!thread->cpu.has_records()) thread->cpu.Ask();
      const auto clock = thread->cpu.CpuTimeNs(now_ns);
      thread->busy_ns = clock && thread->window_clock_ns ? *clock - *thread->window_clock_ns : 0;
      thread->window_clock_ns = clock;
      total += thread->busy_ns;
      if (busiest == nullptr || thread->busy_ns > busiest->busy_ns) busiest = thread.get();
    }
  }
  window_begin_ns_ = now_ns;
  if (busiest == nullptr) return;
  const bool first = total == 0 && pinning_.pinned_cpu() < 0;
  // Idle: stay, there is nothing to learn.
  if (!first && total < window / 50) return;
  const int64_t others = total - busiest->busy_ns;
  const bool one_is_busy = first || others * 4 <= busiest->busy_ns;
  const int cpu = busiest->cpu.cpu();
  if (options_.consistency == Consistency::kAuto && (!one_is_busy || !pinning_.Allowed(cpu))) {
    pinning_.Unpin();
    return;
  }
  pinning_.PinTo(cpu);
}

void Sampler::Tick(int64_t now_ns) {
  bool ended = false, owed = false;
  for (auto& target : targets_) {
    if (!target->ready) continue;
    const Outcome outcome = TickTarget(*target, now_ns);
    ended |= outcome.ended;
    owed |= outcome.owed;
  }
  if (ended && !owed) {
    // Nothing was due: nobody was there any more.
    --totals_.ticks_due;
    --totals_.ticks_taken;
  }
}

Sampler::Outcome Sampler::TickTarget(Target& target, int64_t now_ns) {
  const bool stop_mode = options_.consistency == Consistency::kStop;
  ranges_.clear();
  size_t total = 0;
  for (auto& thread : target.threads) {
    thread->failed = false;
    thread->cpu.Poll();
    const OnCpu::State state = thread->cpu.state();
    const bool off = thread->cpu.has_records() &&
                     (state == OnCpu::State::kOff || state == OnCpu::State::kPreempted);
    thread->switches_before = thread->cpu.switches();
    thread->skip = off && thread->decided && thread->switches_before == thread->decided_switches;
    if (thread->skip) continue;
    thread->stopped = stop_mode && stopper_.Stop(thread->python.native_id);
    thread->expect_exact = off || thread->stopped || pinning_.pinned_cpu() >= 0;
    thread->offset = total;
    thread->stack->Plan(thread->expect_exact, &ranges_);
    total += thread->stack->planned_bytes();
  }
  bool complete = true;
  std::byte* bytes = nullptr;
  if (total != 0) {
    target.moved = true;
    bytes = image_.Prepare(total, ranges_.front().address);
    const ssize_t got = target.memory->Read(ranges_, bytes);
    complete = got == static_cast<ssize_t>(total);
    if (got == -ESRCH) {
      // The process has ended: nothing was due. Whoever waits for it says how.
      stopper_.ContinueAll();
      LoseInterpreter(target);
      return {.ended = true};
    }
  }
  bool any = false, owed = false, refresh = false;
  for (auto& thread : target.threads) {
    if (thread->skip) {
      Record(target, *thread, true, now_ns);
      any = true;
      continue;
    }
    bool exact = false;
    Decision decision = Decision::kAgain;
    if (complete) {
      exact = IsExact(*thread);
      decision = thread->stack->Decide(bytes + thread->offset, exact, now_ns);
    } else {
      thread->stack->ResetPrediction();
    }
    for (int attempt = 0; decision == Decision::kAgain && attempt < 3; ++attempt) {
      ranges_.clear();
      thread->stack->Plan(thread->expect_exact, &ranges_);
      const size_t size = thread->stack->planned_bytes();
      std::byte* again = again_.Prepare(size, ranges_.front().address);
      thread->cpu.Poll();
      thread->switches_before = thread->cpu.switches();
      if (target.memory->Read(ranges_, again) != static_cast<ssize_t>(size)) {
        thread->stack->ResetPrediction();
        continue;
      }
      exact = IsExact(*thread);
      decision = thread->stack->Decide(again, exact, now_ns);
    }
    switch (decision) {
      case Decision::kOk:
        Record(target, *thread, exact, now_ns);
        any = true;
        break;
      case Decision::kGone:
        // The thread has ended, or the interpreter has left it: it owed no sample.
        refresh = true;
        break;
      case Decision::kUnreadable:
        Drop(*thread, DropReason::kUnreadable);
        owed = true;
        refresh = true;
        break;
      case Decision::kTorn:
      case Decision::kAgain:
        Drop(*thread, DropReason::kTorn);
        owed = true;
        break;
    }
  }
  if (stop_mode) stopper_.ContinueAll();
  if (any) {
    target.bad_ticks = 0;
  } else if (++target.bad_ticks >= kLostAfterTicks) {
    LoseInterpreter(target);
    return {.owed = owed};
  }
  if (refresh && now_ns >= target.next_list_ns - kHousekeepingNs + kMs) {
    RefreshThreads(target, now_ns);
  }
  return {.owed = any || owed};
}

// Whether the thread provably did not run between the moment before and the moment after the read.
bool Sampler::IsExact(Thread& thread) {
  if (thread.stopped) return true;
  if (thread.cpu.has_records()) {
    thread.cpu.Poll();
    const OnCpu::State state = thread.cpu.state();
    return (state == OnCpu::State::kOff || state == OnCpu::State::kPreempted) &&
           thread.cpu.switches() == thread.switches_before;
  }
  if (!thread.cpu.Ask()) return false;
  switch (thread.cpu.state()) {
    case OnCpu::State::kOff:
      return true;
    case OnCpu::State::kOn:
      // Runnable on the very CPU that is running us: it is not running, and we have not left this
      // CPU since the deadline.
      return pinning_.pinned_cpu() >= 0 && thread.cpu.cpu() == pinning_.pinned_cpu();
    default:
      return false;
  }
}

// The run's number of a code of the target's cache.
CodeId Sampler::RunId(Target& target, const Code& code) {
  if (code.id >= target.code_ids.size()) {
    target.code_ids.resize(target.codes->all().size(), kNoCode);
  }
  CodeId& id = target.code_ids[code.id];
  if (id == kNoCode) id = codes_.IdOf(code, target.index);
  return id;
}

void Sampler::Record(Target& target, Thread& thread, bool exact, int64_t now_ns) {
  if (!thread.skip) {
    const auto frames = thread.stack->frames();
    const size_t keep = std::min(thread.stack->unchanged(), thread.path.size());
    thread.path.resize(keep);
    NodeId node = keep == 0 ? kNoNode : thread.path.back();
    for (size_t i = keep; i < frames.size(); ++i) {
      const StackFrame& frame = frames[i];
      if (!frame.code->shim)
        node = trie_.Intern(node, RunId(target, *frame.code), frame.code->LineAt(frame.unit));
      thread.path.push_back(node);
    }
    thread.leaf = node;
    thread.decided = exact && thread.cpu.has_records();
    thread.decided_switches = thread.switches_before;
  }
  ThreadState state = ThreadState::kUnknown;
  bool on_cpu = false;
  switch (thread.cpu.state()) {
    case OnCpu::State::kOn:
      state = ThreadState::kRunning;
      on_cpu = true;
      break;
    case OnCpu::State::kPreempted:
      on_cpu = now_ns - thread.cpu.changed_ns() < kOwnPreemptionNs;
      state = on_cpu ? ThreadState::kRunning : ThreadState::kWaiting;
      break;
    case OnCpu::State::kOff:
      state = ThreadState::kWaiting;
      break;
    case OnCpu::State::kUnknown:
      break;
  }
  const int64_t elapsed = now_ns - thread.last_ns;
  thread.last_ns = now_ns;
  cells_.Add(thread.index, thread.leaf, state, elapsed, on_cpu ? elapsed : 0);
  ++totals_.samples;
  if (on_cpu) ++(exact ? totals_.exact : totals_.free);
}

void Sampler::Drop(Thread& thread, DropReason reason) {
  ++totals_.drops[static_cast<size_t>(reason)];
  thread.decided = false;
}

void Sampler::Housekeeping(int64_t now_ns) {
  next_house_ns_ = now_ns + kHousekeepingNs;
  for (auto& target : targets_) {
    // What has not run has not changed either.
    if (!target->ready || !std::exchange(target->moved, false)) continue;
    RefreshThreads(*target, now_ns);
    if (now_ns >= target->next_names_ns) {
      target->next_names_ns = now_ns + kNamesNs;
      RefreshNames(*target);
    }
    VerifyStacks(*target, now_ns);
    if (now_ns >= target->next_verify_ns) {
      target->next_verify_ns = now_ns + kVerifyNs;
      if (target->codes->VerifyAll(now_ns, now_ns - kVerifyNs / 2) != 0) {
        for (auto& thread : target->threads) thread->decided = false;
      }
    }
  }
}

// The code objects on the stacks of now, by one read: a frame whose words do not change would hide
// that its code is another.
void Sampler::VerifyStacks(Target& target, int64_t now_ns) {
  on_stack_.clear();
  for (auto& thread : target.threads) {
    for (const StackFrame& frame : thread->stack->frames()) {
      Code* code = target.codes->Find(frame.code->address);
      if (code == frame.code && code->verified_ns < now_ns - kHousekeepingNs / 2) {
        code->verified_ns = now_ns;  // once each
        on_stack_.push_back(code);
      }
    }
  }
  if (target.codes->VerifyEach(on_stack_, now_ns) != 0) {
    for (auto& thread : target.threads) thread->decided = false;
  }
}

// The samples say where a thread's CPU time went; its own clock says how much there was.
void Sampler::Calibrate(Target& target, int64_t now_ns) {
  for (auto& thread : target.threads) {
    const auto clock = thread->cpu.CpuTimeNs(now_ns);
    const auto before = std::exchange(thread->clock_ns, clock);
    if (!clock || !before) continue;
    int64_t sampled = 0;
    for (const auto& cell : cells_.cells()) {
      if (cell.thread == thread->index) sampled += cell.cpu_ns;
    }
    if (sampled <= 0) continue;
    const double factor =
        std::clamp(static_cast<double>(*clock - *before) / static_cast<double>(sampled), 0.0, 4.0);
    for (auto& cell : cells_.cells()) {
      if (cell.thread == thread->index) {
        cell.cpu_ns = std::llround(static_cast<double>(cell.cpu_ns) * factor);
      }
    }
  }
}

void Sampler::Flush(int64_t now_ns, bool force) {
  // At multiples of kFlushNs since the start of the run.
  next_flush_ns_ = now_ns + kFlushNs - (now_ns - options_.run_start_ns) % kFlushNs;
  if (!force && !queue_->HasRoom()) return;
  for (auto& target : targets_) Calibrate(*target, now_ns);
  Batch batch;
  batch.begin_ns = batch_begin_ns_;
  batch.end_ns = batch_begin_ns_ = now_ns;
  batch.cells = cells_.Take();
  batch.codes = codes_.TakeNew();
  batch.nodes.assign(trie_.nodes().begin() + static_cast<ptrdiff_t>(sent_nodes_),
                     trie_.nodes().end());
  sent_nodes_ = trie_.nodes().size();
  batch.processes = std::exchange(processes_, {});
  batch.threads = std::exchange(events_, {});
  batch.pythons = std::exchange(pythons_, {});
  batch.diagnostics = std::exchange(diagnostics_, {});
  batch.totals = totals_;
  batch.totals.system_calls = ended_calls_;
  for (const auto& target : targets_) {
    if (target->memory) batch.totals.system_calls += target->memory->calls();
  }
  if (ready_count_ != 0) batch.totals.sampled_ns += now_ns - sampling_since_ns_;
  queue_->Push(std::move(batch));
}

}  // namespace linescope
