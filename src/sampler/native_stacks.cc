#include "sampler/native_stacks.h"

#include <algorithm>

#include "base/clock.h"

namespace linescope {
namespace {

// 5 Python calls of before 3.11 fill 2 KiB; the limit of recursion is reached within a megabyte.
constexpr uint64_t kMaxStack = 1 << 20;
// Above the outermost frame that was found.
constexpr uint64_t kAboveRoot = 256;
// Code that is new is looked for at once, but not all the time.
constexpr int64_t kRefreshNs = 100'000'000;

}  // namespace

NativeStacks::NativeStacks(int pid, RemoteMemory* memory, const PythonRuntime& runtime,
                           NativeRegistry* registry)
    : pid_(pid),
      memory_(memory),
      registry_(registry),
      interpreter_(runtime.file),
      map_(pid, memory),
      unwinder_(&map_) {
  map_.Refresh();
}

bool NativeStacks::Plan(int tid, bool stopped, NativeThread* thread,
                        std::vector<RemoteRange>* ranges) {
  thread->planned = false;
  thread->blocked = !stopped;
  const auto registers = stopped ? ReadStoppedRegisters(tid) : ReadBlockedRegisters(pid_, tid);
  if (!registers) return false;
  thread->registers = *registers;
  const Address begin = registers->stack();
  Address end = map_.StackEnd(begin);
  if (end == 0) {  // it has grown, or is new
    map_.Refresh();
    end = map_.StackEnd(begin);
  }
  if (end == 0) return false;
  if (thread->root > begin && thread->root < end) end = thread->root;
  thread->stack = {begin, std::min(end - begin, kMaxStack)};
  thread->planned = true;
  ranges->push_back(thread->stack);
  return true;
}

bool NativeStacks::StillBlocked(int tid, const NativeThread& thread) const {
  const auto now = ReadBlockedRegisters(pid_, tid);
  return now && now->stack() == thread.registers.stack() &&
         now->instruction() == thread.registers.instruction();
}

const NativeStacks::Known& NativeStacks::KnownOf(const CodeModule& module) {
  if (known_generation_ != map_.generation()) {
    known_generation_ = map_.generation();
    known_.clear();
    // Also when the stack of none that is unwound reaches it.
    for (const CodeModule* candidate : map_.modules()) {
      if (candidate->file.path == interpreter_) KnownOf(*candidate);
    }
  }
  if (module.number >= known_.size()) known_.resize(module.number + 1);
  auto& known = known_[module.number];
  if (!known) {
    const bool interpreter = module.file.path == interpreter_;
    known = {.number = registry_->ModuleOf(pid_, memory_, module, interpreter),
             .loop = interpreter ? &registry_->LoopOf(pid_, memory_, module) : nullptr};
  }
  return *known;
}

bool NativeStacks::LoopsKnown() const {
  return std::ranges::any_of(known_, [](const std::optional<Known>& known) {
    return known && known->loop != nullptr && !known->loop->empty();
  });
}

bool NativeStacks::IsLoop(const NativeFrame& frame) {
  if (frame.module == nullptr) return false;
  const Known& known = KnownOf(*frame.module);
  const uint64_t address = frame.pc - frame.module->bias;
  return known.loop != nullptr && std::ranges::any_of(*known.loop, [&](const CodeRange& range) {
           return address >= range.begin && address < range.end;
         });
}

MergeResult NativeStacks::Merge(NativeThread* thread, const std::byte* stack,
                                const StackReader& python, KeepRoots roots,
                                std::vector<Frame>* frames) {
  frames->clear();
  native_.clear();
  bool complete = false;
  if (stack != nullptr) {
    const StackCopy copy{thread->stack.address, {stack, thread->stack.size}};
    end_ = unwinder_.Unwind(thread->registers, copy, &native_);
    if (end_ == UnwindEnd::kCode && MonotonicNs() >= next_refresh_ns_) {
      next_refresh_ns_ = MonotonicNs() + kRefreshNs;
      if (map_.Refresh()) end_ = unwinder_.Unwind(thread->registers, copy, &native_);
    }
    complete = end_ == UnwindEnd::kRoot;
    if (complete) {
      thread->root = native_.back().stack + kAboveRoot;
    } else if (end_ == UnwindEnd::kStack) {
      thread->root = 0;  // it may begin elsewhere now
    }
  }
  native_steps_.clear();
  for (size_t i = 0; i < native_.size(); ++i) {
    const NativeFrame& frame = native_[i];
    native_steps_.push_back({.eval = IsLoop(frame),
                             .low = frame.stack,
                             .high = i + 1 < native_.size() ? native_[i + 1].stack : 0});
  }
  python_steps_.clear();
  const auto python_frames = python.frames();
  for (size_t i = python_frames.size(); i-- > 0;) {
    PythonStep step{.entry = python.IsEntry(i)};
    if (step.entry) step.marker = python.EntryMarker(i);
    python_steps_.push_back(step);
  }
  const MergeResult result =
      MergeStacks({.steps = native_steps_, .complete = complete, .loops_known = LoopsKnown()},
                  python_steps_, roots, &merged_);
  for (const MergedStep& step : merged_) {
    if (!step.native) {
      frames->push_back({.python = &python_frames[python_frames.size() - 1 - step.index]});
      continue;
    }
    const NativeFrame& frame = native_[step.index];
    if (frame.module == nullptr) continue;
    const uint32_t module = KnownOf(*frame.module).number;
    frames->push_back({.location = registry_->LocationOf(module, frame.pc - frame.module->bias)});
  }
  return result;
}

}  // namespace linescope
