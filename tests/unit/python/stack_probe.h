#pragma once
// Reads stacks of a live target for tests, as the sampler does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "python/code_cache.h"
#include "python/runtime.h"
#include "python/stack_reader.h"
#include "python/thread_list.h"

namespace linescope {

// Plans, reads and decides until there is an answer; at most `rounds` times.
inline Decision ReadStack(RemoteMemory* memory, StackReader* reader, bool exact, int64_t now_ns,
                          int rounds = 8) {
  Decision decision = Decision::kAgain;
  std::vector<RemoteRange> ranges;
  std::vector<std::byte> bytes;
  for (int round = 0; round < rounds && decision == Decision::kAgain; ++round) {
    ranges.clear();
    reader->Plan(exact, &ranges);
    bytes.resize(reader->planned_bytes());
    if (memory->Read(ranges, bytes.data()) != static_cast<ssize_t>(bytes.size())) {
      reader->ResetPrediction();
      continue;
    }
    decision = reader->Decide(bytes.data(), exact, now_ns);
  }
  return decision;
}

inline std::string Describe(const StackFrame& frame) {
  return fmt::format("{}:{}:{}", frame.code->file, frame.code->qualified_name,
                     frame.code->LineAt(frame.unit));
}

// Root first, one frame a line; the interpreter's own trampolines left out.
inline std::vector<std::string> Describe(std::span<const StackFrame> frames) {
  std::vector<std::string> lines;
  for (const StackFrame& frame : frames) {
    if (!frame.code->shim) lines.push_back(Describe(frame));
  }
  return lines;
}

// A live target with all it takes to read its stacks.
struct StackProbe {
  std::unique_ptr<RemoteMemory> memory;
  PythonRuntime runtime;
  std::unique_ptr<CodeCache> codes;
  ThreadList list;

  // Records a failure and returns false when the target cannot be read.
  bool Open(int pid) {
    auto opened = OpenRemoteMemory(pid);
    if (!opened) return ADD_FAILURE() << opened.error().what, false;
    memory = *std::move(opened);
    auto found = FindRuntime(pid, memory.get());
    if (!found) return ADD_FAILURE() << found.error().what, false;
    runtime = *std::move(found);
    codes = std::make_unique<CodeCache>(memory.get(), &runtime.table);
    return ReadThreads();
  }
  bool ReadThreads() {
    return ReadThreadList(memory.get(), runtime.table, runtime.address, &list) &&
           !list.threads.empty();
  }
  [[nodiscard]] std::unique_ptr<StackReader> Reader(const PythonThread& thread) const {
    return MakeStackReader(memory.get(), &runtime.table, codes.get(), thread);
  }
  [[nodiscard]] const PythonThread* Thread(int native_id) const {
    const auto it = std::ranges::find(list.threads, native_id, &PythonThread::native_id);
    return it == list.threads.end() ? nullptr : &*it;
  }
};

}  // namespace linescope
