#pragma once
// Coroutines that wait: the chain of what awaits what, from the frames that they keep while they do
// not run.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "python/code_cache.h"
#include "python/stack_reader.h"
#include "python/tasks_layout.h"

namespace linescope {

class CoroutineReader {
 public:
  CoroutineReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes);

  enum class State : uint8_t {
    kWaiting,  // suspended, or not begun: it has the frames that were read
    kRunning,  // or it was being resumed while it was read
    kNone,     // finished, no coroutine of the interpreter's own, or unreadable
  };
  struct Chain {
    State state = State::kNone;
    Address frame = 0;   // of the outermost coroutine, as StackFrame::address
    Address future = 0;  // what the innermost one waits for, if that is a future of asyncio's
  };
  // Appends the frames of `coroutine` and of what it awaits, outermost first. Bounded; free of
  // cycles.
  Chain Follow(Address coroutine, int64_t now_ns, std::vector<StackFrame>* frames);
  // Address of the frame that `coroutine` has, also while it runs; 0: none.
  Address FrameOf(Address coroutine);

 private:
  enum class Kind : uint8_t { kOther, kCoroutine, kBetween, kFuture };
  struct Step {
    State state = State::kNone;
    StackFrame frame;
    Address awaited[2] =
        {};  // candidates: the values on top, which may be of the interpreter's own
  };
  Kind KindOf(Address object);
  Step Read(Address coroutine, int64_t now_ns);
  Step ReadEmbedded(Address coroutine, int64_t now_ns);
  Step ReadFrameObject(Address coroutine, int64_t now_ns);
  bool SetPlace(Address code, Address instr, int64_t now_ns, StackFrame* frame);

  static constexpr size_t kMaxDepth = 512;
  ObjectReader objects_;
  const layout::Table* table_;
  const layout::Coroutine* at_;
  CodeCache* codes_;
  std::unordered_map<Address, Kind> kinds_;  // by type
  std::vector<std::byte> bytes_;
};

}  // namespace linescope
