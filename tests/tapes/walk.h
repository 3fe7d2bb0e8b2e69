#pragma once
// The walk that a tape holds, the same when it is recorded and when it is replayed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "python/code_cache.h"
#include "python/layout.h"
#include "python/stack_reader.h"
#include "python/thread_list.h"
#include "python/thread_names.h"

namespace linescope {

// The table of a version, with the runtime's own offsets where it has them. `traced`: of a build
// that traces references, before 3.13 (on tapes: the fact "traced").
inline Result<layout::Table> ReadTable(RemoteMemory* memory, const PythonVersion& version,
                                       Address runtime, bool traced) {
  LS_TRY(table, LayoutFor(version));
  if (traced) return WithTracedReferences(table);
  std::byte head[kDebugOffsetsBytes];
  if (table.minor >= 13) {
    if (!memory->ReadExact(runtime, head, sizeof head)) {
      return Fail(ErrorCode::kGone, "the runtime at {:#x} cannot be read", runtime);
    }
    LS_CHECK_OK(ApplyDebugOffsets(head, &table));
  }
  return table;
}

// Reads all threads' stacks, exact and free, `samples` times, letting the target go on by `between`
// (not before the first). The result: "<sample>.<thread>.<exact|free>" → "decision" and the frames,
// root first, one a line; "name.<ident>" → a thread's name.
inline std::map<std::string, std::string> WalkStacks(RemoteMemory* memory,
                                                     const layout::Table& table, Address runtime,
                                                     int samples,
                                                     const std::function<void()>& between) {
  std::map<std::string, std::string> stacks;
  CodeCache codes(memory, &table);
  std::map<std::pair<Address, int>,
           std::pair<std::unique_ptr<StackReader>, std::unique_ptr<StackReader>>>
      readers;
  for (int sample = 0; sample < samples; ++sample) {
    if (sample > 0) between();
    ThreadList list;
    if (!ReadThreadList(memory, table, runtime, &list)) return stacks;
    if (sample == 0 && !list.interpreters.empty()) {
      for (const auto& [ident, name] :
           ReadThreadNames(memory, table, list.interpreters.front().modules)) {
        stacks[fmt::format("name.{}", ident)] = name;
      }
    }
    for (const PythonThread& thread : list.threads) {
      auto& [exact, free] = readers[{thread.tstate, thread.native_id}];
      if (exact == nullptr) {
        exact = MakeStackReader(memory, &table, &codes, thread);
        free = MakeStackReader(memory, &table, &codes, thread);
      }
      for (StackReader* reader : {exact.get(), free.get()}) {
        Decision decision = Decision::kAgain;
        for (int round = 0; round < 8 && decision == Decision::kAgain; ++round) {
          std::vector<RemoteRange> ranges;
          reader->Plan(reader == exact.get(), &ranges);
          std::vector<std::byte> bytes(reader->planned_bytes());
          if (memory->Read(ranges, bytes.data()) != static_cast<ssize_t>(bytes.size())) {
            reader->ResetPrediction();
            continue;
          }
          decision = reader->Decide(bytes.data(), reader == exact.get(), sample);
        }
        std::string text = fmt::format("decision {}", static_cast<int>(decision));
        if (decision == Decision::kOk) {
          for (const StackFrame& frame : reader->frames()) {
            text += fmt::format("\n{}:{}:{}", frame.code->file, frame.code->qualified_name,
                                frame.code->LineAt(frame.unit));
          }
        }
        stacks[fmt::format("{}.{}.{}", sample, thread.native_id,
                           reader == exact.get() ? "exact" : "free")] = text;
      }
    }
  }
  return stacks;
}

}  // namespace linescope
