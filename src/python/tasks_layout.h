#pragma once
// Where coroutines and asyncio's tasks keep what is read of them. For --async; what every walk
// needs is in layout.h. All offsets are bytes.
#include <cstdint>
#include <span>

#include "base/result.h"
#include "python/layout.h"

namespace linescope::layout {

// Generators, coroutines and asynchronous generators, which begin alike.
struct Coroutine {
  uint32_t frame_object;  // before 3.11: gi_frame, a pointer; kNone: layout::Generator::frame
  // 3.11+: gi_frame_state, and the values that it has before the first step and while waiting.
  uint32_t state;
  int8_t created, first_suspended, last_suspended;
  // Before 3.11, of a frame object: where its values begin (f_valuestack), and how many there are
  // (f_stackdepth, 3.10) or where they end (f_stacktop).
  uint32_t values, depth;
  bool depth_is_end;
};

// What iterators that stand between two coroutines keep first: the next one, or the future.
inline constexpr uint32_t kAwaited = 16;

// The same in every version that is read: sets (a table of keys and hashes), lists, references,
// bound methods.
inline constexpr uint32_t kSetMask = 32, kSetTable = 40, kSetEntryBytes = 16;
inline constexpr uint32_t kListSize = 16, kListItems = 24;
inline constexpr uint32_t kReferent = 16;  // wr_object
inline constexpr uint32_t kMethodSelf = 24;

// A Task of _asyncio, the C module (Modules/_asynciomodule.c).
struct Tasks {
  uint32_t size;      // as much of it as is read
  uint32_t callback;  // task_callback0
  uint32_t waiter, coroutine, name;
  // 3.14+: who awaits it (one, or a set of them), and the lists of tasks.
  uint32_t awaited_by, awaited_by_is_set, node;
  uint32_t interpreter_tasks, thread_tasks, running_task;
  [[nodiscard]] bool has_lists() const { return node != kNone; }
};

// For CPython 3.`minor`; newer ones as the newest known.
const Coroutine& CoroutineFor(int minor);
// nullptr from 3.14 on, where the module brings its own offsets.
const Tasks* TasksFor(int minor);

// The section that holds them, and its size.
inline constexpr char kAsyncioDebugSection[] = ".AsyncioDebug";
inline constexpr size_t kAsyncioDebugBytes = 13 * 8;
// kCorrupt when they are out of any plausible range.
Result<Tasks> ReadAsyncioDebug(std::span<const std::byte> section);

}  // namespace linescope::layout
