#pragma once
// The sampler thread: waits for a deadline, reads all threads of a process that may have moved in
// one call, decides their stacks, counts. In between it follows the tree of processes.
//
// Every deadline is a tick taken or missed; every thread of a tick taken is a sample or a counted
// drop. Nothing is logged or allocated per sample once the target's stacks have been seen.
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "process/process_tree.h"
#include "process/remote_memory.h"
#include "python/interpreter_words.h"
#include "python/runtime.h"
#include "python/stack_reader.h"
#include "python/thread_ids.h"
#include "python/thread_list.h"
#include "sampler/batch.h"
#include "sampler/code_registry.h"
#include "sampler/image_buffer.h"
#include "sampler/native_stacks.h"
#include "sampler/on_cpu.h"
#include "sampler/pinning.h"
#include "sampler/schedule.h"
#include "sampler/session.h"
#include "sampler/stack_trie.h"
#include "sampler/stopper.h"
#include "sampler/task_stacks.h"
#include "sampler/thread_state.h"

namespace linescope {

class Sampler {
 public:
  struct Options {
    int pid = 0;
    std::optional<ProcessTree> tree;  // below `pid`, to be followed; none: that process alone
    double rate_hz = 1000;
    Consistency consistency = Consistency::kAuto;
    bool switch_records = true;  // let the kernel record context switches, where it may
    bool gc = false;             // mark garbage collection
    bool gil = false;            // only time with the GIL counts: say where there is none
    bool native = false;
    // When the interpreter is known already (attach); otherwise it is looked for until it appears.
    std::optional<PythonRuntime> runtime;
    std::vector<std::string> command;  // of `pid`, as long as it cannot be read
    int64_t run_start_ns = 0;          // CLOCK_MONOTONIC: time 0 of the profile
    int64_t start_ns = 0;              // CLOCK_MONOTONIC: no sample is due before
    bool tasks = false;                // stacks of asyncio's tasks
    bool waiting_tasks = false;        // those that wait count too
  };

  // `memory` is that of `options.pid`.
  Sampler(Options options, std::unique_ptr<RemoteMemory> memory, BatchQueue* queue);
  ~Sampler();

  void Start();
  // The thread takes no more samples, hands over what it has, and ends.
  void RequestStop();
  void Join();

  static constexpr double kPinnedMaxRate = 5000;  // above, pinning would cost the target too much
  static constexpr double kSpinAboveRate =
      20000;  // above, a timer wake-up costs more than spinning

 private:
  struct Thread {
    Thread(uint32_t number, int pid, const PythonThread& info, int kernel_id, RemoteMemory* memory,
           const layout::Table* table, CodeCache* codes, bool switch_records)
        : index(number),
          python(info),
          tid(kernel_id),
          stack(MakeStackReader(memory, table, codes, info)),
          cpu(pid, kernel_id, switch_records) {}
    uint32_t index;  // over the whole run; the same for all states of one thread
    // A thread that has gone into another interpreter has a state in each. They follow each other,
    // from the outermost to the innermost; their stacks stand one on the other.
    bool outermost = true, innermost = true;
    PythonThread python;
    int tid;  // in our pid namespace
    std::unique_ptr<StackReader> stack;
    OnCpu cpu;
    std::string name;
    std::vector<NodeId> path;  // nodes of stack.frames()
    NodeId base = kNoNode;     // below them
    NodeId leaf = kNoNode;
    TaskStacks::Place task;  // on which `path` was made
    bool decided = false;    // leaf is what the thread showed last
    uint64_t decided_switches = 0;
    int64_t last_ns = 0;   // of the last sample, or when the thread was first seen
    bool skip = false;     // provably has not run since the last sample
    bool stopped = false;  // by us, for this sample
    bool expect_exact = false;
    uint64_t switches_before = 0;
    size_t offset = 0;   // in the tick's bytes
    bool moved = false;  // read since the last housekeeping
    const InterpreterWords* words = nullptr;
    std::optional<bool> holds_gil;         // when last read
    std::optional<bool> wants_gil;         // of the sleep that it is in; none: not asked yet
    Decision decision = Decision::kAgain;  // in this tick
    bool exact = false;                    // likewise
    NativeThread native;
    size_t native_offset = 0;      // of its stack, in the tick's bytes
    uint64_t native_switches = 0;  // when its registers were read
    // For the calibration of CPU time by the thread's own clock.
    std::optional<int64_t> clock_ns = 0;
    int64_t sampled_cpu_ns = 0;  // in the cells that are not calibrated yet
    int64_t owed_cpu_ns = 0;     // that the clock has shown and no sample has got
    int64_t busy_ns = 0;         // on-CPU time in the last housekeeping window
    std::optional<int64_t> window_clock_ns;
  };

