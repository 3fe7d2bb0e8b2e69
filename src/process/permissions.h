#pragma once
// May this process read another's memory, and if not: which of the kernel's rules forbids it, and
// what mends it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linescope {

// In the order in which the kernel (__ptrace_may_access and the security modules after it) and we
// decide.
enum class AccessRule : uint8_t {
  kAllowed,
  kGone,                // no such process, or a zombie, whose memory is gone
  kKernelThread,        // has no memory of its own
  kOtherUser,           // user or group ids differ, and no CAP_SYS_PTRACE
  kOtherUserNamespace,  // CAP_SYS_PTRACE is ours, but not in the namespace that owns the target
  kNotDumpable,         // PR_SET_DUMPABLE 0, or it was set-uid or unreadable when executed
  kMoreCapabilities,    // the target has capabilities that we lack
  kYamaDescendants,     // Yama ptrace_scope 1: only descendants
  kYamaAdmin,           // 2: only with CAP_SYS_PTRACE
  kYamaNobody,          // 3: nobody, until reboot
  kSeccomp,             // a filter on us (container, sandbox) answers in the kernel's place
  kUnknown,             // another security module (SELinux, AppArmor)
};

// What the decision rests on; gathered by GatherAccessFacts, made up by tests.
struct AccessFacts {
  int error = 0;  // errno of the attempt; 0: it worked
  bool exists = true;
  bool zombie = false;
  bool kernel_thread = false;
  bool ids_match = true;  // our real ids equal the target's real, effective and saved ones
  bool same_user_namespace = true;  // as far as it can be seen
  bool have_sys_ptrace = false;     // CAP_SYS_PTRACE in our effective set
  bool dumpable = true;
  bool descendant = false;                       // the target descends from us
  bool seccomp_filter = false;                   // on us
  std::optional<int> yama_scope = std::nullopt;  // none: the kernel has no Yama
  uint32_t our_uid = 0;
  uint32_t target_uid = 0;       // by whose rights it runs
  uint32_t target_real_uid = 0;  // who started it
  uint64_t missing_caps = 0;     // those of the target that we lack
};

AccessRule Judge(const AccessFacts& facts);

struct MemoryAccess {
  AccessRule rule = AccessRule::kUnknown;
  bool by_file = false;  // allowed, but by /proc/PID/mem alone
  int error = 0;
  std::string
      why;  // a clause: "it belongs to user 33 and linescope runs as user 1000"; empty when allowed
  std::string
      remedy;  // what to do: "run linescope as that user or with sudo"; empty when nothing helps

  [[nodiscard]] bool allowed() const { return rule == AccessRule::kAllowed; }
};

AccessFacts GatherAccessFacts(int pid, int error);
MemoryAccess Explain(const AccessFacts& facts, int pid);

// Tries to read the memory of `pid`, and explains the outcome; `error` is then that of
// process_vm_readv, also where reading works by file. For `doctor`.
MemoryAccess CheckMemoryAccess(int pid);

// The error for an attempt that failed with the errno `error`: kGone or kDenied, with the rule and
// the remedy.
Error AccessError(int pid, int error);

// Yama's ptrace_scope, 0 to 3; none where the kernel has no Yama.
std::optional<int> YamaScope();
std::string_view YamaScopeMeaning(int scope);
// Whether CAP_SYS_PTRACE is in our effective set.
bool HaveSysPtrace();

}  // namespace linescope
