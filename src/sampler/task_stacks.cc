#include "sampler/task_stacks.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace linescope {
namespace {

// What a look costs, also on a machine whose CPUs are all busy.
int64_t ThreadCpuNs() {
  timespec ts;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

}  // namespace

TaskStacks::TaskStacks(int pid, RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
                       Nodes nodes)
    : pid_(pid), reader_(memory, table, codes), nodes_(std::move(nodes)) {}

const std::string& TaskStacks::LabelOf(const std::string& name, const Code& code) {
  if (name.empty()) return code.qualified_name;
  if (names_.contains(name)) return name;
  if (names_.size() == kMaxNames) return code.qualified_name;
  return *names_.insert(name).first;
}

NodeId TaskStacks::BaseOf(Known& known, const Code& code) {
  if (known.base == kNoNode) {
    known.base = nodes_.of_task(known.above, LabelOf(known.task.name, code));
  }
  return known.base;
}

void TaskStacks::Look(const ThreadList& threads, bool moved, int64_t now_ns) {
  next_look_ns_ = now_ns + kLookNs;
  if (!reader_.ready() && now_ns >= next_offsets_ns_) {
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    const int64_t begin = ThreadCpuNs();
    reader_.FindOffsets(pid_);
    next_offsets_ns_ = now_ns + std::max(std::min((now_ns - begin_ns_) / kOffsetsShare, kOffsetsNs),
                                         kBudget * (ThreadCpuNs() - begin));
  }
  if (!moved || !reader_.ready()) return;
  const int64_t begin = ThreadCpuNs();
  std::vector<AsyncTask> tasks = reader_.Read(threads, now_ns);
  known_.clear();
  leaf_of_.clear();
  waiting_.clear();
  std::vector<NodeId> leaves(tasks.size(), kNoNode);
  std::vector<bool> done(tasks.size(), false);
  std::vector<size_t> way;
  for (size_t i = 0; i < tasks.size(); ++i) {
    // Those who await it first; parents lead to roots.
    for (size_t at = i; at != SIZE_MAX && !done[at]; at = tasks[at].parent) way.push_back(at);
    for (; !way.empty(); way.pop_back()) {
      const size_t at = way.back();
      AsyncTask& task = tasks[at];
      done[at] = true;
      Known known;
      if (task.parent != SIZE_MAX) known.above = leaves[task.parent];
      const std::vector<StackFrame> frames = std::exchange(task.frames, {});
      known.task = std::move(task);
      NodeId node = known.above;
      if (!frames.empty()) {
        node = BaseOf(known, *frames.front().code);
        for (const StackFrame& frame : frames) node = nodes_.of_frame(node, frame);
      }
      leaves[at] = known.leaf = node;
      if (known.task.state == CoroutineReader::State::kWaiting) waiting_.push_back(node);
      leaf_of_.emplace(known.task.address, node);
      known_.insert_or_assign(known.task.frame, std::move(known));
    }
  }
  ++looks_;
  // One that was dear by chance, as the first is, which finds where tasks are listed, does not put
  // off the next.
  const int64_t spent = ThreadCpuNs() - begin;
  const int64_t cost = std::min(spent, std::exchange(last_cost_ns_, spent));
  next_look_ns_ = now_ns + std::max(kLookNs, kBudget * cost);
  next_hasty_ns_ = now_ns + kBudget * cost;
}

// The innermost frame that a known task began with: a loop may run inside of a task.
TaskStacks::Known* TaskStacks::Find(std::span<const StackFrame> frames, size_t* first) {
  for (size_t i = frames.size(); i-- > 0;) {
    if (!frames[i].code->coroutine) continue;
    const auto at = known_.find(frames[i].address);
    if (at == known_.end()) continue;
    if (!reader_.IsStill(at->second.task)) {
      known_.erase(at);
      continue;
    }
    *first = i;
    return &at->second;
  }
  return nullptr;
}

TaskStacks::Known* TaskStacks::AddRunning(std::span<const StackFrame> frames, Address tstate,
                                          size_t* first) {
  std::optional<AsyncTask> task = reader_.Running(tstate);
  if (!task) return nullptr;
  for (size_t i = frames.size(); i-- > 0;) {
    if (frames[i].address != task->frame) continue;
    Known known;
    const auto above = leaf_of_.find(task->awaiter);
    if (above != leaf_of_.end()) known.above = above->second;
    const Address frame = task->frame;
    known.task = *std::move(task);
    *first = i;
    return &known_.insert_or_assign(frame, std::move(known)).first->second;
  }
  return nullptr;
}

TaskStacks::Place TaskStacks::PlaceOf(std::span<const StackFrame> frames, Address tstate,
                                      const ThreadList& threads, int64_t now_ns) {
  const auto outermost =
      std::ranges::find_if(frames, [](const StackFrame& frame) { return frame.code->coroutine; });
  if (outermost == frames.end()) return {};
  Place place;
  Known* known = Find(frames, &place.first);
  if (known == nullptr) known = AddRunning(frames, tstate, &place.first);
  if (known == nullptr && now_ns >= next_hasty_ns_) {
    Look(threads, true, now_ns);
    known = Find(frames, &place.first);
  }
  if (known != nullptr) {
    place.node = BaseOf(*known, *frames[place.first].code);
    return place;
  }
  // Whatever runs it, and whether its task could be read or not, this is what a task is made of.
  place.first = static_cast<size_t>(outermost - frames.begin());
  place.node = nodes_.of_task(kNoNode, outermost->code->qualified_name);
  return place;
}

}  // namespace linescope
