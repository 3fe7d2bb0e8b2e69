#include "process/permissions.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "process/live_memory.h"
#include "process/proc_file.h"
#include "process/procfs.h"

namespace linescope {
namespace {

bool HasCapability(uint64_t set, int capability) { return ((set >> capability) & 1) != 0; }

bool AllEqual(const ProcStatus::Ids& ids, uint32_t id) {
  return ids.real == id && ids.effective == id && ids.saved == id;
}

// The files below /proc/PID belong to root instead of the process's user when the process is not
// dumpable.
bool LooksDumpable(int pid, uint32_t effective_uid) {
  struct stat info;
  if (::stat(fmt::format("/proc/{}/mem", pid).c_str(), &info) != 0) return true;
  return info.st_uid == effective_uid;
}

constexpr std::string_view kGrant =
    "run linescope with sudo, or grant it the capability: sudo setcap cap_sys_ptrace+ep "
    "\"$(command -v linescope)\" (in a container: --cap-add SYS_PTRACE)";

std::string Why(const AccessFacts& facts, AccessRule rule) {
  switch (rule) {
    case AccessRule::kAllowed:
      return "";
    case AccessRule::kGone:
      return facts.zombie ? "it has ended and only waits for its parent to notice"
                          : "there is no such process";
    case AccessRule::kKernelThread:
      return "it is a thread of the kernel";
    case AccessRule::kOtherUser:
      if (facts.our_uid == facts.target_uid) {
        return "its group ids differ from linescope's, which lacks CAP_SYS_PTRACE";
      }
      return fmt::format(
          "it belongs to user {}, linescope runs as user {} and lacks CAP_SYS_PTRACE",
          facts.target_uid, facts.our_uid);
    case AccessRule::kOtherUserNamespace:
      return "it lives in another user namespace, where linescope has no CAP_SYS_PTRACE";
    case AccessRule::kNotDumpable:
      return "it is marked non-dumpable (a set-uid or unreadable program, or PR_SET_DUMPABLE), and "
             "linescope lacks "
             "CAP_SYS_PTRACE";
    case AccessRule::kMoreCapabilities:
      return "it has capabilities that linescope lacks";
    case AccessRule::kYamaDescendants:
    case AccessRule::kYamaAdmin:
    case AccessRule::kYamaNobody:
      return fmt::format("Yama's kernel.yama.ptrace_scope is {}: {}", facts.yama_scope.value_or(0),
                         YamaScopeMeaning(facts.yama_scope.value_or(0)));
    case AccessRule::kSeccomp:
      return fmt::format(
          "a seccomp filter on linescope itself (a container's or a sandbox's) forbids the call "
          "({})",
          ErrnoText(facts.error));
    case AccessRule::kUnknown:
      return fmt::format(
          "the kernel says: {}; a security module such as SELinux or AppArmor may be the cause",
          ErrnoText(facts.error));
  }
  return "";
}

std::string Remedy(AccessRule rule, int pid) {
  switch (rule) {
    case AccessRule::kAllowed:
    case AccessRule::kKernelThread:
      return "";
    case AccessRule::kGone:
      return "list what runs with: ps -e";
    case AccessRule::kOtherUser:
      return fmt::format(
          "run linescope as the process's user or with sudo: sudo linescope attach --pid {}", pid);
    case AccessRule::kOtherUserNamespace:
      return fmt::format(
          "run linescope as root outside the container, or inside it: sudo nsenter -t {} -U -p -m "
          "linescope …",
          pid);
    case AccessRule::kNotDumpable:
    case AccessRule::kMoreCapabilities:
    case AccessRule::kYamaAdmin:
      return std::string(kGrant);
    case AccessRule::kYamaDescendants:
      return "let linescope start the program (linescope run …), use sudo, or allow it until "
             "reboot: sudo sysctl "
             "kernel.yama.ptrace_scope=0";
    case AccessRule::kYamaNobody:
      return "change kernel.yama.ptrace_scope in /etc/sysctl.d and reboot: the kernel does not "
             "lower it before";
    case AccessRule::kSeccomp:
      return "allow process_vm_readv: docker run --cap-add SYS_PTRACE, or --security-opt "
             "seccomp=unconfined";
    case AccessRule::kUnknown:
      return "look for a denial with: sudo dmesg | grep -i denied";
  }
  return "";
}

}  // namespace

AccessRule Judge(const AccessFacts& facts) {
  if (facts.error == 0) return AccessRule::kAllowed;
  if (!facts.exists || facts.zombie) return AccessRule::kGone;
  if (facts.kernel_thread) return AccessRule::kKernelThread;
  if (facts.error == ESRCH) return AccessRule::kGone;
  if (facts.error == ENOSYS) return AccessRule::kSeccomp;
  if (!facts.have_sys_ptrace) {
    if (!facts.ids_match) return AccessRule::kOtherUser;
    if (!facts.dumpable) return AccessRule::kNotDumpable;
    if (!facts.target_caps_covered) return AccessRule::kMoreCapabilities;
  } else if (!facts.same_user_namespace) {
    return AccessRule::kOtherUserNamespace;
  }
  switch (facts.yama_scope.value_or(0)) {
    case 1:
      if (!facts.have_sys_ptrace && !facts.descendant) return AccessRule::kYamaDescendants;
      break;
    case 2:
      if (!facts.have_sys_ptrace) return AccessRule::kYamaAdmin;
      break;
    case 3:
      return AccessRule::kYamaNobody;
    default:
      break;
  }
  return facts.seccomp_filter ? AccessRule::kSeccomp : AccessRule::kUnknown;
}

AccessFacts GatherAccessFacts(int pid, int error) {
  AccessFacts facts;
  facts.error = error;
  facts.yama_scope = YamaScope();
  facts.our_uid = ::getuid();
  const int self = ::getpid();
  const auto ours = ReadStatus(self);
  if (ours) {
    facts.have_sys_ptrace = HasCapability(ours->effective_caps, CAP_SYS_PTRACE);
    facts.seccomp_filter = ours->seccomp != 0;
  }
  const auto stat = ReadStat(pid);
  const auto target = ReadStatus(pid);
  if (!stat || !target) {
    facts.exists = false;
    return facts;
  }
  facts.zombie = stat->state == 'Z' || stat->state == 'X';
  facts.kernel_thread = stat->is_kernel_thread();
  facts.target_uid = target->uid.effective;
  facts.ids_match = AllEqual(target->uid, ::getuid()) && AllEqual(target->gid, ::getgid());
  facts.dumpable = facts.target_uid == 0 || LooksDumpable(pid, facts.target_uid);
  if (ours) facts.target_caps_covered = (target->permitted_caps & ~ours->permitted_caps) == 0;
  // The link is hidden from those who may not trace the target; then nothing is known about its
  // namespace.
  const auto our_namespace = ReadProcLink("/proc/self/ns/user");
  const auto its_namespace = ReadProcLink(fmt::format("/proc/{}/ns/user", pid));
  if (our_namespace && its_namespace) facts.same_user_namespace = *our_namespace == *its_namespace;
  if (const auto chain = Ancestry(pid))
    facts.descendant = std::ranges::find(*chain, self) != chain->end();
  return facts;
}

MemoryAccess Explain(const AccessFacts& facts, int pid) {
  MemoryAccess access;
  access.rule = Judge(facts);
  access.error = facts.error;
  access.why = Why(facts, access.rule);
  access.remedy = Remedy(access.rule, pid);
  return access;
}

MemoryAccess CheckMemoryAccess(int pid) {
  const int error = VmReadvMemory::Probe(pid);
  if (error == 0) return {AccessRule::kAllowed, 0, "", ""};
  if (error != ESRCH && MemFileMemory::Open(pid)) return {AccessRule::kAllowed, 0, "", ""};
  return Explain(GatherAccessFacts(pid, error), pid);
}

Error AccessError(int pid, int error) {
  const MemoryAccess access = Explain(GatherAccessFacts(pid, error), pid);
  const bool gone = access.rule == AccessRule::kGone;
  return Error{gone ? ErrorCode::kGone : ErrorCode::kDenied,
               fmt::format("cannot read the memory of process {}: {}{}{}", pid, access.why,
                           access.remedy.empty() ? "" : "; ", access.remedy)};
}

std::optional<int> YamaScope() {
  const auto text = ReadProcFile("/proc/sys/kernel/yama/ptrace_scope");
  if (!text) return std::nullopt;
  int scope;
  if (std::from_chars(text->data(), text->data() + text->size(), scope).ec != std::errc())
    return std::nullopt;
  return scope;
}

std::string_view YamaScopeMeaning(int scope) {
  switch (scope) {
    case 0:
      return "a process may read any other of the same user";
    case 1:
      return "a process may read its descendants only";
    case 2:
      return "only CAP_SYS_PTRACE may read other processes";
    case 3:
      return "nobody may read other processes";
    default:
      return "not a scope that linescope knows";
  }
}

bool HaveSysPtrace() {
  const auto status = ReadStatus(::getpid());
  return status && HasCapability(status->effective_caps, CAP_SYS_PTRACE);
}

}  // namespace linescope
