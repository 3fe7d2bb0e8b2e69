// Facts: Include/internal/pycore_frame.h (3.15: pycore_interpframe_structs.h),
// Include/frameobject.h and Modules/_asynciomodule.c of each version; offsets measured with ctypes
// on x86-64.
#include <cstring>

#include "python/tasks_layout.h"

namespace linescope::layout {
namespace {

constexpr Coroutine kPointers = {.frame_object = 16,
                                 .state = kNone,
                                 .created = 0,
                                 .first_suspended = 0,
                                 .last_suspended = 0,
                                 .values = 64,
                                 .depth = 72,
                                 .depth_is_end = true};

constexpr Coroutine Python310() {
  Coroutine coroutine = kPointers;
  coroutine.depth = 80;
  coroutine.depth_is_end = false;
  return coroutine;
}

constexpr Coroutine Embedded(uint32_t state, int8_t created, int8_t first, int8_t last) {
  return {.frame_object = kNone,
          .state = state,
          .created = created,
          .first_suspended = first,
          .last_suspended = last,
          .values = kNone,
          .depth = kNone,
          .depth_is_end = false};
}

constexpr Coroutine kPython310Coroutine = Python310(),
                    kPython311Coroutine = Embedded(75, -2, -1, -1),
                    kPython312Coroutine = Embedded(67, -2, -1, -1),
                    kPython313Coroutine = Embedded(67, -3, -2, -1),
                    kPython315Coroutine = Embedded(67, 0, 1, 3);

constexpr Tasks BeforeLists(uint32_t waiter) {
  return {.size = waiter + 24,
          .callback = 24,
          .waiter = waiter,
          .coroutine = waiter + 8,
          .name = waiter + 16,
          .awaited_by = kNone,
          .awaited_by_is_set = kNone,
          .node = kNone,
          .interpreter_tasks = kNone,
          .thread_tasks = kNone,
          .running_task = kNone};
}

constexpr Tasks kPython38Tasks = BeforeLists(104), kPython39Tasks = BeforeLists(144),
                kPython310Tasks = BeforeLists(152), kPython311Tasks = BeforeLists(128),
                kPython313Tasks = BeforeLists(112);

}  // namespace

const Coroutine& CoroutineFor(int minor) {
  if (minor < 10) return kPointers;
  if (minor == 10) return kPython310Coroutine;
  if (minor == 11) return kPython311Coroutine;
  if (minor == 12) return kPython312Coroutine;
  return minor < 15 ? kPython313Coroutine : kPython315Coroutine;
}

const Tasks* TasksFor(int minor) {
  switch (minor) {
    case 8:
      return &kPython38Tasks;
    case 9:
      return &kPython39Tasks;
    case 10:
      return &kPython310Tasks;
    case 11:
    case 12:
      return &kPython311Tasks;
    case 13:
      return &kPython313Tasks;
    default:
      return nullptr;
  }
}

Result<Tasks> ReadAsyncioDebug(std::span<const std::byte> section) {
  uint64_t words[kAsyncioDebugBytes / 8];
  if (section.size() < sizeof words) {
    return Fail(ErrorCode::kUnsupported, "asyncio's table of offsets is of an unknown form");
  }
  std::memcpy(words, section.data(), sizeof words);
  const auto at = [&](size_t index) { return static_cast<uint32_t>(words[index]); };
  constexpr uint64_t kLargestTask = 1024, kLargestState = 1 << 24;
  bool plausible =
      words[0] <= kLargestTask && words[7] <= kLargestState && words[9] <= kLargestState;
  for (const size_t pointer : {1, 2, 5, 6}) plausible = plausible && words[pointer] + 8 <= words[0];
  plausible = plausible && words[4] < words[0] && words[5] >= 32 && words[8] + 16 <= words[7];
  for (const size_t pointer : {11, 12}) plausible = plausible && words[pointer] + 8 <= words[9];
  if (!plausible) {
    return Fail(ErrorCode::kCorrupt, "asyncio's table of offsets holds impossible values");
  }
  return Tasks{.size = at(0),
               .callback = 24,
               .waiter = at(5) - 8,  // stands before task_coro since 3.8
               .coroutine = at(5),
               .name = at(1),
               .awaited_by = at(2),
               .awaited_by_is_set = at(4),
               .node = at(6),
               .interpreter_tasks = at(8),
               .thread_tasks = at(12),
               .running_task = at(11)};
}

}  // namespace linescope::layout
