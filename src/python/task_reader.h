#pragma once
// asyncio's tasks of an interpreter: their names, what they wait in, and who waits for them.
//
// 3.14+: each thread's and interpreter's own list, and who awaits a task is kept in it. Before: the
// weak sets of `asyncio.tasks`; who awaits a task shows in what others wait for, in the children of
// a gather(), and in the callback of a task group. Tasks of third-party classes are found in the
// sets, too.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "process/page_cache.h"
#include "python/coroutine_reader.h"
#include "python/thread_list.h"

namespace linescope {

struct AsyncTask {
  Address address = 0;
  Address coroutine = 0;
  Address frame = 0;  // of its coroutine, as StackFrame::address
  Address name_object = 0;
  bool in_python = false;    // not of _asyncio's class: what it has are attributes
  std::string name;          // as given to it; empty: it has the name that asyncio gives
  Address awaiter = 0;       // the task that awaits it; 0: none, or not kept in it (before 3.14)
  size_t parent = SIZE_MAX;  // its index
  CoroutineReader::State state = CoroutineReader::State::kNone;
  std::vector<StackFrame> frames;  // where it waits, outermost first
};

// Belongs to one process and the thread that samples it.
class TaskReader {
 public:
  TaskReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes);

  // 3.14+: looks for the offsets that `_asyncio` brings, until that is loaded. Reads /proc.
  void FindOffsets(int pid);
  void SetOffsets(const layout::Tasks& offsets) { at_ = offsets; }
  [[nodiscard]] bool ready() const { return at_.has_value(); }

  // All tasks, at most kMaxTasks, each read for itself: one that runs meanwhile is marked as
  // running.
  static constexpr size_t kMaxTasks = 10'000;
  std::vector<AsyncTask> Read(const ThreadList& threads, int64_t now_ns);
  // The task that the thread state runs; nullopt where that cannot be told (before 3.14).
  std::optional<AsyncTask> Running(Address tstate);
  // Whether the task is still the one that was read.
  bool IsStill(const AsyncTask& task);

 private:
  // Where asyncio.tasks of one interpreter keeps tasks: `data` of its weak sets, and the eager
  // ones.
  struct Sets {
    Address interpreter = 0;
    std::vector<Address> of_references, of_tasks;
    int64_t until_ns = 0;
  };
  static constexpr int64_t kSetsNs = 1'000'000'000;
  static constexpr int64_t kNoSetsNs = 50'000'000;  // asyncio is not loaded yet
  const Sets& SetsOf(const PythonInterpreter& interpreter, int64_t now_ns);
  bool IsOfType(Address object, std::string_view name, Address* known);
  void ListFrom(Address head, std::vector<Address>* tasks);
  void ListReferents(Address set, std::vector<Address>* tasks);
  void ListSet(Address set, std::vector<Address>* keys);
  AsyncTask ReadTask(Address address, int64_t now_ns, Address* future);
  Address AwaiterOf(const std::byte* task);
  std::string NameOf(Address task, Address object);
  void LinkWaiting(const std::vector<Address>& futures, std::vector<AsyncTask>* tasks);
  void BreakCycles(std::vector<AsyncTask>* tasks);

  RemoteMemory* memory_;
  PageCache pages_;  // of one look
  const layout::Table* table_;
  ObjectReader objects_;
  CoroutineReader coroutines_;
  std::optional<layout::Tasks> at_;
  std::set<std::pair<std::string, Address>> without_offsets_;  // modules, by path and base
  std::vector<Sets> sets_;
  Address gather_type_ = 0, method_type_ = 0;  // once met
  // Names of the tasks at the last look, by their address: most are still the same.
  struct Name {
    Address coroutine = 0, object = 0;
    std::string name;
  };
  std::unordered_map<Address, Name> names_;
  std::vector<std::byte> bytes_;
};

}  // namespace linescope
