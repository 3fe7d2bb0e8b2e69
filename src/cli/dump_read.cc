#include "cli/dump_read.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "native/unwinder.h"
#include "process/namespaces.h"
#include "process/procfs.h"
#include "process/remote_memory.h"
#include "process/thread_rest.h"
#include "python/runtime.h"
#include "python/stack_reader.h"
#include "python/thread_ids.h"
#include "python/thread_list.h"
#include "python/thread_names.h"
#include "sampler/native_names.h"
#include "sampler/native_stacks.h"
#include "sampler/stopper.h"

namespace linescope {
namespace {

// For a thread that cannot be stopped at once: in uninterruptible sleep, or without a CPU.
constexpr int64_t kStopTimeoutNs = 200'000'000;
constexpr int kReadAttempts = 4;
// New threads may appear while the others are being stopped.
constexpr int kListAttempts = 4;
// A sleeper may wake up while it is read; in the last round nobody can.
constexpr int kRounds = 3;

// While it lives, no signal of job control stops us, and with us the target that we have stopped;
// and SIGCHLD, by which Stopper learns of stops, waits to be asked for. Threads begun meanwhile
// inherit this.
class SignalShield {
 public:
  SignalShield() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU}) sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    // Of an ignored signal the kernel sends no notice.
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &action, &child_);
  }
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;
  ~SignalShield() {
    ::sigaction(SIGCHLD, &child_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
  struct sigaction child_;
};

class Dumper {
 public:
  explicit Dumper(const DumpOptions& options) : options_(options) {}

  Result<ProcessDump> Take();

 private:
  struct Thread {
    PythonThread python;
    int tid = 0;  // in our pid namespace
    std::optional<ThreadStat> stat;
    ThreadRest rest;
    ThreadRest::Mark mark;  // before it was read, and stopped
    char letter = '?';      // its state in /proc then
    bool asked_to_stop = false;
    std::unique_ptr<StackReader> stack;
    bool exact = false;  // it stands still; while it is being read: so it is expected
    Decision decision = Decision::kAgain;
    std::vector<FrameVariables> variables;  // as stack->frames()
    NativeThread native;
    std::vector<std::byte> native_stack;      // what was read of it
    std::vector<NativeStacks::Frame> merged;  // root first
    std::string native_note;
  };

  Status Find();
  void ListThreadStates();
  static void MarkThread(Thread& thread);
  Status ReadAtRest(bool may_stop);
  Status StopThreads(bool all);
  std::vector<Thread*> Moved();
  void ReadStacks();
  void DecideStacks();
  void ReadStack(Thread& thread);
  void ReadVariables(Thread& thread);
  void ReadNativeStack(Thread& thread);
  void MergeNative(Thread& thread);
  void AddNativeFrames(uint32_t location, std::vector<DumpFrame>* frames) const;
  void Describe();
  [[nodiscard]] DumpThread DescribeThread(const Thread& thread) const;

  const DumpOptions& options_;
  ProcessDump dump_;
  uint64_t start_ticks_ = 0;
  int process_threads_ = 0;
  std::unique_ptr<RemoteMemory> memory_;
  std::optional<PythonRuntime> runtime_;
  std::unique_ptr<CodeCache> codes_;
  std::optional<LocalsReader> locals_;
  NativeRegistry registry_;
  std::unique_ptr<NativeStacks> native_;
  std::vector<std::vector<NativeFunction>> native_functions_;  // by the registry's locations
  ThreadList list_;
  std::optional<ThreadIds> ids_;
  std::vector<Thread> threads_;
  std::unordered_map<Address, Address> gil_holders_;  // by interpreter
  Stopper stopper_;
  std::optional<int64_t> stop_begin_ns_;
};

Status Dumper::Find() {
  const int pid = options_.pid;
  const auto found = ReadStat(pid);
  if (!found && found.error().code == ErrorCode::kGone) {
    return Fail(ErrorCode::kGone, "there is no process {}", pid);
  }
  LS_TRY(stat, found);
  LS_TRY(memory, OpenRemoteMemory(pid));
  memory_ = std::move(memory);
  start_ticks_ = stat.start_ticks;
  process_threads_ = stat.threads;
  dump_.started_unix_ns = StartUnixNs(stat);
  LS_TRY(runtime, FindRuntime(pid, memory_.get()));
  if (ProbeRuntime(memory_.get(), runtime.table, runtime.address) != RuntimeState::kReady) {
    return Fail(ErrorCode::kNotPython,
                "process {} has a Python interpreter mapped ({}), but has not started it", pid,
                runtime.file);
  }
  CompleteRuntime(pid, memory_.get(), &runtime);
  runtime_ = std::move(runtime);
  dump_.warnings = runtime_->warnings;
  codes_ = std::make_unique<CodeCache>(memory_.get(), &runtime_->table);
  if (options_.locals) locals_.emplace(memory_.get(), &runtime_->table);
  ids_.emplace(pid, memory_.get(), &runtime_->table);
  if (options_.native) {
    LS_CHECK_OK(CheckUnwinding());
    native_ = std::make_unique<NativeStacks>(pid, memory_.get(), *runtime_, &registry_);
  }
  return {};
}

// Takes in the threads that are new since the last call, with what the kernel says of them now, and
// leaves out those that ended.
void Dumper::ListThreadStates() {
  if (!ReadThreadList(memory_.get(), runtime_->table, runtime_->address, &list_)) return;
  std::erase_if(threads_, [&](const Thread& thread) {
    return std::ranges::find(list_.threads, thread.python) == list_.threads.end();
  });
  for (const PythonThread& info : list_.threads) {
    if (std::ranges::any_of(threads_, [&](const Thread& t) { return t.python == info; })) continue;
    Thread thread;
    thread.python = info;
    thread.tid = ids_->Find(info, list_.threads.size() == 1);
    if (thread.tid == 0) continue;  // it has ended meanwhile
    if (auto stat = ThreadStat::Open(options_.pid, thread.tid)) thread.stat = std::move(*stat);
    thread.rest = ThreadRest::Open(options_.pid, thread.tid);
    MarkThread(thread);
    thread.stack = MakeStackReader(memory_.get(), &runtime_->table, codes_.get(), info);
    threads_.push_back(std::move(thread));
  }
}

void Dumper::MarkThread(Thread& thread) {
  thread.mark = thread.rest.Read();
  ThreadStat::Sample sample;
  thread.letter = thread.stat && thread.stat->Read(&sample) ? sample.state : '?';
  // The letter may be a moment older or younger; of a thread at rest, which proves that it stayed
  // so, it is right.
  if (!thread.mark.off_cpu && thread.rest.available()) thread.letter = 'R';
}

void Dumper::ReadStack(Thread& thread) {
  std::vector<RemoteRange> ranges;
  std::vector<std::byte> bytes;
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ranges.clear();
    thread.stack->Plan(thread.exact, &ranges);
    bytes.resize(thread.stack->planned_bytes());
    if (memory_->Read(ranges, bytes.data()) != static_cast<ssize_t>(bytes.size())) {
      thread.stack->ResetPrediction();
      thread.decision = Decision::kUnreadable;
      continue;
    }
    thread.decision = thread.stack->Decide(bytes.data(), thread.exact, MonotonicNs());
    if (thread.decision == Decision::kOk || thread.decision == Decision::kGone) return;
  }
}

