// Any bytes may lie where a coroutine, a task or a list of them is expected: what is followed stays
// bounded.
#include <cstdlib>

#include "process/fake_memory.h"
#include "python/task_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  if (size < 2 || size > 1 << 16) return 0;
  constexpr Address kBase = 0x100000;
  FakeMemory memory;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  memory.Write(kBase, bytes);
  const layout::Table& table = *layout::kTables[data[0] % layout::kTables.size()];
  CodeCache codes(&memory, &table);
  std::vector<StackFrame> frames;
  CoroutineReader(&memory, &table, &codes).Follow(kBase, 1, &frames);
  if (frames.size() > size) std::abort();  // each has a frame of its own
  TaskReader reader(&memory, &table, &codes);
  if (const auto offsets = layout::ReadAsyncioDebug(bytes)) reader.SetOffsets(*offsets);
  ThreadList threads;
  threads.threads.push_back({.tstate = kBase});
  threads.interpreters.push_back({.address = kBase, .id = 0, .modules = kBase + 8});
  const std::vector<AsyncTask> tasks = reader.Read(threads, 1);
  for (const AsyncTask& task : tasks) {
    if (task.parent != SIZE_MAX && task.parent >= tasks.size()) std::abort();
    reader.IsStill(task);
  }
  reader.Running(kBase);
  return 0;
}
