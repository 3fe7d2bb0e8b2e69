#pragma once
// Native stacks from a copy of the stack's memory and the registers, after the thread was let go:
// libunwind does the arithmetic of DWARF, all bytes come from here.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "native/code_map.h"
#include "native/registers.h"

namespace linescope {

struct StackCopy {
  Address begin = 0;
  std::span<const std::byte> bytes;
};

// One physical frame; inlined functions are found when it is named.
struct NativeFrame {
  Address pc = 0;     // of the instruction that executes: in callers, the last byte of the call
  Address stack = 0;  // its stack pointer; the frame reaches up to that of its caller
  const CodeModule* module = nullptr;  // valid until the map's next Refresh; nullptr: unknown code
};

// Why there are no further frames.
enum class UnwindEnd : uint8_t {
  kRoot,      // the thread's first function
  kCode,      // the code is in no file that is mapped
  kNoInfo,    // its file has no unwinding information for it
  kRegister,  // a register is needed that is not known, of a thread that is blocked
  kStack,     // the copy of the stack ends here, or what was read from it makes no sense
};
const char* UnwindEndName(UnwindEnd end);

// Whether stacks can be unwound here: kUnsupported where libunwind is not installed.
Status CheckUnwinding();

// One thread; one process. CheckUnwinding() has to have succeeded.
class Unwinder {
 public:
  explicit Unwinder(CodeMap* map);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // The frames, leaf first, as far as they are certain. No guess is made where unwinding
  // information is missing.
  UnwindEnd Unwind(const Registers& registers, const StackCopy& stack,
                   std::vector<NativeFrame>* frames);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linescope
