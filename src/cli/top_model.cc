#include "cli/top_model.h"

#include <algorithm>
#include <utility>

namespace linescope {

template <class Row>
void TopModel::Touch(std::vector<Row>& rows, std::vector<uint32_t>& touched, uint32_t at,
                     Cost Costs::* kind, const Cost& cost) {
  Tally& tally = rows[at].tally;
  if (tally.filling.total.samples == 0 && kind == &Costs::total) touched.push_back(at);
  tally.all.*kind += cost;
  tally.filling.*kind += cost;
}

void TopModel::Apply(const ProcessNews& news) {
  if (news.kind == ProcessNews::Kind::kStarted) {
    Process process;
    process.pid = news.pid;
    process.parent = news.parent;
    process.started_ns = news.at_ns;
    processes_.push_back(std::move(process));
  }
  Process& process = processes_[news.process];
  if (news.kind == ProcessNews::Kind::kEnded) {
    process.ended_ns = news.at_ns;
    process.wait_status = news.wait_status;
    return;
  }
  process.command = news.command;
  process.executable = news.executable;
  process.start_unix_ns = news.start_unix_ns;
}

void TopModel::Apply(const ThreadEvent& event) {
  if (event.kind == ThreadEvent::Kind::kStarted) {
    if (event.thread >= threads_.size()) threads_.resize(event.thread + 1);
    threads_[event.thread].process = event.process;
    threads_[event.thread].tid = event.tid;
    threads_[event.thread].is_main = event.is_main;
  }
  Thread& thread = threads_[event.thread];
  if (event.kind == ThreadEvent::Kind::kEnded) {
    thread.ended = true;
  } else {
    thread.name = event.name;
  }
}

void TopModel::Add(const CodeInfo& code) {
  const auto [at, added] = file_ids_.try_emplace(code.file, static_cast<uint32_t>(files_.size()));
  if (added) {
    files_.push_back(code.file);
    file_in_project_.emplace_back();
  }
  bool in_project = false;
  if (code.kind == FunctionKind::kPython && !code.shim) {
    std::optional<bool>& known = file_in_project_[at->second];
    if (!known) known = judge_(code, processes_[code.process]);
    in_project = *known;
  }
  functions_.push_back({.file = at->second,
                        .name = code.name,
                        .qualified_name = code.qualified_name,
                        .first_line = code.first_line,
                        .in_project = in_project,
                        .tally = {}});
  function_seen_.push_back(0);
}

uint32_t TopModel::LineIndex(CodeId function, int32_t line) {
  const uint64_t key = uint64_t{functions_[function].file} << 32 | static_cast<uint32_t>(line);
  const auto [at, added] = line_ids_.try_emplace(key, static_cast<uint32_t>(lines_.size()));
  if (added) {
    lines_.push_back({.function = function,
                      .line = line,
                      .in_project = functions_[function].in_project,
                      .tally = {}});
    line_seen_.push_back(0);
  }
  return at->second;
}

std::optional<uint32_t> TopModel::FindLine(uint32_t file, int32_t line) const {
  const auto at = line_ids_.find(uint64_t{file} << 32 | static_cast<uint32_t>(line));
  return at == line_ids_.end() ? std::nullopt : std::optional(at->second);
}

void TopModel::Add(const StackTrie::Node& node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  const NodeId above = node.parent == kNoNode ? kNoNode : nodes_[node.parent].project;
  nodes_.push_back({.parent = node.parent,
                    .project = functions_[node.code].in_project ? id : above,
                    .line = LineIndex(node.code, node.range.line),
                    .function = node.code,
                    .all = {}});
}

void TopModel::Count(const CellCounter::Cell& cell) {
  const Cost cost{cell.count, cell.wall_ns, cell.cpu_ns};
  Thread& thread = threads_[cell.thread];
  thread_states_[cell.thread][static_cast<size_t>(cell.state)] += cell.count;
  if (cell.wall_ns >= thread_longest_ns_[cell.thread]) {
    thread_longest_ns_[cell.thread] = cell.wall_ns;
    thread.node = cell.node;
  }
  const NodeId project = cell.node == kNoNode ? kNoNode : nodes_[cell.node].project;
  for (auto kind : {&Costs::total, &Costs::self, &Costs::project}) {
    if (kind == &Costs::project && project == kNoNode) continue;
    Touch(threads_, touched_threads_.filling, cell.thread, kind, cost);
    Touch(processes_, touched_processes_.filling, thread.process, kind, cost);
  }
  if (cell.node == kNoNode) return;
  ++stack_number_;
  for (NodeId at = cell.node; at != kNoNode; at = nodes_[at].parent) {
    const Node& node = nodes_[at];
    if (std::exchange(line_seen_[node.line], stack_number_) != stack_number_)
      Touch(lines_, touched_lines_.filling, node.line, &Costs::total, cost);
    if (std::exchange(function_seen_[node.function], stack_number_) != stack_number_)
      Touch(functions_, touched_functions_.filling, node.function, &Costs::total, cost);
  }
  Node& leaf = nodes_[cell.node];
  leaf.all += cost;
  Touch(lines_, touched_lines_.filling, leaf.line, &Costs::self, cost);
  Touch(functions_, touched_functions_.filling, leaf.function, &Costs::self, cost);
  if (project == kNoNode) return;
  Touch(lines_, touched_lines_.filling, nodes_[project].line, &Costs::project, cost);
  Touch(functions_, touched_functions_.filling, nodes_[project].function, &Costs::project, cost);
}

void TopModel::Apply(const Batch& batch) {
  if (!std::exchange(started_, true)) since_ns_ = interval_begin_ns_ = batch.begin_ns;
  end_ns_ = batch.end_ns;
  totals_ = batch.totals;
  for (const ProcessNews& news : batch.processes) Apply(news);
  for (const PythonFound& python : batch.pythons)
    processes_[python.process].python = python.version;
  for (const CodeInfo& code : batch.codes) Add(code);
  for (const StackTrie::Node& node : batch.nodes) Add(node);
  for (const ThreadEvent& event : batch.threads) Apply(event);
  thread_states_.assign(threads_.size(), {});
  thread_longest_ns_.assign(threads_.size(), 0);
  for (const CellCounter::Cell& cell : batch.cells) Count(cell);
  for (size_t i = 0; i < threads_.size(); ++i) {
    const auto& states = thread_states_[i];
    const auto most = std::ranges::max_element(states);
    if (*most != 0) threads_[i].state = static_cast<ThreadState>(most - states.begin());
  }
}

template <class Row>
void TopModel::Close(std::vector<Row>& rows, Touched& touched) {
  for (const uint32_t at : touched.interval) rows[at].tally.interval = {};
  for (const uint32_t at : touched.filling)
    rows[at].tally.interval = std::exchange(rows[at].tally.filling, {});
  touched.interval = std::exchange(touched.filling, {});
}

void TopModel::CloseInterval() {
  Close(lines_, touched_lines_);
  Close(functions_, touched_functions_);
  Close(threads_, touched_threads_);
  Close(processes_, touched_processes_);
  interval_begin_totals_ = std::exchange(interval_end_totals_, totals_);
  interval_ns_ = end_ns_ - std::exchange(interval_begin_ns_, end_ns_);
}

void TopModel::Reset() {
  for (Line& line : lines_) line.tally = {};
  for (Function& function : functions_) function.tally = {};
  for (Thread& thread : threads_) thread.tally = {};
  for (Process& process : processes_) process.tally = {};
  for (Node& node : nodes_) node.all = {};
  touched_lines_ = touched_functions_ = touched_threads_ = touched_processes_ = {};
  since_ns_ = interval_begin_ns_ = end_ns_;
  interval_ns_ = 0;
  reset_totals_ = interval_begin_totals_ = interval_end_totals_ = totals_;
}

SampleTotals TopModel::TotalsOf(TopSpan span) const {
  SampleTotals totals = span == TopSpan::kAll ? totals_ : interval_end_totals_;
  const SampleTotals& before = span == TopSpan::kAll ? reset_totals_ : interval_begin_totals_;
  totals.ticks_due -= before.ticks_due;
  totals.ticks_taken -= before.ticks_taken;
  totals.missed -= before.missed;
  totals.samples -= before.samples;
  totals.exact -= before.exact;
  totals.free -= before.free;
  totals.sampled_ns -= before.sampled_ns;
  totals.lateness_ns -= before.lateness_ns;
  totals.system_calls -= before.system_calls;
  for (size_t i = 0; i < totals.drops.size(); ++i) totals.drops[i] -= before.drops[i];
  return totals;
}

std::vector<TopModel::Way> TopModel::WaysTo(const std::function<bool(const Node&)>& matches,
                                            Weight weight, size_t limit) const {
  // A parent's id is smaller than its children's.
  std::vector<Cost> below(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    below[i] += nodes_[i].all;
    if (nodes_[i].parent != kNoNode) below[nodes_[i].parent] += below[i];
  }
  std::vector<char> inside(nodes_.size());  // a frame above matches
  std::vector<Way> ways;
  for (NodeId i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    inside[i] = node.parent != kNoNode ? inside[node.parent] : 0;
    if (inside[i] != 0 || !matches(node)) continue;
    inside[i] = 1;
    if (below[i].Time(weight) > 0) ways.push_back({i, below[i]});
  }
  const size_t count = std::min(limit, ways.size());
  std::ranges::partial_sort(ways, ways.begin() + static_cast<ptrdiff_t>(count),
                            [weight](const Way& a, const Way& b) {
                              const int64_t left = a.cost.Time(weight);
                              const int64_t right = b.cost.Time(weight);
                              return left != right ? left > right : a.node < b.node;
                            });
  ways.resize(count);
  return ways;
}

}  // namespace linescope