  // One process. A copy of a sampled process begins with what is known of its parent.
  struct Target {
    int pid = 0;
    uint32_t index = 0;  // over the whole run; changes when another program is executed
    std::optional<uint32_t> parent;
    std::vector<std::string> command;
    std::string executable;
    int64_t program_unix_ns = 0;  // when its program was started
    int64_t started_ns = 0;       // CLOCK_MONOTONIC: as a process, or with the program

    std::unique_ptr<RemoteMemory> memory;
    std::optional<PythonRuntime> runtime;
    bool copied = false;  // `runtime` is the parent's: a fork, and no exec since
    int own_tid = 0;      // of a copy's only thread, as the target sees it
    bool ready = false;
    bool ever_ready = false;
    uint64_t image = 0;  // in which `runtime` was found
    int64_t next_search_ns = 0, next_file_search_ns = 0, next_scan_ns = 0;
    int64_t search_step_ns = 0;
    std::optional<Error> search_error;  // of the last search, as long as nothing was found

    std::unique_ptr<NativeStacks> native;  // with --native
    std::unique_ptr<CodeCache> codes;
    std::optional<ThreadIds> ids;
    std::unique_ptr<TaskStacks> tasks;
    std::optional<uint32_t> task_thread;  // index of what stands for the waiting tasks
    bool tasks_moved = true;              // a thread was read since the last look at them
    int64_t tasks_counted_ns = 0;
    uint64_t tasks_looks = 0;      // of its tasks, at that time
    std::vector<CodeId> code_ids;  // of the run, by the cache's ids; kNoCode: not asked for yet
    ThreadList list;
    bool gil_was_off = false;  // of a free-threaded build, which may switch it on later
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<std::unique_ptr<InterpreterWords>> words;  // of list.interpreters
    bool reads_gil = false;    // in each tick; else the threads' own words tell who holds it
    int gil_holders = 0;       // threads with `holds_gil`
    bool had_threads = false;  // any were reported
    bool moved = false;        // a thread was read since the last housekeeping
    int64_t next_list_ns = 0, next_verify_ns = 0, next_names_ns = 0;
    int64_t names_wait_ns = 0;  // between two looks, the longer the more were in vain
    int bad_ticks = 0;
  };
  static constexpr CodeId kNoCode = UINT32_MAX;

  void Run();
  bool Sleep(int64_t deadline_ns);
  void Search(int64_t now_ns);
  [[nodiscard]] int64_t NextWakeUp(int64_t now_ns) const;
  void Tick(int64_t now_ns);
  // What a tick found of one process.
  struct Outcome {
    bool ended = false;
    bool owed = false;  // a thread was sampled, or its sample dropped
  };
  Outcome TickTarget(Target& target, int64_t now_ns);
  void Decide(Target& target, Thread& thread, const std::byte* bytes, int64_t now_ns);
  bool IsExact(Thread& thread, int64_t now_ns);
  // The node of the thread's stack, which stands on `base`.
  // `bytes` are the tick's; null when they could not be read.
  NodeId Trace(Target& target, Thread& thread, NodeId base, const std::byte* bytes, int64_t now_ns);
  // `speaker`: the one of its states that tells what it does.
  void Count(Target& target, Thread& thread, Thread& speaker, NodeId leaf, bool exact,
             int64_t now_ns);
  ThreadState LookAtState(Target& target, Thread& thread, int64_t now_ns);
  CodeId GarbageCollection(const Target& target);
  static void SetHoldsGil(Target& target, Thread& thread);
  void PlanNative(Target& target, Thread& thread, bool off, size_t* total);
  void ConfirmNative(Target& target, Thread& thread);
  NodeId InternMerged(Target& target, Thread& thread, const std::byte* bytes);
  CodeId RunId(Target& target, const Code& code);
  void MakeTasks(Target& target);
  void CountWaitingTasks(Target& target, int64_t now_ns);
  void EndTasks(Target& target, int64_t now_ns);

