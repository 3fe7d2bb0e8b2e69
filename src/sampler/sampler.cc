#include "sampler/sampler.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/clock.h"
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

// False when asked to stop.
bool Sampler::Sleep(int64_t deadline_ns) {
  const bool spin = ready_ && options_.rate_hz > kSpinAboveRate;
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
    const timespec at{until / 1'000'000'000, until % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    if (until == deadline_ns) return !stop_.load(std::memory_order_relaxed);
  }
  return false;
}

void Sampler::Run() {
  BlockSignalsInThisThread();  // they are for the thread that waits for the run's end
  PreferPromptWakeUps();
  batch_begin_ns_ = MonotonicNs();
  search_step_ns_ = kMs / 2;
  next_scan_ns_ = batch_begin_ns_ + kScanNs;
  if (options_.start_ns > batch_begin_ns_ && !Sleep(options_.start_ns)) {
    Flush(MonotonicNs(), true);
    return;
  }
  while (!stop_.load(std::memory_order_relaxed)) {
    int64_t now = MonotonicNs();
    if (!ready_) {
      if (!FindInterpreter(now)) {
        if (now >= next_flush_ns_) Flush(now, false);
        if (!Sleep(now + search_step_ns_)) break;
        continue;
      }
      now = MonotonicNs();
    }
    if (!Sleep(schedule_->deadline_ns())) break;
    now = MonotonicNs();
    totals_.lateness_ns += now - schedule_->deadline_ns();
    const uint64_t missed = schedule_->Advance(now);
    totals_.missed += missed;
    totals_.drops[static_cast<size_t>(DropReason::kMissedTick)] += missed;
    totals_.ticks_due += 1 + missed;
    ++totals_.ticks_taken;
    Tick(now);
    if (ready_ && now >= next_house_ns_) Housekeeping(now);
    if (now >= next_flush_ns_) Flush(now, false);
  }
  const int64_t now = MonotonicNs();
  if (!ever_ready_ && search_error_ && search_error_->code != ErrorCode::kGone) {
    diagnostics_.push_back({"warning", "nothing was sampled: " + search_error_->what +
                                           "; its child processes are not followed"});
  }
  if (ready_) totals_.sampled_ns += now - sampling_since_ns_;
  sampling_since_ns_ = now;
  for (auto& thread : threads_) {
    Report(ThreadEvent::Kind::kEnded, *thread, now);
  }
  Flush(now, true);
}

void Sampler::Report(ThreadEvent::Kind kind, const Thread& thread, int64_t at_ns) {
  const int tid = thread.python.native_id;
  events_.push_back({kind, thread.index, tid, tid == options_.pid, thread.name, at_ns});
}

bool Sampler::FindInterpreter(int64_t now_ns) {
  auto back_off = [&] { search_step_ns_ = std::min<int64_t>(search_step_ns_ * 3 / 2, 50 * kMs); };
  if (options_.runtime) {
    runtime_ = std::exchange(options_.runtime, std::nullopt);
  } else if (!runtime_ || now_ns >= next_search_ns_) {
    // Files may be mapped yet, or replaced by an exec: look again, not only probe again.
    // The scan is dear: once it is clear that no file says where the interpreter is.
    const bool scan = now_ns >= next_scan_ns_;
    if (scan) next_scan_ns_ = now_ns + kScanNs;
    auto found =
        FindRuntime(options_.pid, memory_.get(), scan ? ScanMemory::kYes : ScanMemory::kNo);
    next_search_ns_ = MonotonicNs() + 20 * kMs;
    if (!found) {
      search_error_ = found.error();
      runtime_.reset();
      back_off();
      return false;
    }
    runtime_ = *found;
  }
  if (ProbeRuntime(memory_.get(), runtime_->table, runtime_->address) != RuntimeState::kReady) {
    // The interpreter is about to come up: look closely, its first line counts.
    search_step_ns_ = kMs / 4;
    return false;
  }
  CompleteRuntime(options_.pid, memory_.get(), &*runtime_);
  codes_ = std::make_unique<CodeCache>(memory_.get(), &runtime_->table, next_code_);
  ready_ = true;
  now_ns = MonotonicNs();
  RefreshThreads(now_ns);
  if (threads_.empty()) {
    LoseInterpreter();
    search_step_ns_ = kMs / 4;
    return false;
  }
  pythons_.push_back({runtime_->version.ToString(), runtime_->file, runtime_->found_by,
                      runtime_->warnings, now_ns});
  sampling_since_ns_ = window_begin_ns_ = now_ns;
  if (!schedule_) {
    schedule_.emplace(options_.rate_hz, now_ns,
                      static_cast<uint64_t>(now_ns) ^ static_cast<uint64_t>(options_.pid) << 32);
  } else {
    schedule_->Restart(now_ns);
  }
  next_house_ns_ = now_ns + kHousekeepingNs;
  next_flush_ns_ = now_ns + kFlushNs - (now_ns - options_.run_start_ns) % kFlushNs;
  next_verify_ns_ = now_ns + kVerifyNs;
  next_names_ns_ = now_ns + kHousekeepingNs;
  bad_ticks_ = 0;
  ever_ready_ = true;
  ChoosePlace(now_ns);
  return true;
}

