#include "process/permissions.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>

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

// In the first user namespace all ids are what they are.
bool InNestedUserNamespace() {
  const auto map = ReadProcFile("/proc/self/uid_map");
  if (!map) return false;
  uint64_t inside = 1, outside = 1, count = 0;
  if (std::sscanf(map->c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) !=
      3) {
    return true;  // not mapped at all, yet
  }
  return inside != 0 || outside != 0 || count != UINT32_MAX;
}

constexpr std::string_view kGrant =
    "run linescope with sudo, or grant it the capability: sudo setcap cap_sys_ptrace+ep "
    "\"$(command -v linescope)\" (in a container: --cap-add SYS_PTRACE)";
// Root without CAP_SYS_PTRACE is a container's.
constexpr std::string_view kGrantToContainer =
    "give the container the capability: docker run --cap-add SYS_PTRACE, in Kubernetes "
    "securityContext.capabilities.add: [SYS_PTRACE]";

std::string_view Grant(const AccessFacts& facts) {
  return facts.our_uid == 0 ? kGrantToContainer : kGrant;
}

// In the order of linux/capability.h.
constexpr std::string_view kCapabilities =
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP "
    "LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER "
    "SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE "
    "SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP "
    "MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF "
    "CHECKPOINT_RESTORE";

// "CAP_NET_ADMIN, CAP_SYS_PTRACE and 12 more"
std::string CapabilityNames(uint64_t set) {
  constexpr size_t kListed = 3;
  std::string names;
  size_t count = 0;
  std::string_view rest = kCapabilities;
  for (int capability = 0; !rest.empty(); ++capability) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (!HasCapability(set, capability) || ++count > kListed) continue;
    names += fmt::format("{}CAP_{}", count == 1 ? "" : ", ", name);
  }
  return count <= kListed ? names : fmt::format("{} and {} more", names, count - kListed);
}

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
      if (facts.our_uid == facts.target_real_uid) {
        return fmt::format(
            "it runs with the rights of user {} (a set-uid program), and linescope lacks "
            "CAP_SYS_PTRACE",
            facts.target_uid);
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
      return fmt::format("it has capabilities that linescope lacks: {}",
                         CapabilityNames(facts.missing_caps));
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

std::string Remedy(const AccessFacts& facts, AccessRule rule, int pid) {
  switch (rule) {
    case AccessRule::kAllowed:
    case AccessRule::kKernelThread:
      return "";
    case AccessRule::kGone:
      return "list what runs with: ps -e";
    case AccessRule::kOtherUser:
      if (facts.our_uid == 0) {
        return fmt::format("{}; or run linescope as that user: setpriv --reuid {} --clear-groups …",
                           kGrantToContainer, facts.target_uid);
      }
      if (facts.our_uid == facts.target_real_uid) {
        return fmt::format(
            "use sudo: sudo linescope attach --pid {}, or sudo linescope run …, which runs the "
            "program as you",
            pid);
      }
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
      return std::string(Grant(facts));
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
    if (facts.missing_caps != 0) return AccessRule::kMoreCapabilities;
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
  facts.zombie = stat->has_ended();
  facts.kernel_thread = stat->is_kernel_thread();
  facts.target_uid = target->uid.effective;
  facts.target_real_uid = target->uid.real;
  facts.ids_match = AllEqual(target->uid, ::getuid()) && AllEqual(target->gid, ::getgid());
  facts.dumpable = facts.target_uid == 0 || LooksDumpable(pid, facts.target_uid);
  if (ours) facts.missing_caps = target->permitted_caps & ~ours->permitted_caps;
  // The link is hidden from those who may not trace the target; where CAP_SYS_PTRACE does not show
  // it, that is because it counts in our own namespace alone.
  const auto our_namespace = ReadProcLink("/proc/self/ns/user");
  const auto its_namespace = ReadProcLink(fmt::format("/proc/{}/ns/user", pid));
  if (our_namespace && its_namespace) {
    facts.same_user_namespace = *our_namespace == *its_namespace;
  } else if (facts.have_sys_ptrace && InNestedUserNamespace()) {
    facts.same_user_namespace = false;
  }
  if (const auto chain = Ancestry(pid))
    facts.descendant = std::ranges::find(*chain, self) != chain->end();
  return facts;
}

MemoryAccess Explain(const AccessFacts& facts, int pid) {
  MemoryAccess access;
  access.rule = Judge(facts);
  access.error = facts.error;
  access.why = Why(facts, access.rule);
  access.remedy = Remedy(facts, access.rule, pid);
  return access;
}

MemoryAccess CheckMemoryAccess(int pid) {
  const int error = VmReadvMemory::Probe(pid);
  if (error == 0) return {.rule = AccessRule::kAllowed, .why = {}, .remedy = {}};
  if (error != ESRCH && MemFileMemory::Open(pid)) {
    return {.rule = AccessRule::kAllowed, .by_file = true, .error = error, .why = {}, .remedy = {}};
  }
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
