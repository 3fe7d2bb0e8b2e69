#include "python/thread_list.h"

#include <algorithm>
#include <unordered_set>

#include "python/target_words.h"

namespace linescope {
namespace {

// Beyond what any process has; only against lists that are garbage.
constexpr size_t kMaxInterpreters = 1 << 16, kMaxThreads = 1 << 20;
// A list that threads leave and enter may lead astray, for the moment.
constexpr int kAttempts = 4;

// False when the list did not end where it should: there may be more threads.
bool ReadThreads(RemoteMemory* memory, const layout::Table& table, Address interpreter,
                 Address thread, std::vector<PythonThread>* out) {
  const layout::Thread& at = table.thread;
  std::byte header[512];
  const size_t size = std::max({at.next, at.interpreter, at.pthread_id, at.identity}) + 8;
  if (size > sizeof header) return false;
  std::unordered_set<Address> seen;
  while (thread != 0 && out->size() < kMaxThreads) {
    if (!PlausiblePointer(thread) || !seen.insert(thread).second ||
        !memory->ReadExact(thread, header, size)) {
      return false;
    }
    // A thread state that was freed while we walked leads anywhere.
    if (Load<Address>(header + at.interpreter) != interpreter) return false;
    const auto pthread_id = Load<uint64_t>(header + at.pthread_id);
    const int native_id = at.native_id != layout::kNone
                              ? static_cast<int>(Load<uint64_t>(header + at.native_id))
                              : ReadNativeId(memory, table, thread).value_or(0);
    // 0: made, but not yet taken by its thread.
    if (native_id > 0) {
      out->push_back(
          {thread, interpreter, pthread_id, native_id, Load<uint64_t>(header + at.identity)});
    }
    thread = Load<Address>(header + at.next);
  }
  return true;
}

}  // namespace

std::optional<int> ReadNativeId(RemoteMemory* memory, const layout::Table& table, Address thread) {
  const layout::Thread& at = table.thread;
  uint64_t word = 0;
  if (at.native_id != layout::kNone) {
    if (!memory->ReadValue(thread + at.native_id, &word)) return std::nullopt;
    return static_cast<int>(word);
  }
  int32_t tid = 0;
  if (!memory->ReadValue(thread + at.pthread_id, &word) || !PlausiblePointer(word) ||
      !memory->ReadValue(word + at.tid_in_pthread, &tid)) {
    return std::nullopt;
  }
  return tid;
}

bool ReadThreadList(RemoteMemory* memory, const layout::Table& table, Address runtime,
                    ThreadList* out) {
  out->interpreters.clear();
  out->threads.clear();
  Address interpreter = 0;
  if (!memory->ReadValue(runtime + table.runtime.interpreters_head, &interpreter)) return false;
  std::unordered_set<Address> seen;
  while (PlausiblePointer(interpreter) && out->interpreters.size() < kMaxInterpreters &&
         seen.insert(interpreter).second) {
    const layout::Interpreter& at = table.interpreter;
    PythonInterpreter info{.address = interpreter};
    Address threads = 0, next = 0;
    if (!memory->ReadValue(interpreter + at.threads_head, &threads) ||
        !memory->ReadValue(interpreter + at.next, &next)) {
      break;
    }
    memory->ReadValue(interpreter + at.id, &info.id);
    memory->ReadValue(interpreter + at.modules, &info.modules);
    out->interpreters.push_back(info);
    const auto others = static_cast<ptrdiff_t>(out->threads.size());
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      out->threads.erase(out->threads.begin() + others, out->threads.end());
      if (ReadThreads(memory, table, interpreter, threads, &out->threads) ||
          !memory->ReadValue(interpreter + at.threads_head, &threads)) {
        break;
      }
    }
    interpreter = next;
  }
  return true;
}

std::optional<bool> ReadGilEnabled(RemoteMemory* memory, const layout::Table& table,
                                   Address interpreter) {
  if (!table.free_threaded) return true;
  Address gil = 0;
  int32_t enabled = 0;
  if (!memory->ReadValue(interpreter + table.interpreter.gil, &gil) || !PlausiblePointer(gil) ||
      !memory->ReadValue(gil + table.gil.enabled, &enabled)) {
    return std::nullopt;
  }
  // Any other number counts the modules that are being imported with it, for that time.
  return enabled == INT32_MAX;
}

bool ThreadListStands(RemoteMemory* memory, const layout::Table& table, Address runtime,
                      const ThreadList& list) {
  const layout::Interpreter& at = table.interpreter;
  const layout::Thread& thread_at = table.thread;
  const size_t thread_bytes =
      std::max({thread_at.next, thread_at.interpreter, thread_at.pthread_id, thread_at.identity}) +
      8;
  if (list.threads.empty()) return false;
  std::vector<RemoteRange> ranges = {{runtime + table.runtime.interpreters_head, 8}};
  for (const PythonInterpreter& interpreter : list.interpreters) {
    ranges.push_back({interpreter.address + at.next, 8});
    ranges.push_back({interpreter.address + at.threads_head, 8});
    ranges.push_back({interpreter.address + at.modules, 8});
  }
  for (const PythonThread& thread : list.threads) ranges.push_back({thread.tstate, thread_bytes});
  std::vector<std::byte> bytes(8 * (1 + 3 * list.interpreters.size()) +
                               thread_bytes * list.threads.size());
  if (memory->Read(ranges, bytes.data()) != static_cast<ssize_t>(bytes.size())) return false;

  const std::byte* word = bytes.data();
  const std::byte* words = bytes.data() + 8 * (1 + 3 * list.interpreters.size());
  auto thread = list.threads.begin();
  Address next_interpreter = Load<Address>(word);
  word += 8;
  for (const PythonInterpreter& interpreter : list.interpreters) {
    if (interpreter.address != next_interpreter) return false;
    next_interpreter = Load<Address>(word);
    Address next_thread = Load<Address>(word + 8);
    // There are none until the interpreter has got so far.
    if (Load<Address>(word + 16) != interpreter.modules) return false;
    word += 24;
    for (; thread != list.threads.end() && thread->interpreter == interpreter.address; ++thread) {
      if (thread->tstate != next_thread ||
          Load<uint64_t>(words + thread_at.identity) != thread->identity ||
          Load<uint64_t>(words + thread_at.pthread_id) != thread->pthread_id) {
        return false;
      }
      next_thread = Load<Address>(words + thread_at.next);
      words += thread_bytes;
    }
    if (next_thread != 0) return false;
  }
  return next_interpreter == 0 && thread == list.threads.end();
}

Address ReadGilHolder(RemoteMemory* memory, const layout::Table& table, Address runtime,
                      Address interpreter) {
  Address holder_at = 0, locked_at = 0;
  if (table.runtime.gil_holder != layout::kNone) {
    holder_at = runtime + table.runtime.gil_holder;
    locked_at = runtime + table.runtime.gil_locked;
  } else {
    Address gil = 0;
    if (!memory->ReadValue(interpreter + table.interpreter.gil, &gil) || !PlausiblePointer(gil)) {
      return kGilUnknown;
    }
    if (!ReadGilEnabled(memory, table, interpreter).value_or(true)) return kGilUnknown;
    holder_at = gil + table.gil.holder;
    locked_at = gil + table.gil.locked;
  }
  Address holder = 0;
  int32_t locked = 0;
  if (!memory->ReadValue(holder_at, &holder) || !memory->ReadValue(locked_at, &locked)) {
    return kGilUnknown;
  }
  return locked > 0 ? holder : 0;
}

}  // namespace linescope