void Sampler::LoseInterpreter() {
  const int64_t now = MonotonicNs();
  if (schedule_) totals_.sampled_ns += now - sampling_since_ns_;
  sampling_since_ns_ = now;
  for (auto& thread : threads_) {
    Report(ThreadEvent::Kind::kEnded, *thread, now);
  }
  Flush(now, false);
  threads_.clear();
  if (codes_) {
    next_code_ += static_cast<CodeId>(codes_->all().size());
    old_codes_.push_back(std::move(codes_));
  }
  runtime_.reset();
  ready_ = false;
  search_step_ns_ = kMs / 2;
  pinning_.Unpin();
}

void Sampler::RefreshThreads(int64_t now_ns) {
  next_list_ns_ = now_ns + kHousekeepingNs;
  if (!ReadThreadList(memory_.get(), runtime_->table, runtime_->address, &list_)) return;
  std::vector<std::unique_ptr<Thread>> kept;
  kept.reserve(list_.threads.size());
  bool fresh = false;
  for (const PythonThread& info : list_.threads) {
    auto known = std::find_if(threads_.begin(), threads_.end(),
                              [&](const auto& thread) { return thread && thread->python == info; });
    if (known != threads_.end()) {
      kept.push_back(std::move(*known));
      continue;
    }
    auto thread = std::make_unique<Thread>(next_thread_++, options_.pid, info, memory_.get(),
                                           &runtime_->table, codes_.get());
    thread->last_ns = now_ns;
    if (auto name = ReadThreadName(options_.pid, info.native_id)) thread->name = *name;
    Report(ThreadEvent::Kind::kStarted, *thread, now_ns);
    kept.push_back(std::move(thread));
    fresh = true;
  }
  for (auto& thread : threads_) {
    if (!thread) continue;
    Report(ThreadEvent::Kind::kEnded, *thread, now_ns);
  }
  threads_ = std::move(kept);
  // A thread enters threading._active a moment after its thread state appears.
  if (fresh) next_names_ns_ = std::min(next_names_ns_, now_ns + 5 * kMs);
}

void Sampler::RefreshNames() {
  for (const PythonInterpreter& interpreter : list_.interpreters) {
    const auto names = ReadThreadNames(memory_.get(), runtime_->table, interpreter.modules);
    for (auto& thread : threads_) {
      if (thread->python.interpreter != interpreter.address) continue;
      const auto it = names.find(thread->python.pthread_id);
      if (it == names.end() || it->second.empty() || it->second == thread->name) continue;
      thread->name = it->second;
      Report(ThreadEvent::Kind::kRenamed, *thread, MonotonicNs());
    }
  }
}

