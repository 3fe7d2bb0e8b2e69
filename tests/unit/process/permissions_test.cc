#include "process/permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <unistd.h>

namespace linescope {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  AccessFacts facts;
  AccessRule rule;
  const char* why;
};

TEST(Judge, NamesTheRuleThatForbids) {
  const Case cases[] = {
      {"allowed", {.error = 0}, AccessRule::kAllowed, ""},
      {"missing", {.error = ESRCH, .exists = false}, AccessRule::kGone, "no such process"},
      {"zombie", {.error = ESRCH, .zombie = true}, AccessRule::kGone, "has ended"},
      {"kernel thread",
       {.error = ESRCH, .kernel_thread = true},
       AccessRule::kKernelThread,
       "kernel"},
      {"user",
       {.error = EPERM, .ids_match = false, .our_uid = 1000, .target_uid = 33},
       AccessRule::kOtherUser,
       "belongs to user 33, linescope runs as user 1000"},
      {"group",
       {.error = EPERM, .ids_match = false, .our_uid = 33, .target_uid = 33},
       AccessRule::kOtherUser,
       "group ids differ"},
      {"user before Yama",
       {.error = EPERM, .ids_match = false, .yama_scope = 1},
       AccessRule::kOtherUser,
       ""},
      {"dumpable", {.error = EPERM, .dumpable = false}, AccessRule::kNotDumpable, "non-dumpable"},
      {"capabilities",
       {.error = EPERM, .missing_caps = uint64_t{1} << CAP_SYS_PTRACE | uint64_t{1} << CAP_BPF},
       AccessRule::kMoreCapabilities,
       "capabilities that linescope lacks: CAP_SYS_PTRACE, CAP_BPF"},
      {"set-uid program",
       {.error = EPERM,
        .ids_match = false,
        .our_uid = 1000,
        .target_uid = 0,
        .target_real_uid = 1000},
       AccessRule::kOtherUser,
       "rights of user 0 (a set-uid program)"},
      {"Yama 1",
       {.error = EPERM, .yama_scope = 1},
       AccessRule::kYamaDescendants,
       "ptrace_scope is 1"},
      {"Yama 1, our child",
       {.error = EPERM, .descendant = true, .yama_scope = 1},
       AccessRule::kUnknown,
       ""},
      {"Yama 2",
       {.error = EPERM, .descendant = true, .yama_scope = 2},
       AccessRule::kYamaAdmin,
       "ptrace_scope is 2"},
      {"Yama 3",
       {.error = EPERM, .have_sys_ptrace = true, .yama_scope = 3},
       AccessRule::kYamaNobody,
       "ptrace_scope is 3"},
      {"namespace",
       {.error = EPERM, .same_user_namespace = false, .have_sys_ptrace = true},
       AccessRule::kOtherUserNamespace,
       "user namespace"},
      {"filter answers ENOSYS", {.error = ENOSYS}, AccessRule::kSeccomp, "seccomp"},
      {"filter answers EPERM",
       {.error = EPERM, .have_sys_ptrace = true, .seccomp_filter = true},
       AccessRule::kSeccomp,
       "seccomp"},
      {"other module",
       {.error = EPERM, .have_sys_ptrace = true},
       AccessRule::kUnknown,
       "Operation not permitted"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const MemoryAccess access = Explain(c.facts, 42);
    EXPECT_EQ(access.rule, c.rule);
    EXPECT_EQ(access.allowed(), c.facts.error == 0);
    EXPECT_THAT(access.why, HasSubstr(c.why));
    const bool nothing_helps =
        c.rule == AccessRule::kAllowed || c.rule == AccessRule::kKernelThread;
    EXPECT_EQ(access.remedy.empty(), nothing_helps);
  }
}

TEST(CheckMemoryAccess, AllowsOurselves) {
  const MemoryAccess access = CheckMemoryAccess(::getpid());
  EXPECT_TRUE(access.allowed()) << access.why;
}

TEST(CheckMemoryAccess, RefusesAKernelThread) {
  // Thread 2 is kthreadd in the first pid namespace, and anything or nothing in a container.
  const AccessFacts facts = GatherAccessFacts(2, ESRCH);
  if (!facts.kernel_thread) GTEST_SKIP() << "no kernel threads are visible here";
  EXPECT_EQ(CheckMemoryAccess(2).rule, AccessRule::kKernelThread);
}

}  // namespace
}  // namespace linescope
