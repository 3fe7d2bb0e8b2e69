#pragma once
// The counts of a run while it goes on, by line, function, thread and process. Knows nothing of
// terminals. Three costs, as in profile/profile.h: self, project (the report's Time) and total,
// which counts a line once a stack however often it recurs.
//
// A batch costs its cells times their depth, whatever was seen before; closing an interval costs
// what was touched in it. A copy is a frozen picture.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"
#include "sampler/batch.h"

namespace linescope {

// Since the start, or the last reset; or in the last interval that was closed.
enum class TopSpan : uint8_t { kAll, kInterval };

class TopModel {
 public:
  struct Costs {
    Cost self, project, total;
  };
  // What a row has since the start, in the last interval, and in the one that is being filled.
  struct Tally {
    Costs all, interval, filling;
    [[nodiscard]] const Costs& Of(TopSpan span) const {
      return span == TopSpan::kAll ? all : interval;
    }
  };

  struct Function {
    uint32_t file = 0;
    std::string name, qualified_name;
    int32_t first_line = 0;
    bool in_project = false;
    Tally tally;
  };
  struct Line {
    uint32_t function = 0;  // the first that was seen at it
    int32_t line = 0;       // 0: unknown
    bool in_project = false;
    Tally tally;
  };
  // A distinct stack.
  struct Node {
    NodeId parent = kNoNode;
    NodeId project = kNoNode;  // the innermost project frame, itself included
    uint32_t line = 0;         // index of lines()
    CodeId function = 0;       // index of functions()
    Cost all;                  // of samples that ended here
  };
  struct Thread {
    uint32_t process = 0;
    int tid = 0;
    bool is_main = false;
    bool ended = false;
    std::string name;
    ThreadState state = ThreadState::kUnknown;  // where it was most of the last batch
    NodeId node = kNoNode;
    Tally tally;  // self and total are all of it, project that of project lines
  };
  struct Process {
    int pid = 0;
    std::optional<uint32_t> parent;
    std::vector<std::string> command;
    std::string executable, python;
    int64_t started_ns = 0, start_unix_ns = 0;
    std::optional<int64_t> ended_ns;
    std::optional<int> wait_status;
    Tally tally;
  };

  // Whether the file of a code object is the project's; asked once for each file, about the
  // process that showed it first.
  using Judge = std::function<bool(const CodeInfo& code, const Process& process)>;
  explicit TopModel(Judge judge) : judge_(std::move(judge)) {}

  // Batches must come in order.
  void Apply(const Batch& batch);
  // What was counted since the call before becomes the interval that is shown.
  void CloseInterval();
  // Counts begin anew. What is known of functions, threads and processes stays.
  void Reset();

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] const SampleTotals& totals() const { return totals_; }
  [[nodiscard]] const std::string& file_of(const Line& line) const {
    return files_[functions_[line.function].file];
  }
  // Index of lines(); nullopt: no sample fell on it.
  [[nodiscard]] std::optional<uint32_t> FindLine(uint32_t file, int32_t line) const;

  // Time that the span is long; of all that is counted in it.
  [[nodiscard]] int64_t SpanNs(TopSpan span) const {
    return span == TopSpan::kAll ? end_ns_ - since_ns_ : interval_ns_;
  }
  // Ticks taken and missed, samples, drops, in the span.
  [[nodiscard]] SampleTotals TotalsOf(TopSpan span) const;

  // A way by which samples came to a line: its node, and the time below it.
  struct Way {
    NodeId node = kNoNode;
    Cost cost;
  };
  // The `limit` dearest stacks that end in `matches`, counted at its outermost frame: costs what
  // there are distinct stacks. Most first.
  [[nodiscard]] std::vector<Way> WaysTo(const std::function<bool(const Node&)>& matches,
                                        Weight weight, size_t limit) const;

 private:
  template <class Row>
  void Touch(std::vector<Row>& rows, std::vector<uint32_t>& touched, uint32_t at,
             Cost Costs::* kind, const Cost& cost);
  void Apply(const ProcessNews& news);
  void Apply(const ThreadEvent& event);
  void Add(const StackTrie::Node& node);
  void Add(const CodeInfo& code);
  void Count(const CellCounter::Cell& cell);
  uint32_t LineIndex(CodeId function, int32_t line);

  Judge judge_;
  std::unordered_map<std::string, uint32_t> file_ids_;
  std::vector<std::string> files_;
  std::vector<std::optional<bool>> file_in_project_;  // unset: no Python code of it was seen
  std::vector<Function> functions_;                   // by CodeId
  std::unordered_map<uint64_t, uint32_t> line_ids_;
  std::vector<Line> lines_;
  std::vector<Node> nodes_;  // by NodeId
  std::vector<Thread> threads_;
  std::vector<Process> processes_;

  // Rows with something in the interval shown, and in the one being filled.
  struct Touched {
    std::vector<uint32_t> interval, filling;
  };
  Touched touched_lines_, touched_functions_, touched_threads_, touched_processes_;
  template <class Row>
  static void Close(std::vector<Row>& rows, Touched& touched);

  // The stack at which a line or function was counted last: once a stack.
  uint64_t stack_number_ = 0;
  std::vector<uint64_t> line_seen_, function_seen_;
  std::vector<std::array<uint64_t, kThreadStateCount>> thread_states_;  // of one batch
  std::vector<int64_t> thread_longest_ns_;

  SampleTotals totals_, reset_totals_, interval_begin_totals_, interval_end_totals_;
  bool started_ = false;
  int64_t since_ns_ = 0, end_ns_ = 0, interval_begin_ns_ = 0, interval_ns_ = 0;
};

}  // namespace linescope
