#pragma once
// A profile in memory, added up for presentation: what the reader computes in one pass over the
// stack tree. Plain data, independent of the database; equal input gives equal contents in equal
// order.
//
// Three costs are kept for a line, a function and a file:
//   self       the leaf frame is there;
//   project    the innermost *project* frame is there: its own time and that of the library code it
//              calls, but not that of other project frames. This is the report's Time;
//   inclusive  it is anywhere on the stack, counted once a stack however often it recurs.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/model.h"

namespace linescope {

// What "Time" means, and which samples count.
enum class Weight : uint8_t {
  kWall,    // all, and the time that passed
  kActive,  // the same without idle ones
  kCpu,     // those on a CPU, and their CPU time
  kGil,     // those that hold the GIL, and the time that passed
};

// By its mode, and whether idle threads count.
Weight WeightOf(const RunInfo& run);
bool Counts(Weight weight, ThreadState state);

// Sums stop at the largest value: a damaged file must not make them wrap.
struct Cost {
  uint64_t samples = 0;
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;

  Cost& operator+=(const Cost& other) {
    if (__builtin_add_overflow(samples, other.samples, &samples)) samples = UINT64_MAX;
    if (__builtin_add_overflow(wall_ns, other.wall_ns, &wall_ns)) wall_ns = INT64_MAX;
    if (__builtin_add_overflow(cpu_ns, other.cpu_ns, &cpu_ns)) cpu_ns = INT64_MAX;
    return *this;
  }
  bool operator==(const Cost&) const = default;
  [[nodiscard]] int64_t Time(Weight weight) const {
    return weight == Weight::kCpu ? cpu_ns : wall_ns;
  }
};

using FileId = uint32_t;  // index of Profile::files

// Call tree as parallel arrays indexed by StackId; a parent's id is smaller than its children's.
struct StackTree {
  std::vector<StackId> parent;  // kNoStack: a root
  std::vector<FunctionId> function;
  std::vector<SourceRange> range;  // line 0: unknown
  // The innermost stack at or above this one that is a project frame; kNoStack: none is.
  std::vector<StackId> project;

  [[nodiscard]] size_t size() const { return parent.size(); }
};

// Samples of the whole run with equal stack, thread and state.
struct StackCost {
  StackId stack = kNoStack;
  ThreadId thread = 0;
  ThreadState state = ThreadState::kUnknown;
  Cost cost;
};

struct LineStats {
  FileId file = 0;
  int32_t line = 0;  // 0: unknown
  bool in_project = false;
  Cost self, project, inclusive;
};

// A piece of a line: what the instructions that were sampled are the code of. Pieces may hold
// others: of `f(x) + 1` the sum does not include what the call costs.
struct ExpressionStats {
  FileId file = 0;
  SourceRange range;  // has columns
  Cost self, project;
};

struct FunctionStats {
  FunctionId function = 0;
  FileId file = 0;
  Cost self, project, inclusive;
};

struct FileStats {
  std::string path;  // FunctionInfo::file
  bool in_project = false;
  std::optional<SourceId> source;  // the snapshot of this path, when there is one
  Cost self, project, inclusive;
};

struct TimelineBucket {
  int64_t start_ns = 0;  // since the start of the run
  std::array<Cost, kThreadStateCount> by_state;
};

struct Profile {
  Weight weight = Weight::kWall;
  std::vector<FunctionInfo> functions;  // by FunctionId
  std::vector<FileId> function_file;    // by FunctionId
  StackTree stacks;
  std::vector<StackCost> stack_costs;        // by stack, thread, state; threads without frames last
  std::vector<FileStats> files;              // by path
  std::vector<LineStats> lines;              // by file, line
  std::vector<ExpressionStats> expressions;  // by file, range; of lines whose columns are known
  std::vector<FunctionStats> function_stats;  // by FunctionId; functions that were sampled
  int64_t bucket_width_ns = 0;
  std::vector<TimelineBucket> timeline;  // buckets with samples, in order of time
  Cost total;                            // of every counted sample
  Cost project;                          // of those with a project frame on the stack
  Cost without_frames;                   // of threads without Python frames

  [[nodiscard]] int64_t Time(const Cost& cost) const { return cost.Time(weight); }
  // Those of `lines` that are in `file`.
  [[nodiscard]] std::span<const LineStats> LinesOf(FileId file) const;
  // Those of `expressions` that begin on `line` of `file`.
  [[nodiscard]] std::span<const ExpressionStats> ExpressionsOf(FileId file, int32_t line) const;
};

// One row of the sample table: samples that were taken in `buckets` buckets from `bucket` on.
struct SampleRow {
  int64_t bucket = 0;
  SampleCell cell;
  int64_t buckets = 1;
};

// The most buckets that a row covers.
inline constexpr int64_t kMaxRowBuckets = 1024;

// Calls visit(bucket, cost) for every bucket of `row`, in order, with its part of the row's cost.
// When in those buckets the samples were taken is not known: they are spread evenly. The parts add
// up to the whole.
template <class Visit>
void ForEachBucket(const SampleRow& row, Visit visit) {
  const auto until = [&](auto whole, int64_t part) {
    const auto n = static_cast<decltype(whole)>(row.buckets);
    const auto k = static_cast<decltype(whole)>(part);
    return whole / n * k + whole % n * k / n;
  };
  const SampleCell& cell = row.cell;
  Cost before;
  for (int64_t i = 1; i <= row.buckets; ++i) {
    const Cost now{until(cell.count, i), until(cell.wall_ns, i), until(cell.cpu_ns, i)};
    visit(row.bucket + i - 1, Cost{now.samples - before.samples, now.wall_ns - before.wall_ns,
                                   now.cpu_ns - before.cpu_ns});
    before = now;
  }
}

// Makes a Profile of functions, the stack tree (`project` is filled in) and rows, added one at a
// time. Every id must be in range and parents smaller than children: the reader has checked it.
class Aggregator {
 public:
  Aggregator(Weight weight, std::vector<FunctionInfo> functions, StackTree stacks,
             int64_t bucket_width_ns);
  void Add(const SampleRow& row);
  // For the timeline: a row of ProfileReader::ForEachActivity.
  void AddActivity(const SampleRow& row);
  // Leaves the aggregator empty.
  Profile Finish();

 private:
  struct Key {
    StackId stack;
    ThreadId thread;
    ThreadState state;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  Profile profile_;
  std::unordered_map<Key, Cost, KeyHash> costs_;
  std::map<int64_t, std::array<Cost, kThreadStateCount>> buckets_;
};

}  // namespace linescope