// Pinned beside the busy thread, or free. See Consistency.
void Sampler::ChoosePlace(int64_t now_ns) {
  if (options_.consistency == Consistency::kFree || options_.consistency == Consistency::kStop)
    return;
  if (options_.consistency == Consistency::kAuto && options_.rate_hz > kPinnedMaxRate) return;
  Thread* busiest = nullptr;
  int64_t total = 0;
  const int64_t window = now_ns - window_begin_ns_;
  for (auto& thread : threads_) {
    if (!thread->cpu.has_records()) thread->cpu.Ask();
    const auto clock = thread->cpu.CpuTimeNs(now_ns);
    thread->busy_ns = clock && thread->window_clock_ns ? *clock - *thread->window_clock_ns : 0;
    thread->window_clock_ns = clock;
    total += thread->busy_ns;
    if (busiest == nullptr || thread->busy_ns > busiest->busy_ns) busiest = thread.get();
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
  const bool stop_mode = options_.consistency == Consistency::kStop;
  ranges_.clear();
  size_t total = 0;
  for (auto& thread : threads_) {
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
    bytes = image_.Prepare(total, ranges_.front().address);
    const ssize_t got = memory_->Read(ranges_, bytes);
    complete = got == static_cast<ssize_t>(total);
    if (got == -ESRCH) {
      // The process has ended: nothing was due. Whoever waits for it ends the run.
      stopper_.ContinueAll();
      --totals_.ticks_due;
      --totals_.ticks_taken;
      LoseInterpreter();
      return;
    }
  }
  bool any = false, refresh = false;
  for (auto& thread : threads_) {
    if (thread->skip) {
      Record(*thread, true, now_ns);
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
      if (memory_->Read(ranges_, again) != static_cast<ssize_t>(size)) {
        thread->stack->ResetPrediction();
        continue;
      }
      exact = IsExact(*thread);
      decision = thread->stack->Decide(again, exact, now_ns);
    }
    switch (decision) {
      case Decision::kOk:
        Record(*thread, exact, now_ns);
        any = true;
        break;
      case Decision::kGone:
        // The thread has ended, or the interpreter has left it: it owed no sample.
        refresh = true;
        break;
      case Decision::kUnreadable:
        Drop(*thread, DropReason::kUnreadable);
        refresh = true;
        break;
      case Decision::kTorn:
      case Decision::kAgain:
        Drop(*thread, DropReason::kTorn);
        break;
    }
  }
  if (stop_mode) stopper_.ContinueAll();
  if (any) {
    bad_ticks_ = 0;
  } else if (++bad_ticks_ >= kLostAfterTicks) {
    LoseInterpreter();
    return;
  }
  if (refresh && now_ns >= next_list_ns_ - kHousekeepingNs + kMs) RefreshThreads(now_ns);
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

void Sampler::Record(Thread& thread, bool exact, int64_t now_ns) {
  if (!thread.skip) {
    const auto frames = thread.stack->frames();
    const size_t keep = std::min(thread.stack->unchanged(), thread.path.size());
    thread.path.resize(keep);
    NodeId node = keep == 0 ? kNoNode : thread.path.back();
    for (size_t i = keep; i < frames.size(); ++i) {
      const StackFrame& frame = frames[i];
      if (!frame.code->shim)
        node = trie_.Intern(node, frame.code->id, frame.code->LineAt(frame.unit));
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
  RefreshThreads(now_ns);
  ChoosePlace(now_ns);
  if (now_ns >= next_names_ns_) {
    next_names_ns_ = now_ns + kNamesNs;
    RefreshNames();
  }
  VerifyStacks(now_ns);
  if (now_ns >= next_verify_ns_) {
    next_verify_ns_ = now_ns + kVerifyNs;
    if (codes_->VerifyAll(now_ns, now_ns - kVerifyNs / 2) != 0) {
      for (auto& thread : threads_) thread->decided = false;
    }
  }
}

// The code objects on the stacks of now, by one read: a frame whose words do not change would hide
// that its code is another.
void Sampler::VerifyStacks(int64_t now_ns) {
  on_stack_.clear();
  for (auto& thread : threads_) {
    for (const StackFrame& frame : thread->stack->frames()) {
      Code* code = codes_->Find(frame.code->address);
      if (code == frame.code && code->verified_ns < now_ns - kHousekeepingNs / 2) {
        code->verified_ns = now_ns;  // once each
        on_stack_.push_back(code);
      }
    }
  }
  if (codes_->VerifyEach(on_stack_, now_ns) != 0) {
    for (auto& thread : threads_) thread->decided = false;
  }
}

// The samples say where a thread's CPU time went; its own clock says how much there was.
void Sampler::Calibrate(int64_t now_ns) {
  for (auto& thread : threads_) {
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
  Calibrate(now_ns);
  Batch batch;
  batch.begin_ns = batch_begin_ns_;
  batch.end_ns = batch_begin_ns_ = now_ns;
  batch.cells = cells_.Take();
  size_t known = 0;
  auto add_codes = [&](const CodeCache& cache) {
    for (const auto& code : cache.all()) {
      if (known++ >= sent_codes_) batch.codes.push_back(code.get());
    }
  };
  if (sent_codes_ < next_code_) {
    for (const auto& cache : old_codes_) add_codes(*cache);
  } else {
    known = next_code_;
  }
  if (codes_) {
    const auto& all = codes_->all();
    for (size_t i = sent_codes_ > known ? sent_codes_ - known : 0; i < all.size(); ++i) {
      batch.codes.push_back(all[i].get());
    }
    known += all.size();
  }
  sent_codes_ = known;
  batch.nodes.assign(trie_.nodes().begin() + static_cast<ptrdiff_t>(sent_nodes_),
                     trie_.nodes().end());
  sent_nodes_ = trie_.nodes().size();
  batch.threads = std::exchange(events_, {});
  batch.pythons = std::exchange(pythons_, {});
  batch.diagnostics = std::exchange(diagnostics_, {});
  batch.totals = totals_;
  batch.totals.system_calls = memory_->calls();
  if (ready_) batch.totals.sampled_ns += now_ns - sampling_since_ns_;
  queue_->Push(std::move(batch));
}

}  // namespace linescope
