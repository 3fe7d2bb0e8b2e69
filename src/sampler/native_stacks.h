#pragma once
// The native side of one process's stacks: what to read of a thread that stands still, and, when it
// runs on already, its frames merged with the Python ones.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "native/code_map.h"
#include "native/unwinder.h"
#include "python/runtime.h"
#include "python/stack_reader.h"
#include "sampler/native_merge.h"
#include "sampler/native_names.h"

namespace linescope {

// Of one thread.
struct NativeThread {
  bool planned = false;  // the registers are known, and the stack is read with the next read
  bool blocked = false;  // they are those of a thread that sleeps
  Registers registers;
  RemoteRange stack;
  Address root = 0;  // where the stack began when it was last unwound to there
};

struct NativeMergeCounts {
  uint64_t merged = 0;    // stacks in which each native frame has its place
  uint64_t unread = 0;    // the registers could not be had
  uint64_t cut = 0;       // unwinding ended early
  uint64_t mismatch = 0;  // the native and the Python stack did not fit
};

// One thread of ours; the thread that stopped what it plans.
class NativeStacks {
 public:
  // `memory` and `registry` must outlive it.
  NativeStacks(int pid, RemoteMemory* memory, const PythonRuntime& runtime,
               NativeRegistry* registry);

  // Of a thread that was stopped by us, or that is blocked. Appends the stack's range. False: it
  // cannot be had, and nothing is appended.
  bool Plan(int tid, bool stopped, NativeThread* thread, std::vector<RemoteRange>* ranges);
  // Whether a blocked thread still is where Plan found it.
  [[nodiscard]] bool StillBlocked(int tid, const NativeThread& thread) const;

  // A frame of either kind, root first.
  struct Frame {
    const StackFrame* python = nullptr;
    uint32_t location = 0;  // of the registry, when it is a native one
  };
  // `stack` is what was read of the thread's stack; nullptr: nothing was. Gives the frames of both
  // kinds; where they do not fit, all Python frames.
  MergeResult Merge(NativeThread* thread, const std::byte* stack, const StackReader& python,
                    KeepRoots roots, std::vector<Frame>* frames);
  // Code may come and go; a second between two looks is enough.
  void Refresh() { map_.Refresh(); }

  // Why the last stack was cut.
  [[nodiscard]] UnwindEnd end() const { return end_; }

 private:
  // What is known of a module of the map.
  struct Known {
    uint32_t number = 0;                           // in the registry
    const std::vector<CodeRange>* loop = nullptr;  // of the interpreter's
  };
  const Known& KnownOf(const CodeModule& module);
  bool IsLoop(const NativeFrame& frame);
  [[nodiscard]] bool LoopsKnown() const;

  int pid_;
  RemoteMemory* memory_;
  NativeRegistry* registry_;
  std::string interpreter_;  // path of its file
  CodeMap map_;
  uint64_t known_generation_ = 0;
  std::vector<std::optional<Known>> known_;
  Unwinder unwinder_;
  int64_t next_refresh_ns_ = 0;
  UnwindEnd end_ = UnwindEnd::kRoot;
  // Kept for their memory.
  std::vector<NativeFrame> native_;
  std::vector<NativeStep> native_steps_;
  std::vector<PythonStep> python_steps_;
  std::vector<MergedStep> merged_;
};

}  // namespace linescope
