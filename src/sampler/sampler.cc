#include "sampler/sampler.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "base/clock.h"
#include "process/blocked_call.h"
#include "process/namespaces.h"
#include "process/procfs.h"
#include "process/signals.h"
#include "python/thread_names.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;
// Below, a sleep is more exact than a wait for events, and ends soon by itself.
constexpr int64_t kShortWaitNs = 2 * kMs;
constexpr int64_t kHousekeepingNs = 100 * kMs;
// The width of the finest time bucket: a batch belongs into one bucket.
constexpr int64_t kFlushNs = 100 * kMs;
constexpr int64_t kVerifyNs = 1000 * kMs;
constexpr int64_t kNamesNs = 2000 * kMs;
constexpr int64_t kFileSearchNs = 20 * kMs;
constexpr int64_t kScanNs = 1000 * kMs;
constexpr int64_t kFirstSearchNs = kMs / 2;
// A program gets its interpreter soon after it has begun, as a rule.
constexpr int64_t kYoungNs = 2000 * kMs;
// Most forks execute another program sooner than this, and need not be looked at before.
constexpr int64_t kForkToExecNs = 2 * kMs;
constexpr int64_t kSilentForkNs = 100 * kMs;
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
    : options_(std::move(options)),
      memory_(std::move(memory)),
      queue_(queue),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Sampler::RequestStop() {
  stop_.store(true, std::memory_order_relaxed);
  const uint64_t one = 1;
  (void)!::write(stop_event_.get(), &one, sizeof one);
}

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
    // Long waits in pieces, for the rings of context-switch records.
    const int64_t now = MonotonicNs();
    if (now >= deadline_ns) return true;
    const int64_t until = std::min(deadline_ns, now + 50 * kMs);
    if (options_.tree || until - now > kShortWaitNs) {
      const timespec rest{(until - now) / 1'000'000'000, (until - now) % 1'000'000'000};
      pollfd events[2] = {{stop_event_.get(), POLLIN, 0}, {-1, POLLIN, 0}};
      if (options_.tree) events[1].fd = options_.tree->fd();
      if (::ppoll(events, 2, &rest, nullptr) > 0) {
        tree_has_news_ |= events[1].revents != 0;
        return !stop_.load(std::memory_order_relaxed);
      }
    } else {
      const timespec at{until / 1'000'000'000, until % 1'000'000'000};
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
    if (until == deadline_ns) return !stop_.load(std::memory_order_relaxed);
    // They would overflow between two ticks of a low rate.
    PollAll(until);
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
  // Found a moment ago, perhaps by a scan, which is not done again so soon.
  if (root.runtime) root.next_file_search_ns = batch_begin_ns_ + kFileSearchNs;
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
      if (thread->outermost) ReportThread(ThreadEvent::Kind::kEnded, *target, *thread, now);
    }
    EndTasks(*target, now);
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
  const int tid = thread.tid;
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
    target.next_file_search_ns = MonotonicNs() + kFileSearchNs;
    if (!found) {
      // That it has ended does not say why it was not read before.
      if (found.error().code != ErrorCode::kGone) target.search_error = found.error();
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
  target.ids.emplace(target.pid, memory, &target.runtime->table);
  MakeTasks(target);
  if (options_.native) {
    target.native = std::make_unique<NativeStacks>(target.pid, memory, *target.runtime, &native_);
  }
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
  if (target.runtime->table.free_threaded && options_.gil) {
    target.runtime->warnings.push_back(fmt::format(
        "process {} runs a free-threaded build of Python, which has no GIL: --mode gil counts "
        "nothing of it; --mode cpu does",
        target.pid));
  }
  const std::vector<int>& pids = target.ids->process_ids();
  if (pids.size() > 1 && ++nested_told_ <= kMaxExplained) {
    diagnostics_.push_back({"info", fmt::format("process {}", DescribePid(target.pid, pids))});
  }
  pythons_.push_back({target.index, DescribePython(memory, *target.runtime), target.runtime->file,
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
  target.gil_was_off = false;
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
  const auto& threads = target.list.threads;
  if (std::ranges::any_of(threads, [&](const PythonThread& thread) {
        return thread.native_id == target.own_tid;
      })) {
    return true;
  }
  // Some programs never tell their interpreter that they have forked. What has not executed another
  // program by now is one of those.
  if (MonotonicNs() - target.started_ns < kSilentForkNs) return false;
  ThreadIds ids(target.pid, target.memory.get(), &target.runtime->table);
  return std::ranges::any_of(threads, [&](const PythonThread& thread) {
    return ids.Find(thread, threads.size() == 1) == target.pid;
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
    if (thread->outermost) ReportThread(ThreadEvent::Kind::kEnded, target, *thread, now);
  }
  EndTasks(target, now);
  target.threads.clear();
  target.words.clear();
  target.gil_holders = 0;
  target.native.reset();
  target.codes.reset();
  target.runtime.reset();
  target.copied = false;
  target.ready = false;
  target.search_step_ns = kFirstSearchNs;
  target.next_search_ns = now + kFirstSearchNs;
}

void Sampler::RefreshThreads(Target& target, int64_t now_ns) {
  target.next_list_ns = now_ns + kHousekeepingNs;
  const layout::Table& table = target.runtime->table;
  // As a rule nothing has changed, which one call tells.
  if (ThreadListStands(target.memory.get(), table, target.runtime->address, target.list) &&
      target.threads.size() == target.list.threads.size()) {
    return;
  }
  if (!ReadThreadList(target.memory.get(), table, target.runtime->address, &target.list)) return;
  AdoptInterpreters(target);
  AdoptThreads(target, now_ns);
}

// An interpreter at the address of another may have another GIL.
void Sampler::AdoptInterpreters(Target& target) {
  target.words.clear();
  for (const PythonInterpreter& interpreter : target.list.interpreters) {
    target.words.push_back(std::make_unique<InterpreterWords>(
        target.memory.get(), &target.runtime->table, target.runtime->address, interpreter.address));
  }
}

void Sampler::AdoptThreads(Target& target, int64_t now_ns) {
  RemoteMemory* memory = target.memory.get();
  std::vector<std::unique_ptr<Thread>> kept;
  std::vector<const PythonThread*> unknown;
  kept.reserve(target.list.threads.size());
  std::unordered_map<Address, size_t> places;
  for (size_t i = 0; i < target.threads.size(); ++i) {
    places.emplace(target.threads[i]->python.tstate, i);
  }
  bool fresh = false;
  for (const PythonThread& info : target.list.threads) {
    const auto place = places.find(info.tstate);
    if (place != places.end() && target.threads[place->second] &&
        target.threads[place->second]->python == info) {
      kept.push_back(std::move(target.threads[place->second]));
    } else {
      unknown.push_back(&info);
    }
  }
  // What a thread has in other interpreters, or left in this one. Until 3.11 a second state in one
  // and the same is that of a thread that is about to begin: it has its maker's id at first.
  const bool takes_makers_id = target.runtime->table.minor <= 11;
  auto same_thread = [&](const PythonThread& info) -> const Thread* {
    const Thread* elsewhere = nullptr;
    for (const auto& thread : kept) {
      if (thread->python.native_id != info.native_id) continue;
      if (takes_makers_id && thread->python.interpreter == info.interpreter) return nullptr;
      elsewhere = thread.get();
    }
    return elsewhere;
  };
  auto make = [&](uint32_t index, const PythonThread& info, int tid) {
    return std::make_unique<Thread>(index, target.pid, info, tid, memory, &target.runtime->table,
                                    target.codes.get(), options_.switch_records);
  };
  for (const PythonThread* const state : unknown) {
    const PythonThread& info = *state;
    if (const Thread* known = same_thread(info)) {
      kept.push_back(make(known->index, info, known->tid));
      kept.back()->last_ns = known->last_ns;
      continue;
    }
    // It has ended; or this is a copy, which lists the threads of its parent for a moment.
    const int tid = target.ids->Find(info, target.list.threads.size() == 1);
    if (tid == 0) continue;
    const bool is_main = tid == target.pid;
    auto thread = make(next_thread_++, info, tid);
    // A fork's only thread is there since the fork.
    const bool since_fork =
        target.copied && is_main && !target.had_threads && now_ns - target.started_ns < kUnseenNs;
    thread->last_ns = since_fork ? std::min(target.started_ns, now_ns) : now_ns;
    if (auto name = ReadThreadName(target.pid, tid)) thread->name = *name;
    ReportThread(ThreadEvent::Kind::kStarted, target, *thread, thread->last_ns);
    kept.push_back(std::move(thread));
    fresh = true;
  }
  if (std::ranges::any_of(target.threads, [](const auto& thread) { return thread != nullptr; })) {
    Calibrate(target, now_ns);
  }
  for (auto& thread : target.threads) {
    if (!thread || !thread->outermost) continue;
    const bool left =
        std::ranges::any_of(kept, [&](const auto& state) { return state->index == thread->index; });
    if (!left) ReportThread(ThreadEvent::Kind::kEnded, target, *thread, now_ns);
  }
  target.threads = std::move(kept);
  LinkStates(target);
  target.gil_holders = 0;
  target.reads_gil = !InterpreterWords::ThreadsTell(target.runtime->table);
  for (auto& thread : target.threads) {
    const auto words = std::ranges::find(target.words, thread->python.interpreter,
                                         [](const auto& each) { return each->interpreter(); });
    thread->words = words == target.words.end() ? nullptr : words->get();
    target.gil_holders += thread->holds_gil.value_or(false) ? 1 : 0;
    // A long sleep ends unnoticed for a while then, but for the GIL that the thread takes.
    target.reads_gil |= !thread->cpu.has_records();
  }
  if (!target.threads.empty()) target.had_threads = true;
  // A thread enters threading._active a moment after its thread state appears.
  if (fresh) {
    target.names_wait_ns = 5 * kMs;
    target.next_names_ns = std::min(target.next_names_ns, now_ns + target.names_wait_ns);
  }
}

// Puts the states of each thread behind each other. Interpreters are entered in the order of their
// making, as a rule: the first one is the program's, whose threads go into others.
void Sampler::LinkStates(Target& target) {
  auto interpreter = [&](const Thread& thread) {
    const auto found = std::ranges::find(target.list.interpreters, thread.python.interpreter,
                                         &PythonInterpreter::address);
    return found == target.list.interpreters.end() ? 0 : found->id;
  };
  std::ranges::stable_sort(target.threads, [&](const auto& a, const auto& b) {
    return std::tuple(a->index, interpreter(*a)) < std::tuple(b->index, interpreter(*b));
  });
  const Thread* before = nullptr;
  for (auto& thread : target.threads) {
    thread->outermost = before == nullptr || before->index != thread->index;
    before = thread.get();
  }
  for (size_t i = 0; i < target.threads.size(); ++i) {
    target.threads[i]->innermost =
        i + 1 == target.threads.size() || target.threads[i + 1]->outermost;
  }
}

bool Sampler::RefreshNames(Target& target) {
  bool all = true;
  for (const PythonInterpreter& interpreter : target.list.interpreters) {
    const auto names =
        ReadThreadNames(target.memory.get(), target.runtime->table, interpreter.modules);
    for (auto& thread : target.threads) {
      if (thread->python.interpreter != interpreter.address || !thread->outermost) continue;
      const auto it = names.find(thread->python.pthread_id);
      all &= it != names.end();
      if (it == names.end() || it->second.empty() || it->second == thread->name) continue;
      thread->name = it->second;
      ReportThread(ThreadEvent::Kind::kRenamed, target, *thread, MonotonicNs());
    }
  }
  return all;
}

// Importing an extension that is not made for free threading switches the GIL on.
void Sampler::NoticeGil(Target& target) {
  if (target.list.interpreters.empty()) return;
  const auto enabled = ReadGilEnabled(target.memory.get(), target.runtime->table,
                                      target.list.interpreters.back().address);
  if (!enabled) return;
  if (*enabled && std::exchange(target.gil_was_off, false)) {
    diagnostics_.push_back(
        {"warning", fmt::format("the GIL of process {} was switched on while it ran: an extension "
                                "that it imported is not made for free threading",
                                target.pid)});
  } else if (!*enabled) {
    target.gil_was_off = true;
  }
}

// Pinned beside the busy thread, if there is one among all processes, or free. See Consistency.
void Sampler::ChoosePlace(int64_t now_ns) {
  next_place_ns_ = now_ns + kHousekeepingNs;
  if (options_.consistency == Consistency::kFree || options_.consistency == Consistency::kStop ||
      options_.native)
    return;
  if (options_.consistency == Consistency::kAuto && options_.rate_hz > kPinnedMaxRate) return;
  Thread* busiest = nullptr;
  int64_t total = 0;
  const int64_t window = now_ns - window_begin_ns_;
  for (auto& target : targets_) {
    for (auto& thread : target->threads) {
      if (!thread->outermost) continue;
      if (!thread->cpu.has_records() && !thread->cpu.rests()) thread->cpu.Ask();
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
  const bool stops = stop_mode || options_.native;
  ranges_.clear();
  size_t total = 0;
  const Thread* first = nullptr;  // of the states of one thread
  for (auto& thread : target.threads) {
    thread->cpu.Poll(now_ns);
    const bool off = thread->cpu.rests();
    thread->switches_before = thread->cpu.switches();
    thread->skip = off && thread->decided && thread->switches_before == thread->decided_switches;
    thread->exact = thread->skip;
    if (thread->skip) continue;
    thread->moved = true;
    if (stops && !thread->cpu.has_records()) thread->cpu.Look(now_ns);  // stopped, it tells nothing
    if (thread->outermost) first = thread.get();
    thread->stopped =
        stop_mode && (thread->outermost ? stopper_.Stop(thread->tid) : first->stopped);
    if (target.native && thread->outermost && thread->innermost) {
      PlanNative(target, *thread, off, &total);
    }
    thread->expect_exact = off || thread->stopped || pinning_.pinned_cpu() >= 0;
    thread->offset = total;
    thread->stack->Plan(thread->expect_exact, &ranges_);
    total += thread->stack->planned_bytes();
  }
  const size_t words_offset = total;
  for (auto& words : target.words) {
    words->Plan({.gil = target.reads_gil, .gc = options_.gc && total != 0}, &ranges_);
    total += words->planned_bytes();
  }
  bool complete = true;
  std::byte* bytes = nullptr;
  if (total != 0) {
    target.moved |= words_offset != 0;
    target.tasks_moved = true;
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
  for (size_t at = words_offset; auto& words : target.words) {
    words->Take(complete && bytes != nullptr ? bytes + at : nullptr);
    at += words->planned_bytes();
  }
  for (auto& thread : target.threads) {
    if (!thread->skip && !thread->cpu.ended()) {
      Decide(target, *thread, complete ? bytes : nullptr, now_ns);
    }
  }
  for (auto& thread : target.threads) SetHoldsGil(target, *thread);
  // What follows needs nothing more of those that were stopped.
  if (stops) stopper_.ContinueAll();

  bool any = false, owed = false, refresh = false;
  // Of the thread whose states are being counted.
  Thread *outermost = nullptr, *speaker = nullptr;
  NodeId leaf = kNoNode;
  bool all_exact = true, decided = false, dropped = false;
  auto drop = [&](Thread& state, DropReason reason) {
    state.decided = false;
    owed = true;
    if (!std::exchange(dropped, true)) ++totals_.drops[static_cast<size_t>(reason)];
  };
  for (auto& thread : target.threads) {
    if (thread->cpu.ended()) {
      refresh = true;
      continue;
    }
    if (thread->outermost) {
      outermost = speaker = thread.get();
      leaf = kNoNode;
      all_exact = true;
      decided = dropped = false;
    } else {
      thread->last_ns = now_ns;  // for when it is left alone
    }
    switch (thread->skip ? Decision::kOk : thread->decision) {
      case Decision::kOk:
        leaf = Trace(target, *thread, leaf, complete ? bytes : nullptr, now_ns);
        all_exact = all_exact && thread->exact;
        decided = true;
        if (!thread->stack->frames().empty()) speaker = thread.get();
        break;
      case Decision::kGone:
        // The thread has ended, or the interpreter has left it: it owed no sample.
        refresh = true;
        break;
      case Decision::kUnreadable:
        drop(*thread, DropReason::kUnreadable);
        refresh = true;
        break;
      case Decision::kTorn:
      case Decision::kAgain:
        drop(*thread, DropReason::kTorn);
        break;
    }
    if (!thread->innermost || !decided || dropped) continue;
    Count(target, *outermost, *speaker, leaf, all_exact, now_ns);
    any = true;
  }
  CountWaitingTasks(target, now_ns);
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

// What the thread's part of the tick's bytes shows; null: they could not be read.
void Sampler::Decide(Target& target, Thread& thread, const std::byte* bytes, int64_t now_ns) {
  Decision decision = Decision::kAgain;
  const auto decide = [&](const std::byte* image) {
    thread.exact = IsExact(thread, now_ns);
    decision = thread.stack->Decide(image, thread.exact, now_ns);
    // It may have gone on before what was not planned was read.
    if (decision == Decision::kOk && thread.exact && thread.stack->read_late() &&
        !IsExact(thread, now_ns)) {
      decision = Decision::kAgain;
    }
  };
  thread.exact = false;
  if (bytes != nullptr) {
    decide(bytes + thread.offset);
  } else {
    thread.stack->ResetPrediction();
  }
  for (int attempt = 0; decision == Decision::kAgain && attempt < 3; ++attempt) {
    ranges_.clear();
    thread.stack->Plan(thread.expect_exact, &ranges_);
    const size_t size = thread.stack->planned_bytes();
    std::byte* again = again_.Prepare(size, ranges_.front().address);
    if (!thread.stopped) thread.cpu.Poll(now_ns);
    thread.switches_before = thread.cpu.switches();
    if (target.memory->Read(ranges_, again) != static_cast<ssize_t>(size)) {
      thread.stack->ResetPrediction();
      continue;
    }
    decide(again);
  }
  thread.decision = thread.cpu.ended() ? Decision::kGone : decision;
  if (thread.native.planned) ConfirmNative(target, thread);
}

// The registers of the thread, and its stack among what is read: of one that sleeps as the kernel
// tells them, so that it is not woken; any other is stopped until all is read.
void Sampler::PlanNative(Target& target, Thread& thread, bool off, size_t* total) {
  const int tid = thread.tid;
  if (!thread.stopped && !thread.cpu.has_records()) off = thread.cpu.state() == OnCpu::State::kOff;
  NativeThread& native = thread.native;
  const bool blocked = off && !thread.stopped && target.native->Plan(tid, false, &native, &ranges_);
  if (!blocked) {
    if (!thread.stopped) thread.stopped = stopper_.Stop(tid);
    native.planned = thread.stopped && target.native->Plan(tid, true, &native, &ranges_);
  }
  thread.native_switches = thread.switches_before;
  thread.native_offset = *total;
  if (native.planned) *total += native.stack.size;
}

// What was read of a thread that slept belongs together only if it slept on.
void Sampler::ConfirmNative(Target& target, Thread& thread) {
  if (!thread.native.blocked) return;
  const bool slept = thread.exact && (thread.cpu.has_records()
                                          ? thread.cpu.switches() == thread.native_switches
                                          : target.native->StillBlocked(thread.tid, thread.native));
  if (!slept) thread.native.planned = false;
}

// Whether the thread provably did not run between the moment before and the moment after the read.
bool Sampler::IsExact(Thread& thread, int64_t now_ns) {
  if (thread.stopped) return true;  // what it did before is known, and hidden now
  thread.cpu.Look(now_ns);
  if (thread.cpu.rests()) return thread.cpu.switches() == thread.switches_before;
  // Runnable on the very CPU that is running us: it is not running, and we have not left this CPU
  // since the deadline.
  return !thread.cpu.has_records() && thread.cpu.state() == OnCpu::State::kOn &&
         pinning_.pinned_cpu() >= 0 && thread.cpu.cpu() == pinning_.pinned_cpu();
}

// The function that stands on top of a stack while the interpreter collects garbage.
CodeId Sampler::GarbageCollection(const Target& target) {
  if (!garbage_collection_) {
    constexpr char kName[] = "<garbage collection>";
    garbage_collection_ = codes_.IdOf({.process = target.index,
                                       .kind = FunctionKind::kNative,
                                       .shim = true,
                                       .file = "<interpreter>",
                                       .name = kName,
                                       .qualified_name = kName});
  }
  return *garbage_collection_;
}

// Of each thread before any is judged: who waits depends on who holds.
void Sampler::SetHoldsGil(Target& target, Thread& thread) {
  // Its own word cannot change while it sleeps. The GIL's may have said that it was the holder
  // while another became it: `locked` is set first (take_gil in Python/ceval_gil.h).
  std::optional<bool> holds = thread.skip ? thread.holds_gil : thread.stack->holds_gil();
  if (!InterpreterWords::ThreadsTell(target.runtime->table)) {
    const std::optional<Address> holder =
        thread.words != nullptr ? thread.words->gil_holder() : std::nullopt;
    holds = holder ? std::optional(*holder == thread.python.tstate) : std::nullopt;
  }
  target.gil_holders +=
      (holds.value_or(false) ? 1 : 0) - (thread.holds_gil.value_or(false) ? 1 : 0);
  thread.holds_gil = holds;
}

ThreadState Sampler::LookAtState(Target& target, Thread& thread, int64_t now_ns) {
  const std::optional<Address> holder =
      thread.words != nullptr ? thread.words->gil_holder() : std::nullopt;
  if (thread.skip && holder == thread.python.tstate) thread.cpu.NoteAwake();
  ThreadEvidence evidence{.cpu = thread.cpu.state(), .has_frames = thread.leaf != kNoNode};
  const int64_t since_ns = now_ns - thread.cpu.changed_ns();
  evidence.preempted_by_us = evidence.cpu == OnCpu::State::kPreempted && thread.cpu.has_records() &&
                             since_ns < kOwnPreemptionNs;
  evidence.slept_long = since_ns >= OnCpu::kLongSleepNs;
  if (!thread.skip) thread.wants_gil = thread.stack->wants_gil();
  // Nobody waits for a GIL that nobody holds. What a thread sleeps on is asked once a sleep.
  if (!thread.wants_gil && thread.words != nullptr && evidence.cpu == OnCpu::State::kOff &&
      thread.holds_gil == false && target.gil_holders > 0) {
    const auto futex = ReadFutexWait(target.pid, thread.tid);
    thread.wants_gil = futex && thread.words->IsOfGil(*futex);
  }
  evidence.holds_gil = thread.holds_gil;
  evidence.wants_gil = thread.wants_gil.value_or(false);
  evidence.collecting =
      thread.words != nullptr && thread.words->collecting() && thread.holds_gil.value_or(true);
  return StateOf(evidence);
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

// The stack of both kinds of frames, from what the tick has read.
NodeId Sampler::InternMerged(Target& target, Thread& thread, const std::byte* bytes) {
  const std::byte* stack =
      thread.native.planned && bytes != nullptr ? bytes + thread.native_offset : nullptr;
  const MergeResult result =
      target.native->Merge(&thread.native, stack, *thread.stack, KeepRoots::kNo, &merged_);
  NativeMergeCounts& counts = totals_.native;
  if (stack == nullptr) {
    ++counts.unread;
  } else {
    ++(result == MergeResult::kMerged ? counts.merged
       : result == MergeResult::kCut  ? counts.cut
                                      : counts.mismatch);
  }
  NodeId node = kNoNode;
  for (const NativeStacks::Frame& frame : merged_) {
    if (frame.python == nullptr) {
      node = trie_.Intern(node, frame.location | kNativeCode, {});
    } else if (!frame.python->code->shim) {
      node = trie_.Intern(node, RunId(target, *frame.python->code),
                          frame.python->code->RangeAt(frame.python->unit));
    }
  }
  thread.decided = thread.exact && stack != nullptr && thread.cpu.rests();
  return node;
}

void Sampler::MakeTasks(Target& target) {
  if (!options_.tasks) return;
  target.tasks = std::make_unique<TaskStacks>(
      target.pid, target.memory.get(), &target.runtime->table, target.codes.get(),
      TaskStacks::Nodes{.of_frame =
                            [this, &target](NodeId parent, const StackFrame& frame) {
                              return trie_.Intern(parent, RunId(target, *frame.code),
                                                  frame.code->RangeAt(frame.unit));
                            },
                        .of_task =
                            [this, &target](NodeId parent, const std::string& name) {
                              const CodeId id = codes_.IdOf({.process = target.index,
                                                             .kind = FunctionKind::kTask,
                                                             .file = "<task>",
                                                             .name = name,
                                                             .qualified_name = name});
                              return trie_.Intern(parent, id, {});
                            }});
  target.tasks_counted_ns = MonotonicNs();
}

void Sampler::EndTasks(Target& target, int64_t now_ns) {
  target.tasks.reset();
  if (!target.task_thread) return;
  events_.push_back({.kind = ThreadEvent::Kind::kEnded,
                     .process = target.index,
                     .thread = *target.task_thread,
                     .name = {},
                     .at_ns = now_ns});
  target.task_thread.reset();
}

// What waits is no thread's: all waiting tasks of a process are counted as if they were one more
// thread.
void Sampler::CountWaitingTasks(Target& target, int64_t now_ns) {
  if (!target.tasks) return;
  const bool due = target.tasks->Due(now_ns);
  if (due) target.tasks->Look(target.list, std::exchange(target.tasks_moved, false), now_ns);
  // A thread that ran a task nobody knew may have made it look in between.
  const uint64_t looks = target.tasks->looks();
  if (std::exchange(target.tasks_looks, looks) == looks && !due) return;
  const int64_t elapsed = now_ns - std::exchange(target.tasks_counted_ns, now_ns);
  if (!options_.waiting_tasks || target.tasks->waiting().empty()) return;
  if (!target.task_thread) {
    target.task_thread = next_thread_++;
    events_.push_back({.kind = ThreadEvent::Kind::kStarted,
                       .process = target.index,
                       .thread = *target.task_thread,
                       .tid = target.pid,
                       .name = "waiting tasks",
                       .at_ns = now_ns});
  }
  for (const NodeId node : target.tasks->waiting()) {
    cells_.Add(*target.task_thread, node, ThreadState::kWaiting, elapsed, 0);
    ++totals_.samples;
  }
}

// The nodes of the thread's frames; of those that did not change they are known.
NodeId Sampler::Trace(Target& target, Thread& thread, NodeId base, const std::byte* bytes,
                      int64_t now_ns) {
  if (thread.skip && base == thread.base) return thread.leaf;
  if (target.native && thread.outermost && thread.innermost) {
    thread.leaf = InternMerged(target, thread, bytes);
    thread.decided_switches = thread.switches_before;
    return thread.leaf;
  }
  const auto frames = thread.stack->frames();
  const bool same_base = base == std::exchange(thread.base, base);
  size_t keep = same_base ? std::min(thread.stack->unchanged(), thread.path.size()) : 0;
  TaskStacks::Place task;
  if (target.tasks) {
    task = target.tasks->PlaceOf(frames, thread.python.tstate, target.list, now_ns);
    if (task != thread.task) keep = 0;
    thread.task = task;
  }
  thread.path.resize(keep);
  NodeId node = keep == 0 ? base : thread.path.back();
  for (size_t i = keep; i < frames.size(); ++i) {
    const StackFrame& frame = frames[i];
    const bool below_task = task.node != kNoNode && i < task.first;
    if (task.node != kNoNode && i == task.first) node = task.node;
    if (!frame.code->shim && !below_task)
      node = trie_.Intern(node, RunId(target, *frame.code), frame.code->RangeAt(frame.unit));
    thread.path.push_back(node);
  }
  thread.leaf = node;
  if (thread.skip) return node;
  thread.decided = thread.exact && thread.cpu.rests();
  thread.decided_switches = thread.switches_before;
  return node;
}

void Sampler::Count(Target& target, Thread& thread, Thread& speaker, NodeId leaf, bool exact,
                    int64_t now_ns) {
  const ThreadState state = LookAtState(target, speaker, now_ns);
  const bool on_cpu = IsOnCpu(state);
  if (state == ThreadState::kCollecting) leaf = trie_.Intern(leaf, GarbageCollection(target), {});
  const int64_t elapsed = now_ns - thread.last_ns;
  thread.last_ns = now_ns;
  cells_.Add(thread.index, leaf, state, elapsed, on_cpu ? elapsed : 0);
  if (on_cpu) thread.sampled_cpu_ns += elapsed;
  ++totals_.samples;
  if (on_cpu) ++(exact ? totals_.exact : totals_.free);
}

void Sampler::Housekeeping(int64_t now_ns) {
  next_house_ns_ = now_ns + kHousekeepingNs;
  for (auto& target : targets_) {
    // What has not run has not changed either.
    if (!target->ready || !std::exchange(target->moved, false)) continue;
    LookForStops(*target);
    RefreshThreads(*target, now_ns);
    if (target->runtime->table.free_threaded) NoticeGil(*target);
    if (now_ns >= target->next_names_ns) {
      // On a busy machine, or before the program has imported threading, it takes longer.
      const bool all = RefreshNames(*target);
      target->names_wait_ns =
          all ? kNamesNs : std::clamp(2 * target->names_wait_ns, 5 * kMs, kNamesNs);
      target->next_names_ns = now_ns + target->names_wait_ns;
    }
    VerifyStacks(*target, now_ns);
    if (now_ns >= target->next_verify_ns) {
      target->next_verify_ns = now_ns + kVerifyNs;
      if (target->native) target->native->Refresh();
      if (target->codes->VerifyAll(now_ns, now_ns - kVerifyNs / 2) != 0) {
        for (auto& thread : target->threads) thread->decided = false;
      }
    }
  }
}

// A stop is none of the switches that are recorded, and it is the whole process's as a rule: its
// first thread tells.
void Sampler::LookForStops(Target& target) {
  if (target.threads.empty()) return;
  OnCpu& first = target.threads.front()->cpu;
  first.LookForStop();
  if (first.state() != OnCpu::State::kStopped) return;
  for (auto& thread : target.threads) thread->cpu.LookForStop();
}

void Sampler::PollAll(int64_t now_ns) {
  for (auto& target : targets_) {
    for (auto& thread : target->threads) thread->cpu.Poll(now_ns);
  }
}

// The code objects on the stacks of now, by one read: a frame whose words do not change would hide
// that its code is another.
void Sampler::VerifyStacks(Target& target, int64_t now_ns) {
  on_stack_.clear();
  for (auto& thread : target.threads) {
    // What it stands in cannot have gone.
    if (!std::exchange(thread->moved, false)) continue;
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

// The samples say where a thread's CPU time went; its own clock says how much there was. What no
// sample has got goes to the next ones.
void Sampler::Calibrate(Target& target, int64_t now_ns) {
  factors_.clear();
  for (auto& thread : target.threads) {
    if (!thread || !thread->outermost) continue;  // null: it goes on, and has time
    const auto clock = thread->cpu.CpuTimeNs(now_ns);
    const auto before = std::exchange(thread->clock_ns, clock);
    const int64_t sampled = std::exchange(thread->sampled_cpu_ns, 0);
    if (!clock || !before) continue;
    thread->owed_cpu_ns += std::max<int64_t>(0, *clock - *before);
    if (sampled <= 0) continue;
    constexpr double kMostAtOnce = 4;
    const double factor = std::clamp(
        static_cast<double>(thread->owed_cpu_ns) / static_cast<double>(sampled), 0.0, kMostAtOnce);
    thread->owed_cpu_ns -= std::llround(factor * static_cast<double>(sampled));
    factors_.emplace_back(thread->index, factor);
  }
  if (factors_.empty()) return;
  std::ranges::sort(factors_);
  for (auto& cell : cells_.cells()) {
    if (cell.cpu_ns == 0) continue;
    const auto factor = std::ranges::lower_bound(factors_, cell.thread, {}, &Factor::first);
    if (factor == factors_.end() || factor->first != cell.thread) continue;
    cell.cpu_ns = std::llround(static_cast<double>(cell.cpu_ns) * factor->second);
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
  batch.native_modules = native_.TakeModules();
  batch.native_locations = native_.TakeLocations();
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
