#pragma once
// What the sampler thread hands to the writer, a few times a second: counts, and whatever is new
// since the batch before.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "profile/model.h"
#include "sampler/code_registry.h"
#include "sampler/native_names.h"
#include "sampler/native_stacks.h"
#include "sampler/stack_trie.h"

namespace linescope {

// Ids are the sampler's own: dense, in the order of appearance over the whole run. A process that
// executes another program after it was sampled is another one from then on.
struct ProcessNews {
  enum class Kind : uint8_t { kStarted, kChanged, kEnded } kind = Kind::kStarted;
  uint32_t process = 0;
  int64_t at_ns = 0;  // CLOCK_MONOTONIC
  // kStarted.
  int pid = 0;
  std::optional<uint32_t> parent = std::nullopt;  // none: the root
  // kStarted and kChanged.
  std::vector<std::string> command = {};
  std::string executable = {};
  int64_t start_unix_ns = 0;  // when its program was started; of a forked one, its parent's
  // kEnded; none: not known, or it has executed another program.
  std::optional<int> wait_status = std::nullopt;
};

struct ThreadEvent {
  enum class Kind : uint8_t { kStarted, kRenamed, kEnded } kind = Kind::kStarted;
  uint32_t process = 0;
  uint32_t thread = 0;
  int tid = 0;
  bool is_main = false;
  std::string name;
  int64_t at_ns = 0;  // CLOCK_MONOTONIC
};

struct PythonFound {
  uint32_t process = 0;
  std::string version, file, found_by;
  std::vector<std::string> warnings;
};

struct SampleTotals {
  uint64_t ticks_due = 0, ticks_taken = 0, missed = 0;
  uint64_t samples = 0;
  std::array<uint64_t, static_cast<size_t>(DropReason::kCount)> drops{};
  // Of the samples of running threads: taken while the thread provably stood still, and while it
  // ran.
  uint64_t exact = 0, free = 0;
  int64_t sampled_ns = 0;     // time during which samples were due
  int64_t lateness_ns = 0;    // sum over the ticks taken
  uint64_t system_calls = 0;  // reads of the target's memory
  NativeMergeCounts native;   // with --native
};

struct Batch {
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC
  std::vector<CellCounter::Cell> cells;
  std::vector<CodeInfo> codes;               // new ones; their ids follow those of the batch before
  std::vector<NativeModule> native_modules;  // new ones, as above
  std::vector<NativeLocation> native_locations;  // likewise
  std::vector<StackTrie::Node> nodes;
  std::vector<ProcessNews> processes;
  std::vector<ThreadEvent> threads;
  std::vector<PythonFound> pythons;
  std::vector<Diagnostic> diagnostics;
  SampleTotals totals;  // since the start of the run
};

// Hands batches from one thread to one other. When the writer is behind, Push refuses and the
// sampler goes on counting: memory grows with distinct stacks only.
class BatchQueue {
 public:
  BatchQueue();
  [[nodiscard]] int fd() const { return event_.get(); }  // readable when there is something
  [[nodiscard]] bool HasRoom() const;
  void Push(Batch batch);
  std::vector<Batch> TakeAll();

 private:
  static constexpr size_t kMaxPending = 8;
  mutable std::mutex mutex_;
  std::vector<Batch> pending_;
  UniqueFd event_;
};

}  // namespace linescope
