#include "process/namespaces.h"

#include <unistd.h>

#include "process/proc_file.h"
#include "process/procfs.h"

namespace linescope {

Status CheckProc() {
  const auto self = ReadProcLink("/proc/self");
  if (!self) {
    return Fail(ErrorCode::kDenied,
                "there is no /proc, through which LineScope sees processes; mount it: mount -t "
                "proc proc /proc");
  }
  if (*self == std::to_string(::getpid())) return {};
  return Fail(ErrorCode::kDenied,
              "/proc is that of another pid namespace: its process {} is this one, {}; mount the "
              "right one: mount -t proc proc /proc (unshare has --mount-proc for that)",
              *self, ::getpid());
}

std::vector<int> NamespacePids(int pid) {
  auto status = ReadStatus(pid);
  if (!status || status->ns_pids.empty()) return {pid};
  return std::move(status->ns_pids);
}

std::string DescribePid(int pid, const std::vector<int>& pids) {
  return pids.size() < 2 ? std::to_string(pid)
                         : fmt::format("{} ({} in its own pid namespace)", pid, pids.back());
}

std::string WrongPidHint(int pid) {
  constexpr size_t kListed = 3;
  std::string hint;
  size_t found = 0;
  const auto processes = ListProcesses();
  if (!processes) return hint;
  for (const int candidate : *processes) {
    const std::vector<int> pids = NamespacePids(candidate);
    if (pids.size() < 2 || pids.back() != pid || ++found > kListed) continue;
    const auto words = ReadCommandLine(candidate);
    hint += fmt::format("{}--pid {}{}", found == 1 ? "" : ", ", candidate,
                        words && !words->empty() ? fmt::format(" ({})", words->front()) : "");
  }
  if (found == 0) return hint;
  if (found > kListed) hint += fmt::format(", and {} more", found - kListed);
  return fmt::format("a container may have its own process {}, which is here: {}", pid, hint);
}

}  // namespace linescope
