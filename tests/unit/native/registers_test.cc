#include "native/registers.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace linescope {
namespace {

TEST(BlockedRegisters, StackAndInstructionOfASystemCall) {
  const auto found = ParseBlockedRegisters(
      "230 0x1 0x0 0x7ffd5e3a4d50 0x0 0x0 0x0 0x7ffd5e3a4ce8 0x7f4ad2ee7c53\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stack(), 0x7ffd5e3a4ce8u);
  EXPECT_EQ(found->instruction(), 0x7f4ad2ee7c53u);
  EXPECT_TRUE(found->Has(Registers::kStack));
  EXPECT_FALSE(found->Has(Registers::kFrame));
}

TEST(BlockedRegisters, BlockedOutsideASystemCall) {
  const auto found = ParseBlockedRegisters("-1 0x7ffd5e3a4ce8 0x7f4ad2ee7c53");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instruction(), 0x7f4ad2ee7c53u);
}

TEST(BlockedRegisters, AnythingElseIsNone) {
  for (const char* text :
       {"", "running\n", "-1", "-1 0x0 0x0\n", "0 0x1", "1 2 3", "-1 0x1 0xzz",
        "0 0x0 0x0 0x0 0x0 0x0 0x0 7ffd 0x7f4a\n", "-1 0x11111111111111111 0x1"}) {
    EXPECT_FALSE(ParseBlockedRegisters(text)) << text;
  }
}

TEST(StoppedRegisters, OfAChildThatAsksToBeTraced) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const auto registers = ReadStoppedRegisters(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(registers) << registers.error().what;
  // A fork has our stack, and stands in our code.
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  EXPECT_LT(registers->stack() > here ? registers->stack() - here : here - registers->stack(),
            1u << 20);
  EXPECT_NE(registers->instruction(), 0u);
  EXPECT_TRUE(registers->Has(Registers::kFrame));
  EXPECT_FALSE(ReadStoppedRegisters(child));
}

}  // namespace
}  // namespace linescope
