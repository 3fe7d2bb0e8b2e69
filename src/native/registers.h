#pragma once
// The registers from which a native stack is unwound.
#include <array>
#include <cstdint>

#include "base/result.h"
#include "process/remote_memory.h"

namespace linescope {

// By DWARF's numbers of x86-64 (System V ABI, figure 3.36): 6 is rbp, 7 is rsp, 16 the address of
// the next instruction.
struct Registers {
  static constexpr size_t kCount = 17;
  static constexpr size_t kFrame = 6, kStack = 7, kInstruction = 16;

  std::array<uint64_t, kCount> values{};
  uint32_t known = 0;  // a bit each

  [[nodiscard]] Address stack() const { return values[kStack]; }
  [[nodiscard]] Address instruction() const { return values[kInstruction]; }
  [[nodiscard]] bool Has(size_t number) const { return number < kCount && (known >> number & 1); }
  void Set(size_t number, uint64_t value) {
    values[number] = value;
    known |= 1U << number;
  }
};

// Of a thread that the calling thread has stopped by ptrace.
Result<Registers> ReadStoppedRegisters(int tid);

// Of a thread that is blocked in the kernel, without touching it: the kernel tells where its stack
// and its next instruction are (/proc/PID/task/TID/syscall), and no other register. Fails with
// kGone for a thread that has ended or is not blocked.
Result<Registers> ReadBlockedRegisters(int pid, int tid);
// The same from the file's text; for tests.
Result<Registers> ParseBlockedRegisters(std::string_view text);

}  // namespace linescope
