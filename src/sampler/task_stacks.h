#pragma once
// --async: the stacks of a process's asyncio tasks.
//
// A task's frames stand on a frame of their own that has the task's name, and that on the frames in
// which another task awaits it: who waits for whom, not which loop ran it. The loop's own frames
// below are left out. A name that asyncio gave by counting says nothing, and would make each task
// another: such tasks have the name of their coroutine.
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "python/task_reader.h"
#include "sampler/stack_trie.h"

namespace linescope {

// Belongs to one process and the sampler's thread. It ends with the code cache that it was made
// with.
class TaskStacks {
 public:
  // Where the frames of a task become nodes of the trie.
  struct Nodes {
    std::function<NodeId(NodeId parent, const StackFrame& frame)> of_frame;
    std::function<NodeId(NodeId parent, const std::string& task)> of_task;
  };
  TaskStacks(int pid, RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
             Nodes nodes);

  // Of a thread's frames: the index of the first one of the task that it runs, and what they stand
  // on.
  struct Place {
    size_t first = 0;
    NodeId node = kNoNode;  // kNoNode: no task
    bool operator==(const Place&) const = default;
  };
  Place PlaceOf(std::span<const StackFrame> frames, Address tstate, const ThreadList& threads,
                int64_t now_ns);

  // Tasks are looked at less often than threads: at most as often as costs 2 % of a CPU.
  [[nodiscard]] bool Due(int64_t now_ns) const { return now_ns >= next_look_ns_; }
  // `moved`: any thread has run since the last look.
  void Look(const ThreadList& threads, bool moved, int64_t now_ns);
  // How many looks there were, also those that PlaceOf took.
  [[nodiscard]] uint64_t looks() const { return looks_; }
  // The stacks of the tasks that waited at the last look, one for each.
  [[nodiscard]] const std::vector<NodeId>& waiting() const { return waiting_; }

 private:
  struct Known {
    AsyncTask task;          // without frames
    NodeId above = kNoNode;  // what the task's own frame stands on
    NodeId base = kNoNode;   // the task's own frame, once its coroutine's name is known
    NodeId leaf = kNoNode;   // where it waits
  };
  NodeId BaseOf(Known& known, const Code& code);
  Known* Find(std::span<const StackFrame> frames, size_t* first);
  Known* AddRunning(std::span<const StackFrame> frames, Address tstate, size_t* first);
  const std::string& LabelOf(const std::string& name, const Code& code);

  static constexpr int64_t kLookNs = 10'000'000;
  static constexpr int64_t kBudget = 50;  // times what a look has cost until the next one
  // asyncio, which brings the offsets, may be loaded at any time: looked for the less often the
  // longer it was not there.
  static constexpr int64_t kOffsetsShare = 20;
  static constexpr int64_t kOffsetsNs = 1'000'000'000;
  static constexpr size_t kMaxNames = 1000;  // others have the name of their coroutine

  int pid_;
  TaskReader reader_;
  Nodes nodes_;
  std::unordered_map<Address, Known> known_;     // by the address of the coroutine's frame
  std::unordered_map<Address, NodeId> leaf_of_;  // by task
  std::vector<NodeId> waiting_;
  std::unordered_set<std::string> names_;
  int64_t next_look_ns_ = 0, next_offsets_ns_ = 0, begin_ns_ = 0;
  int64_t next_hasty_ns_ = 0;  // when a thread runs a task that is not known
  int64_t last_cost_ns_ = 0;
  uint64_t looks_ = 0;
};

}  // namespace linescope
