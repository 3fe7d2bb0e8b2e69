#include "process/remote_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "process/live_memory.h"
#include "process/permissions.h"

namespace linescope {
namespace {

// Any address does for asking whether we may read: permission is checked before the address
// (EFAULT), but a read of no bytes checks nothing.
constexpr Address kProbeAddress = 0x10000;

}  // namespace

int VmReadvMemory::Probe(int pid) {
  char byte;
  iovec local{&byte, 1};
  iovec remote{reinterpret_cast<void*>(kProbeAddress), 1};
  if (::process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT) return 0;
  return errno;
}

ssize_t VmReadvMemory::Read(std::span<const RemoteRange> ranges, void* out) {
  auto* cursor = static_cast<std::byte*>(out);
  ssize_t total = 0;
  while (!ranges.empty()) {
    const size_t count = std::min(ranges.size(), remote_.size());
    size_t wanted = 0;
    for (size_t i = 0; i < count; ++i) {
      remote_[i] = {reinterpret_cast<void*>(ranges[i].address), ranges[i].size};
      wanted += ranges[i].size;
    }
    iovec local{cursor, wanted};
    const ssize_t n = ::process_vm_readv(pid_, &local, 1, remote_.data(), count, 0);
    ++calls_;
    if (n < 0) return total > 0 ? total : -errno;
    total += n;
    bytes_ += static_cast<uint64_t>(n);
    if (static_cast<size_t>(n) != wanted) return total;
    cursor += n;
    ranges = ranges.subspan(count);
  }
  return total;
}

std::expected<std::unique_ptr<MemFileMemory>, int> MemFileMemory::Open(int pid) {
  UniqueFd directory(
      ::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return std::unexpected(errno == ENOENT ? ESRCH : errno);
  UniqueFd file(::openat(directory.get(), "mem", O_RDONLY | O_CLOEXEC));
  if (!file) return std::unexpected(errno == ENOENT ? ESRCH : errno);
  std::unique_ptr<MemFileMemory> memory(new MemFileMemory(std::move(directory), std::move(file)));
  char byte;
  const RemoteRange probe{kProbeAddress, 1};
  const ssize_t n = memory->Read({&probe, 1}, &byte);
  memory->calls_ = memory->bytes_ = 0;
  if (n < 0 && n != -EFAULT) return std::unexpected(static_cast<int>(-n));
  return memory;
}

ssize_t MemFileMemory::ReadRange(const RemoteRange& range, std::byte* out) {
  if (!file_) return -ESRCH;
  size_t done = 0;
  bool reopened = false;
  while (done < range.size) {
    const ssize_t n = ::pread(file_.get(), out + done, range.size - done,
                              static_cast<off_t>(range.address + done));
    ++calls_;
    if (n > 0) {
      done += static_cast<size_t>(n);
      bytes_ += static_cast<uint64_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n == 0 && !reopened) {
      // The address space we held is gone: the process has ended, or it has run another program.
      reopened = true;
      file_.Reset(::openat(directory_.get(), "mem", O_RDONLY | O_CLOEXEC));
      if (!file_) return done > 0 ? static_cast<ssize_t>(done) : -ESRCH;
    } else if (done > 0) {
      break;
    } else {
      // EINVAL: an address above the largest file offset.
      return n == 0 ? -ESRCH : errno == EIO || errno == EINVAL ? -EFAULT : -errno;
    }
  }
  return static_cast<ssize_t>(done);
}

ssize_t MemFileMemory::Read(std::span<const RemoteRange> ranges, void* out) {
  auto* cursor = static_cast<std::byte*>(out);
  ssize_t total = 0;
  for (const RemoteRange& range : ranges) {
    const ssize_t n = ReadRange(range, cursor);
    if (n < 0) return total > 0 ? total : n;
    total += n;
    if (static_cast<size_t>(n) != range.size) break;
    cursor += n;
  }
  return total;
}

Result<std::unique_ptr<RemoteMemory>> OpenRemoteMemory(int pid) {
  const int error = VmReadvMemory::Probe(pid);
  if (error == 0) return std::make_unique<VmReadvMemory>(pid);
  // Seccomp filters of containers answer ENOSYS or EPERM for the call alone, and leave the file
  // open to us.
  if (error != ESRCH) {
    if (auto file = MemFileMemory::Open(pid)) return std::move(*file);
  }
  return std::unexpected(AccessError(pid, error));
}

}  // namespace linescope
