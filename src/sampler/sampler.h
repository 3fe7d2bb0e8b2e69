#pragma once
// The sampler thread: waits for a deadline, reads all threads that may have moved in one call,
// decides their stacks, counts.
//
// Every deadline is a tick taken or missed; every thread of a tick taken is a sample or a counted
// drop. Nothing is logged or allocated per sample once the target's stacks have been seen.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "process/remote_memory.h"
#include "python/runtime.h"
#include "python/stack_reader.h"
#include "python/thread_list.h"
#include "sampler/batch.h"
#include "sampler/image_buffer.h"
#include "sampler/on_cpu.h"
#include "sampler/pinning.h"
#include "sampler/schedule.h"
#include "sampler/session.h"
#include "sampler/stack_trie.h"
#include "sampler/stopper.h"

namespace linescope {

class Sampler {
 public:
  struct Options {
    int pid = 0;
    double rate_hz = 1000;
    Consistency consistency = Consistency::kAuto;
    // When the interpreter is known already (attach); otherwise it is looked for until it appears.
    std::optional<PythonRuntime> runtime;
    int64_t run_start_ns = 0;  // CLOCK_MONOTONIC: time 0 of the profile
    int64_t start_ns = 0;      // CLOCK_MONOTONIC: no sample is due before
  };

  Sampler(Options options, std::unique_ptr<RemoteMemory> memory, BatchQueue* queue);
  ~Sampler();

  void Start();
  // The thread takes no more samples, hands over what it has, and ends.
  void RequestStop() { stop_.store(true, std::memory_order_relaxed); }
  void Join();

  static constexpr double kPinnedMaxRate = 5000;  // above, pinning would cost the target too much
  static constexpr double kSpinAboveRate =
      20000;  // above, a timer wake-up costs more than spinning

 private:
  struct Thread {
    Thread(uint32_t number, int pid, const PythonThread& info, RemoteMemory* memory,
           const layout::Table* table, CodeCache* codes)
        : index(number),
          python(info),
          stack(MakeStackReader(memory, table, codes, info)),
          cpu(pid, info.native_id) {}
    uint32_t index;  // over the whole run
    PythonThread python;
    std::unique_ptr<StackReader> stack;
    OnCpu cpu;
    std::string name;
    std::vector<NodeId> path;  // nodes of stack.frames()
    NodeId leaf = kNoNode;
    bool decided = false;  // leaf is what the thread showed last
    uint64_t decided_switches = 0;
    int64_t last_ns = 0;   // of the last sample, or when the thread was first seen
    bool failed = false;   // in this tick
    bool skip = false;     // provably has not run since the last sample
    bool stopped = false;  // by us, for this sample
    bool expect_exact = false;
    uint64_t switches_before = 0;
    size_t offset = 0;  // in the tick's bytes
    // For the calibration of CPU time by the thread's own clock.
    std::optional<int64_t> clock_ns;
    int64_t busy_ns = 0;  // on-CPU time in the last housekeeping window
    std::optional<int64_t> window_clock_ns;
  };

  void Run();
  bool Sleep(int64_t deadline_ns);
  void Tick(int64_t now_ns);
  bool IsExact(Thread& thread);
  void Record(Thread& thread, bool exact, int64_t now_ns);
  void Drop(Thread& thread, DropReason reason);
  bool FindInterpreter(int64_t now_ns);
  void RefreshThreads(int64_t now_ns);
  void RefreshNames();
  void ChoosePlace(int64_t now_ns);
  void Housekeeping(int64_t now_ns);
  void Calibrate(int64_t now_ns);
  void VerifyStacks(int64_t now_ns);
  void Flush(int64_t now_ns, bool force);
  void LoseInterpreter();
  void Report(ThreadEvent::Kind kind, const Thread& thread, int64_t at_ns);

  Options options_;
  std::unique_ptr<RemoteMemory> memory_;
  BatchQueue* queue_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;

  // The interpreter now being read.
  std::optional<PythonRuntime> runtime_;
  bool ready_ = false;
  bool ever_ready_ = false;
  int64_t next_search_ns_ = 0, next_scan_ns_ = 0;
  int64_t search_step_ns_ = 0;
  std::optional<Error> search_error_;  // of the last search, as long as nothing was found
  std::unique_ptr<CodeCache> codes_;
  std::vector<std::unique_ptr<CodeCache>> old_codes_;  // batches refer to their entries
  CodeId next_code_ = 0;
  ThreadList list_;
  std::vector<std::unique_ptr<Thread>> threads_;
  uint32_t next_thread_ = 0;
  int64_t next_list_ns_ = 0, next_house_ns_ = 0, next_flush_ns_ = 0, next_verify_ns_ = 0,
          next_names_ns_ = 0;
  int64_t window_begin_ns_ = 0;
  int bad_ticks_ = 0;

  Pinning pinning_;
  Stopper stopper_;
  StackTrie trie_;
  CellCounter cells_;
  SampleTotals totals_;
  std::optional<Schedule> schedule_;
  int64_t sampling_since_ns_ = 0;

  std::vector<RemoteRange> ranges_;
  ImageBuffer image_, again_;
  std::vector<Code*> on_stack_;

  // For the next batch.
  int64_t batch_begin_ns_ = 0;
  size_t sent_codes_ = 0, sent_nodes_ = 0;
  std::vector<ThreadEvent> events_;
  std::vector<PythonFound> pythons_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace linescope