void Dumper::ReadVariables(Thread& thread) {
  thread.variables.clear();
  if (!locals_ || thread.decision != Decision::kOk) return;
  thread.variables = locals_->Read(thread.stack->frames());
}

void Dumper::ReadNativeStack(Thread& thread) {
  thread.native.planned = false;
  if (thread.decision != Decision::kOk || !thread.exact) return;
  std::vector<RemoteRange> ranges;
  if (!native_->Plan(thread.tid, stopper_.IsStopped(thread.tid), &thread.native, &ranges)) return;
  thread.native_stack.resize(thread.native.stack.size);
  thread.native.planned = memory_->Read(ranges, thread.native_stack.data()) ==
                          static_cast<ssize_t>(thread.native_stack.size());
}

// Once the process goes on.
void Dumper::MergeNative(Thread& thread) {
  if (thread.decision != Decision::kOk) return;
  const bool read = thread.native.planned && thread.exact;
  const MergeResult result =
      native_->Merge(&thread.native, read ? thread.native_stack.data() : nullptr, *thread.stack,
                     KeepRoots::kYes, &thread.merged);
  if (!read) {
    thread.native_note = "native frames could not be read, because the thread was not stopped";
  } else if (result == MergeResult::kCut) {
    thread.native_note = fmt::format("native frames end early: {}", UnwindEndName(native_->end()));
  } else if (result == MergeResult::kMismatch) {
    thread.native_note = "native frames do not fit the Python ones, and are shown above them only";
  }
}

