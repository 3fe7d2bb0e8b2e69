#include "python/thread_list.h"

#include <algorithm>
#include <unordered_set>

#include "python/target_words.h"

namespace linescope {
namespace {

// Beyond what any process has; only against lists that are garbage.
constexpr size_t kMaxInterpreters = 1 << 16, kMaxThreads = 1 << 20;

void ReadThreads(RemoteMemory* memory, const layout::Table& table, Address interpreter,
                 Address head, std::unordered_set<Address>* seen, std::vector<PythonThread>* out) {
  const layout::Thread& at = table.thread;
  std::byte header[512];
  const size_t size = std::max({at.next, at.interpreter, at.pthread_id, at.identity}) + 8;
  if (size > sizeof header) return;
  for (Address thread = head; PlausiblePointer(thread) && out->size() < kMaxThreads;) {
    if (!seen->insert(thread).second || !memory->ReadExact(thread, header, size)) return;
    // A thread state that was freed while we walked leads anywhere.
    if (Load<Address>(header + at.interpreter) != interpreter) return;
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
    ReadThreads(memory, table, interpreter, threads, &seen, &out->threads);
    interpreter = next;
  }
  return true;
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
