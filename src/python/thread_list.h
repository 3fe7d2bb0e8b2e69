#pragma once
// The interpreters of a runtime and their threads.
#include <cstdint>
#include <optional>
#include <vector>

#include "process/remote_memory.h"
#include "python/layout.h"

namespace linescope {

struct PythonThread {
  Address tstate = 0;
  Address interpreter = 0;
  uint64_t pthread_id = 0;  // threading.get_ident()
  int native_id = 0;        // the kernel's tid, in the target's pid namespace
  uint64_t identity = 0;    // see layout::Thread
  bool operator==(const PythonThread&) const = default;
};

struct PythonInterpreter {
  Address address = 0;
  int64_t id = 0;
  Address modules = 0;  // sys.modules
};

struct ThreadList {
  std::vector<PythonInterpreter> interpreters;
  std::vector<PythonThread> threads;
};

// Walks both lists. The target changes them meanwhile: every list is bounded and free of cycles,
// and what cannot be read ends its list. False when not even the head of the interpreters could be
// read.
bool ReadThreadList(RemoteMemory* memory, const layout::Table& table, Address runtime,
                    ThreadList* out);

// Whether the lists are still as `list` has them: one call for all threads. False as well when that
// cannot be read.
bool ThreadListStands(RemoteMemory* memory, const layout::Table& table, Address runtime,
                      const ThreadList& list);

// The kernel's id of the thread that has the state at `thread`, in the target's pid namespace; 0
// when no thread has taken it yet.
std::optional<int> ReadNativeId(RemoteMemory* memory, const layout::Table& table, Address thread);

// Whether an interpreter has its GIL for good: that of a free-threaded build is off, unless it was
// asked for or an extension needs it. nullopt when that cannot be read.
std::optional<bool> ReadGilEnabled(RemoteMemory* memory, const layout::Table& table,
                                   Address interpreter);

// Who holds the GIL of an interpreter: the thread state's address, 0 when it is free, kGilUnknown
// when that cannot be read, or the interpreter has none.
inline constexpr Address kGilUnknown = UINT64_MAX;
Address ReadGilHolder(RemoteMemory* memory, const layout::Table& table, Address runtime,
                      Address interpreter);

}  // namespace linescope