void Dumper::AddNativeFrames(uint32_t location, std::vector<DumpFrame>* frames) const {
  const auto& functions = native_functions_[location];
  for (size_t i = functions.size(); i-- > 0;) {
    DumpFrame frame;
    frame.function = frame.name = functions[i].name;
    frame.file = functions[i].file;
    frame.first_line = functions[i].first_line;
    if (functions[i].line != 0) frame.line = functions[i].line;
    frame.native = true;
    frames->push_back(std::move(frame));
  }
}

void Dumper::ReadStacks() {
  DecideStacks();
  std::vector<Code*> codes;
  for (const auto& code : codes_->all()) {
    if (codes_->Find(code->address) == code.get()) codes.push_back(code.get());
  }
  // New code may have come to the place of old since that was read.
  if (codes_->VerifyEach(codes, MonotonicNs()) != 0) DecideStacks();
}

void Dumper::DecideStacks() {
  gil_holders_.clear();
  for (const PythonInterpreter& interpreter : list_.interpreters) {
    gil_holders_[interpreter.address] =
        ReadGilHolder(memory_.get(), runtime_->table, runtime_->address, interpreter.address);
  }
  for (Thread& thread : threads_) {
    thread.exact = stopper_.IsStopped(thread.tid) || thread.mark.off_cpu;
    ReadStack(thread);
  }
}

// The threads that were to be at rest, and were not.
std::vector<Dumper::Thread*> Dumper::Moved() {
  std::vector<Thread*> moved;
  for (Thread& thread : threads_) {
    const bool stopped = stopper_.IsStopped(thread.tid);
    if (!stopped && thread.exact && thread.rest.Read() != thread.mark) moved.push_back(&thread);
  }
  return moved;
}

// Stops the threads that are not at rest, or all; and those that appear meanwhile.
Status Dumper::StopThreads(bool all) {
  for (int attempt = 0; attempt < kListAttempts; ++attempt) {
    std::set<int> tids;  // a thread may have a state in several interpreters
    for (Thread& thread : threads_) {
      if ((thread.mark.off_cpu && !all) || std::exchange(thread.asked_to_stop, true)) continue;
      if (!stopper_.IsStopped(thread.tid)) tids.insert(thread.tid);
    }
    if (tids.empty()) return {};
    if (!stop_begin_ns_) stop_begin_ns_ = MonotonicNs();
    const Status stopped =
        stopper_.StopAll(std::vector<int>(tids.begin(), tids.end()), kStopTimeoutNs);
    if (!stopped && stopped.error().code == ErrorCode::kDenied) return stopped;
    ListThreadStates();
  }
  return {};
}