  void FollowTree(int64_t now_ns);
  enum class Origin : uint8_t { kFound, kForked };
  Target& AddTarget(int pid, const Target* parent, Origin origin, int64_t at_ns);
  void OnExec(Target& target, int64_t at_ns);
  void BeginProgram(Target& target, int64_t at_ns);
  void RemoveTarget(int pid, std::optional<int> wait_status, int64_t at_ns);
  void ReadProgram(Target& target);
  void ReportProcess(ProcessNews::Kind kind, const Target& target, int64_t at_ns,
                     std::optional<int> wait_status = std::nullopt);

  bool FindInterpreter(Target& target, int64_t now_ns);
  bool CopyIsReady(Target& target);
  static uint64_t ImageOf(int pid);
  void ExplainSearch(const Target& target);
  void LoseInterpreter(Target& target);
  void RefreshThreads(Target& target, int64_t now_ns);
  void AdoptThreads(Target& target, int64_t now_ns);
  void AdoptInterpreters(Target& target);
  static void LookForStops(Target& target);
  void PollAll(int64_t now_ns);
  static void LinkStates(Target& target);
  // False when a thread has no name of Python's yet.
  bool RefreshNames(Target& target);
  void NoticeGil(Target& target);
  void ChoosePlace(int64_t now_ns);
  void Housekeeping(int64_t now_ns);
  void Calibrate(Target& target, int64_t now_ns);
  void VerifyStacks(Target& target, int64_t now_ns);
  void Flush(int64_t now_ns, bool force);
  void ReportThread(ThreadEvent::Kind kind, const Target& target, const Thread& thread,
                    int64_t at_ns);

  Options options_;
  std::unique_ptr<RemoteMemory> memory_;  // of the root, until the thread runs
  BatchQueue* queue_;
  std::atomic<bool> stop_ = false;
  UniqueFd stop_event_;  // readable once stop_ is set
  std::thread thread_;

  std::vector<std::unique_ptr<Target>> targets_;  // the root first, as long as it lives
  uint32_t next_process_ = 0;
  size_t ready_count_ = 0;  // targets whose threads are sampled
  bool tree_has_news_ = true;
  int64_t next_follow_ns_ = 0;
  std::vector<TreeEvent> news_;
  uint32_t next_thread_ = 0;
  int64_t next_house_ns_ = 0, next_place_ns_ = 0, next_flush_ns_ = 0;
  int64_t window_begin_ns_ = 0;
  bool ever_ready_ = false;
  std::optional<Error> search_error_;
  std::set<std::string> unsampled_;  // why children were not sampled that run Python
  uint64_t ended_calls_ = 0;         // reads of targets that are no more

  Pinning pinning_;
  Stopper stopper_;
  CodeRegistry codes_;
  std::optional<CodeId> garbage_collection_;
  NativeRegistry native_;
  std::vector<NativeStacks::Frame> merged_;
  StackTrie trie_;
  CellCounter cells_;
  SampleTotals totals_;
  std::optional<Schedule> schedule_;
  int64_t sampling_since_ns_ = 0;

  std::vector<RemoteRange> ranges_;
  ImageBuffer image_, again_;
  std::vector<Code*> on_stack_;
  using Factor = std::pair<uint32_t, double>;  // of a thread's CPU time
  std::vector<Factor> factors_;

  // For the next batch.
  int64_t batch_begin_ns_ = 0;
  size_t sent_nodes_ = 0;
  std::vector<ProcessNews> processes_;
  std::vector<ThreadEvent> events_;
  std::vector<PythonFound> pythons_;
  std::vector<Diagnostic> diagnostics_;
  size_t nested_told_ = 0;  // processes in pid namespaces of their own that were named
};

}  // namespace linescope
