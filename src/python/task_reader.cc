#include "python/task_reader.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "process/modules.h"
#include "python/dict_reader.h"
#include "python/target_words.h"

namespace linescope {
namespace {

// "Task-7", which says nothing and is another for each task.
bool IsGivenByAsyncio(const std::string& name) {
  constexpr std::string_view kPrefix = "Task-";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

}  // namespace

TaskReader::TaskReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes)
    : memory_(memory),
      pages_(memory),
      table_(table),
      objects_(&pages_, table),
      coroutines_(&pages_, table, codes) {
  if (const layout::Tasks* known = layout::TasksFor(table->minor)) at_ = *known;
}

void TaskReader::FindOffsets(int pid) {
  if (at_) return;
  const auto modules = ListCodeModules(pid);
  if (!modules) return;
  for (const Module& module : *modules) {
    // An extension of its own, or built into the interpreter.
    if (module.path.find("asyncio") == std::string::npos &&
        module.path.find("python") == std::string::npos) {
      continue;
    }
    std::pair known(module.path, module.base());
    if (without_offsets_.contains(known)) continue;
    const auto elf = OpenModule(pid, module, memory_);
    if (!elf) continue;
    const auto section = elf->FindSection(layout::kAsyncioDebugSection);
    if (section && !*section) without_offsets_.insert(std::move(known));
    const auto bias = elf->LoadBias(module.mappings);
    if (!section || !*section || !bias) continue;
    std::byte bytes[layout::kAsyncioDebugBytes];
    if (!memory_->ReadExact((*section)->address + *bias, bytes, sizeof bytes)) continue;
    if (auto found = layout::ReadAsyncioDebug(bytes)) {
      at_ = *found;
      return;
    }
  }
}

// A circular list through the tasks, with a head that is none.
void TaskReader::ListFrom(Address head, std::vector<Address>* tasks) {
  Address node = 0;
  if (!pages_.ReadValue(head, &node)) return;
  std::unordered_set<Address> seen;
  while (PlausiblePointer(node) && node != head && tasks->size() < kMaxTasks &&
         seen.insert(node).second) {
    tasks->push_back(node - at_->node);
    if (!pages_.ReadValue(node, &node)) return;
  }
}

void TaskReader::ListSet(Address set, std::vector<Address>* keys) {
  uint64_t mask = 0;
  Address table = 0;
  constexpr uint64_t kMaxMask = 1 << 20;
  if (!PlausiblePointer(set) || !pages_.ReadValue(set + layout::kSetMask, &mask) ||
      !pages_.ReadValue(set + layout::kSetTable, &table) || mask > kMaxMask ||
      !PlausiblePointer(table)) {
    return;
  }
  std::vector<std::byte> entries((mask + 1) * layout::kSetEntryBytes);
  if (!pages_.ReadExact(table, entries.data(), entries.size())) return;
  for (size_t i = 0; i <= mask && keys->size() < kMaxTasks; ++i) {
    const auto key = Load<Address>(entries.data() + i * layout::kSetEntryBytes);
    if (PlausiblePointer(key)) keys->push_back(key);
  }
}

void TaskReader::ListReferents(Address set, std::vector<Address>* tasks) {
  std::vector<Address> references;
  ListSet(set, &references);
  for (const Address reference : references) {
    const Address task = objects_.Word(reference + layout::kReferent).value_or(0);
    // The set's mark for a removed entry is an object, too, but none that refers to a task.
    if (PlausiblePointer(task)) tasks->push_back(task);
  }
}

// Looking through modules costs hundreds of reads, and the sets stay.
const TaskReader::Sets& TaskReader::SetsOf(const PythonInterpreter& interpreter, int64_t now_ns) {
  auto at = std::ranges::find(sets_, interpreter.address, &Sets::interpreter);
  if (at == sets_.end()) {
    at = sets_.insert(at, Sets{.interpreter = interpreter.address,
                               .of_references = {},
                               .of_tasks = {},
                               .until_ns = now_ns});
  }
  if (now_ns < at->until_ns) return *at;
  at->of_references.clear();
  at->of_tasks.clear();
  DictReader dicts(&objects_);
  const Address module = dicts.Find(interpreter.modules, "asyncio.tasks");
  const Address names =
      module == 0 ? 0 : objects_.Word(module + table_->names.module_dict).value_or(0);
  if (names != 0) {
    // 3.12 renamed the weak set, and has the eager tasks in another.
    for (const char* name : {"_scheduled_tasks", "_all_tasks"}) {
      const Address set = dicts.Find(names, name);
      const Address data = set == 0 ? 0 : dicts.Attribute(set, "data");
      if (data != 0) at->of_references.push_back(data);
    }
    if (const Address eager = dicts.Find(names, "_eager_tasks")) at->of_tasks.push_back(eager);
  }
  at->until_ns = now_ns + (at->of_references.empty() ? kNoSetsNs : kSetsNs);
  return *at;
}

// By the address of its type, once that was met.
bool TaskReader::IsOfType(Address object, std::string_view name, Address* known) {
  const Address type =
      PlausiblePointer(object) ? objects_.Word(object + table_->objects.type).value_or(0) : 0;
  if (type == 0) return false;
  if (*known != 0) return type == *known;
  if (objects_.NameOfType(type) != name) return false;
  *known = type;
  return true;
}

std::string TaskReader::NameOf(Address task, Address object) {
  DictReader dicts(&objects_);
  if (object == 0) object = dicts.Attribute(task, "_name");
  // 3.12+: the number of a task whose name nobody has asked for.
  std::string name = dicts.Str(object).value_or("");
  return IsGivenByAsyncio(name) ? std::string() : name;
}

// One of those that await the task, by its own record.
Address TaskReader::AwaiterOf(const std::byte* task) {
  const auto awaited_by = Load<Address>(task + at_->awaited_by);
  if (awaited_by == 0 || Load<uint8_t>(task + at_->awaited_by_is_set) == 0) return awaited_by;
  std::vector<Address> awaiters;
  ListSet(awaited_by, &awaiters);
  // Of several always the same one: a sample cannot have two callers.
  return awaiters.empty() ? 0 : std::ranges::min(awaiters);
}

AsyncTask TaskReader::ReadTask(Address address, int64_t now_ns, Address* future) {
  AsyncTask task;
  bytes_.resize(at_->size);
  if (!pages_.ReadExact(address, bytes_.data(), bytes_.size())) return task;
  task.address = address;
  task.coroutine = Load<Address>(bytes_.data() + at_->coroutine);
  task.name_object = Load<Address>(bytes_.data() + at_->name);
  if (at_->has_lists()) task.awaiter = AwaiterOf(bytes_.data());
  task.frame = coroutines_.FrameOf(task.coroutine);
  if (task.frame == 0) {
    // Not of _asyncio's kind: asyncio.tasks._PyTask, and what others derive from it.
    DictReader dicts(&objects_);
    task.coroutine = dicts.Attribute(address, "_coro");
    task.name_object = 0;
    task.in_python = true;
    task.frame = coroutines_.FrameOf(task.coroutine);
    if (task.frame == 0) return task;
  }
  const auto known = names_.find(address);
  task.name = known != names_.end() && known->second.coroutine == task.coroutine &&
                      known->second.object == task.name_object
                  ? known->second.name
                  : NameOf(address, task.name_object);
  const CoroutineReader::Chain chain = coroutines_.Follow(task.coroutine, now_ns, &task.frames);
  task.state = chain.state;
  *future = chain.future;
  return task;
}

// Before 3.14, who awaits whom shows in what the tasks wait for.
void TaskReader::LinkWaiting(const std::vector<Address>& futures, std::vector<AsyncTask>* tasks) {
  std::unordered_map<Address, size_t> index;
  for (size_t i = 0; i < tasks->size(); ++i) index.emplace((*tasks)[i].address, i);
  auto link = [&](Address child, size_t parent) {
    const auto at = index.find(child);
    if (at == index.end() || at->second == parent) return;
    AsyncTask& task = (*tasks)[at->second];
    if (task.parent == SIZE_MAX) task.parent = parent;
  };
  DictReader dicts(&objects_);
  for (size_t i = 0; i < tasks->size(); ++i) {
    if (const Address awaiter = (*tasks)[i].awaiter; awaiter != 0) {
      const auto at = index.find(awaiter);
      if (at != index.end() && at->second != i) (*tasks)[i].parent = at->second;
    }
    if (futures[i] == 0 || at_->has_lists()) continue;
    link(futures[i], i);
    if (index.contains(futures[i])) continue;
    // gather(): a future with a list of those that it waits for.
    if (!IsOfType(futures[i], "_GatheringFuture", &gather_type_)) continue;
    const Address children = dicts.Attribute(futures[i], "_children");
    uint64_t size = 0;
    Address items = 0;
    if (children == 0 || !pages_.ReadValue(children + layout::kListSize, &size) ||
        !pages_.ReadValue(children + layout::kListItems, &items) || size > kMaxTasks) {
      continue;
    }
    std::vector<Address> list(size);
    if (size == 0 || !pages_.ReadExact(items, list.data(), size * 8)) continue;
    for (const Address child : list) link(child, i);
  }
  if (at_->has_lists()) return;
  // TaskGroup: what is to be called at a task's end is a method of the group.
  for (size_t i = 0; i < tasks->size(); ++i) {
    if ((*tasks)[i].parent != SIZE_MAX) continue;
    const Address callback = objects_.Word((*tasks)[i].address + at_->callback).value_or(0);
    if (!IsOfType(callback, "method", &method_type_)) continue;
    const Address group = objects_.Word(callback + layout::kMethodSelf).value_or(0);
    const auto parent = index.find(dicts.Attribute(group, "_parent_task"));
    if (parent != index.end() && parent->second != i) (*tasks)[i].parent = parent->second;
  }
}

// Tasks that await each other wait forever; and a list read while it changes may say anything.
void TaskReader::BreakCycles(std::vector<AsyncTask>* tasks) {
  std::vector<uint8_t> done(tasks->size(), 0);  // 1: on the way, 2: leads to a root
  for (size_t i = 0; i < tasks->size(); ++i) {
    std::vector<size_t> way;
    size_t at = i;
    while (at != SIZE_MAX && done[at] == 0) {
      done[at] = 1;
      way.push_back(at);
      at = (*tasks)[at].parent;
    }
    if (at != SIZE_MAX && done[at] == 1) (*tasks)[way.back()].parent = SIZE_MAX;
    for (const size_t task : way) done[task] = 2;
  }
}

std::vector<AsyncTask> TaskReader::Read(const ThreadList& threads, int64_t now_ns) {
  std::vector<AsyncTask> tasks;
  if (!at_) return tasks;
  pages_.Clear();
  std::vector<Address> addresses;
  if (at_->has_lists()) {
    for (const PythonThread& thread : threads.threads) {
      ListFrom(thread.tstate + at_->thread_tasks, &addresses);
    }
  }
  for (const PythonInterpreter& interpreter : threads.interpreters) {
    if (at_->has_lists()) ListFrom(interpreter.address + at_->interpreter_tasks, &addresses);
    const Sets& sets = SetsOf(interpreter, now_ns);
    for (const Address set : sets.of_references) ListReferents(set, &addresses);
    for (const Address set : sets.of_tasks) ListSet(set, &addresses);
  }
  std::vector<Address> futures;
  std::unordered_set<Address> seen;
  for (const Address address : addresses) {
    if (tasks.size() == kMaxTasks || !seen.insert(address).second) continue;
    Address future = 0;
    AsyncTask task = ReadTask(address, now_ns, &future);
    if (task.frame == 0) continue;
    tasks.push_back(std::move(task));
    futures.push_back(future);
  }
  names_.clear();
  for (const AsyncTask& task : tasks) {
    names_.emplace(task.address, Name{task.coroutine, task.name_object, task.name});
  }
  LinkWaiting(futures, &tasks);
  BreakCycles(&tasks);
  return tasks;
}

std::optional<AsyncTask> TaskReader::Running(Address tstate) {
  if (!at_ || !at_->has_lists()) return std::nullopt;
  pages_.Clear();
  Address address = 0;
  AsyncTask task;
  if (!memory_->ReadValue(tstate + at_->running_task, &address) || !PlausiblePointer(address)) {
    return std::nullopt;
  }
  bytes_.resize(at_->size);
  if (!memory_->ReadExact(address, bytes_.data(), bytes_.size())) return std::nullopt;
  task.address = address;
  task.coroutine = Load<Address>(bytes_.data() + at_->coroutine);
  task.name_object = Load<Address>(bytes_.data() + at_->name);
  task.frame = coroutines_.FrameOf(task.coroutine);
  if (task.frame == 0) return std::nullopt;
  task.awaiter = AwaiterOf(bytes_.data());
  task.name = NameOf(address, task.name_object);
  task.state = CoroutineReader::State::kRunning;
  return task;
}

bool TaskReader::IsStill(const AsyncTask& task) {
  if (task.in_python) {
    pages_.Clear();
    return DictReader(&objects_).Attribute(task.address, "_coro") == task.coroutine;
  }
  Address words[2] = {};
  const RemoteRange ranges[] = {{task.address + at_->coroutine, 8}, {task.address + at_->name, 8}};
  if (memory_->Read(ranges, words) != sizeof words) return false;
  return words[0] == task.coroutine && words[1] == task.name_object;
}

}  // namespace linescope