// Reads all threads as they are at one moment. A thread that sleeps needs no stop for that, nor the
// wake-up that goes with it: it proves afterwards that it slept on. If not, there is another round.
// With `may_stop`, what runs is stopped; to be called in a thread of its own then, because the
// kernel lets go whatever a thread has stopped, or was about to stop, when that thread ends.
Status Dumper::ReadAtRest(bool may_stop) {
  // What does not change, the code objects, is read ahead of a stop.
  ListThreadStates();
  ReadStacks();
  if (locals_) {
    for (const auto& code : codes_->all()) locals_->Learn(*code);
  }
  for (int round = 1;; ++round) {
    for (Thread& thread : threads_) {
      if (!stopper_.IsStopped(thread.tid)) MarkThread(thread);
    }
    ListThreadStates();  // now that no thread at rest can start or end another
    const bool last = round == kRounds;
    if (may_stop) {
      if (Status stopped = StopThreads(last); !stopped) {
        stopper_.ContinueAll();
        return stopped;
      }
    }
    ReadStacks();
    if (locals_ && !last && !Moved().empty()) continue;  // before more is read for nothing
    for (Thread& thread : threads_) ReadVariables(thread);
    if (native_) {
      for (Thread& thread : threads_) ReadNativeStack(thread);
    }
    const std::vector<Thread*> moved = Moved();
    if (moved.empty()) break;
    if (!last) continue;
    for (Thread* thread : moved) {
      thread->exact = false;
      ReadStack(*thread);
      ReadVariables(*thread);
    }
    break;
  }
  stopper_.ContinueAll();
  if (stop_begin_ns_) dump_.stopped_ns = MonotonicNs() - *stop_begin_ns_;
  return {};
}

DumpThread Dumper::DescribeThread(const Thread& thread) const {
  DumpThread out;
  out.tid = thread.tid;
  out.ident = thread.python.pthread_id;
  out.is_main = thread.tid == options_.pid;
  for (const PythonInterpreter& interpreter : list_.interpreters) {
    if (interpreter.address == thread.python.interpreter) out.interpreter = interpreter.id;
  }
  if (auto name = ReadThreadName(options_.pid, thread.tid)) out.name = *name;
  const auto holder = gil_holders_.find(thread.python.interpreter);
  if (holder != gil_holders_.end() && holder->second != kGilUnknown) {
    out.holds_gil = holder->second == thread.python.tstate;
  }
  if (thread.decision == Decision::kOk) {
    out.stack = thread.exact ? DumpThread::Stack::kExact : DumpThread::Stack::kRunning;
    const auto frames = thread.stack->frames();
    auto add = [&](size_t i) {
      const Code& code = *frames[i].code;
      if (code.shim) return;
      DumpFrame frame{code.qualified_name, code.name, code.file, code.first_line, {}, {}};
      if (const int32_t line = code.LineAt(frames[i].unit); line != 0) frame.line = line;
      if (locals_ && i < thread.variables.size()) frame.locals = thread.variables[i];
      out.frames.push_back(std::move(frame));
    };
    if (!native_) {
      for (size_t i = frames.size(); i-- > 0;) add(i);
    }
    for (size_t i = thread.merged.size(); i-- > 0;) {
      const NativeStacks::Frame& frame = thread.merged[i];
      if (frame.python != nullptr) {
        add(static_cast<size_t>(frame.python - frames.data()));
      } else {
        AddNativeFrames(frame.location, &out.frames);
      }
    }
    out.native_note = thread.native_note;
  }
  switch (thread.letter) {
    case 'R':
      out.state = DumpThread::State::kRunning;
      break;
    case 'S':
    case 'D':
    case 'I': {
      const bool idle = out.stack != DumpThread::Stack::kUnknown && !out.runs_python();
      out.state = idle ? DumpThread::State::kIdle : DumpThread::State::kWaiting;
      break;
    }
    case 'T':
    case 't':
      out.state = DumpThread::State::kStopped;
      break;
    default:
      break;
  }
  return out;
}

