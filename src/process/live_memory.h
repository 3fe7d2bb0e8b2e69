#pragma once
// Memory of a live process by the two ways Linux offers. OpenRemoteMemory (remote_memory.h)
// chooses; these are for it and for tests.
#include <limits.h>
#include <sys/uio.h>

#include <array>

#include "base/unique_fd.h"
#include "process/remote_memory.h"

namespace linescope {

// process_vm_readv(2). Follows the process through exec. Uses the number of the process, so whoever
// reads must hold a pidfd to know that the number still means the same process.
class VmReadvMemory : public RemoteMemory {
 public:
  explicit VmReadvMemory(int pid) : pid_(pid) {}
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

  // 0 when this process may read the memory of `pid`, else the errno (EPERM, ESRCH, ENOSYS).
  static int Probe(int pid);

 private:
  int pid_;
  std::array<iovec, IOV_MAX> remote_;
};

// pread(2) on /proc/PID/mem: one system call a range. Holds the process's directory in /proc, so
// that it can follow an exec and never reads another process that got the same number.
class MemFileMemory : public RemoteMemory {
 public:
  // Fails with the errno of the open or of the first read.
  static std::expected<std::unique_ptr<MemFileMemory>, int> Open(int pid);
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

 private:
  MemFileMemory(UniqueFd directory, UniqueFd file)
      : directory_(std::move(directory)), file_(std::move(file)) {}
  ssize_t ReadRange(const RemoteRange& range, std::byte* out);

  UniqueFd directory_;
  UniqueFd file_;
};

}  // namespace linescope
