#include "native/registers.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace linescope {

#if !defined(__x86_64__)
#error "registers are read on x86-64 only"
#endif

Result<Registers> ReadStoppedRegisters(int tid) {
  user_regs_struct words{};
  iovec area{&words, sizeof words};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &area) != 0) {
    return Fail(errno == ESRCH ? ErrorCode::kGone : ErrorCode::kDenied,
                "cannot read the registers of thread {}: {}", tid, ErrnoText());
  }
  if (area.iov_len != sizeof words) {
    return Fail(ErrorCode::kUnsupported, "thread {} runs in another mode than 64 bits", tid);
  }
  Registers registers;
  const uint64_t in_order[Registers::kCount] = {
      words.rax, words.rdx, words.rcx, words.rbx, words.rsi, words.rdi,
      words.rbp, words.rsp, words.r8,  words.r9,  words.r10, words.r11,
      words.r12, words.r13, words.r14, words.r15, words.rip};
  for (size_t i = 0; i < Registers::kCount; ++i) registers.Set(i, in_order[i]);
  return registers;
}

Result<Registers> ParseBlockedRegisters(std::string_view text) {
  // "NR ARG0 … ARG5 SP PC", "-1 SP PC" when blocked outside a system call, or "running".
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  auto hex = [](std::string_view word, uint64_t* value) {
    if (!word.starts_with("0x")) return false;
    const auto [end, error] =
        std::from_chars(word.data() + 2, word.data() + word.size(), *value, 16);
    return error == std::errc() && end == word.data() + word.size();
  };
  uint64_t stack = 0, instruction = 0;
  const bool blocked = words.size() == 9 || (words.size() == 3 && words[0] == "-1");
  if (!blocked || !hex(words[words.size() - 2], &stack) ||
      !hex(words[words.size() - 1], &instruction) || stack == 0 || instruction == 0) {
    return Fail(ErrorCode::kGone, "the thread is not blocked");
  }
  Registers registers;
  registers.Set(Registers::kStack, stack);
  registers.Set(Registers::kInstruction, instruction);
  return registers;
}

Result<Registers> ReadBlockedRegisters(int pid, int tid) {
  const UniqueFd file(
      ::open(fmt::format("/proc/{}/task/{}/syscall", pid, tid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[256];
  const ssize_t size = file ? ::read(file.get(), text, sizeof text) : -1;
  if (size < 0) {
    return Fail(ErrorCode::kGone, "cannot read where thread {} is blocked: {}", tid, ErrnoText());
  }
  return ParseBlockedRegisters({text, static_cast<size_t>(size)});
}

}  // namespace linescope