void Dumper::Describe() {
  const int pid = dump_.pid = options_.pid;
  dump_.taken_unix_ns = RealtimeNs();
  dump_.command = ReadCommandLine(pid).value_or(std::vector<std::string>());
  dump_.namespace_pids = NamespacePids(pid);
  dump_.executable = ReadExe(pid).value_or("");
  dump_.working_directory = ReadWorkingDirectory(pid).value_or("");
  dump_.python_version = DescribePython(memory_.get(), *runtime_);
  dump_.python_file = runtime_->file;
  dump_.native = native_ != nullptr;
  dump_.locals = locals_.has_value();
  if (native_) {
    for (Thread& thread : threads_) MergeNative(thread);
    NativeNames names;
    for (NativeModule& module : registry_.TakeModules()) names.Add(std::move(module));
    for (const NativeLocation& location : registry_.TakeLocations()) {
      native_functions_.push_back(names.At(location));
    }
  }
  std::map<std::pair<int64_t, uint64_t>, std::string> names;
  for (const PythonInterpreter& interpreter : list_.interpreters) {
    for (auto& [ident, name] :
         ReadThreadNames(memory_.get(), runtime_->table, interpreter.modules)) {
      if (!name.empty()) names[{interpreter.id, ident}] = std::move(name);
    }
  }
  for (const Thread& thread : threads_) {
    if (thread.decision == Decision::kGone) continue;
    dump_.threads.push_back(DescribeThread(thread));
    DumpThread& described = dump_.threads.back();
    const auto name = names.find({described.interpreter, described.ident});
    if (name != names.end()) described.name = name->second;
  }
  // Python 3.11 writes its maker's id into the state of a new thread, which the thread corrects.
  std::set<std::pair<int, int64_t>> with_frames;
  for (const DumpThread& thread : dump_.threads) {
    if (thread.runs_python()) with_frames.emplace(thread.tid, thread.interpreter);
  }
  std::erase_if(dump_.threads, [&](const DumpThread& thread) {
    return !thread.runs_python() && with_frames.contains({thread.tid, thread.interpreter});
  });
  std::ranges::sort(dump_.threads, [](const DumpThread& a, const DumpThread& b) {
    return std::tuple(!a.is_main, a.tid, a.interpreter) <
           std::tuple(!b.is_main, b.tid, b.interpreter);
  });
  std::set<int> tids;
  for (const DumpThread& thread : dump_.threads) tids.insert(thread.tid);
  dump_.other_threads = std::max(0, process_threads_ - static_cast<int>(tids.size()));
}

Result<ProcessDump> Dumper::Take() {
  LS_CHECK_OK(Find());
  Status stopped;
  if (options_.consistency == DumpConsistency::kFree) {
    ReadAtRest(false).value();
  } else {
    const SignalShield shield;
    std::thread([&] { stopped = ReadAtRest(true); }).join();
  }
  if (!stopped && options_.consistency == DumpConsistency::kStop) {
    return Fail(stopped.error().code,
                "process {} cannot be stopped ({}); --consistency free needs no stop", options_.pid,
                stopped.error().what);
  }
  if (!stopped) {
    dump_.warnings.push_back(fmt::format(
        "what runs was read as it ran, because it cannot be stopped ({})", stopped.error().what));
    stop_begin_ns_.reset();
    ReadAtRest(false).value();
  }
  const auto stat = ReadStat(options_.pid);
  if (!stat || stat->start_ticks != start_ticks_ || stat->has_ended()) {
    return Fail(ErrorCode::kGone, "process {} ended while it was read", options_.pid);
  }
  Describe();
  return std::move(dump_);
}

}  // namespace

Result<ProcessDump> TakeDump(const DumpOptions& options) { return Dumper(options).Take(); }

const char* StateName(DumpThread::State state) {
  switch (state) {
    case DumpThread::State::kRunning:
      return "running";
    case DumpThread::State::kWaiting:
      return "waiting";
    case DumpThread::State::kIdle:
      return "idle";
    case DumpThread::State::kStopped:
      return "stopped";
    case DumpThread::State::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace linescope
