#pragma once
// The other process's memory, behind an interface so that walks run on a live process, on a
// recorded tape or on bytes made up by a test.
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace linescope {

// An address in the target. Never dereferenced here.
using Address = uint64_t;

// One contiguous range of the target's memory.
struct RemoteRange {
  Address address = 0;
  size_t size = 0;
};

class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;

  // Reads all `ranges`, in order, packed one after the other into `out`, which must hold the sum of
  // their sizes. In one system call where the implementation can (up to IOV_MAX ranges; longer
  // lists are split). Returns the number of bytes read: fewer than asked when a range is unmapped
  // (everything before the fault is valid, by whole pages or ranges), or -errno when nothing was
  // read (-ESRCH: process gone, -EPERM: forbidden). Ranges are copied at slightly different
  // instants, in the order given. No allocation; may be called from one thread at a time.
  virtual ssize_t Read(std::span<const RemoteRange> ranges, void* out) = 0;

  // Counts of calls (= system calls on a live process) and bytes since construction.
  [[nodiscard]] uint64_t calls() const { return calls_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  // Reads exactly `size` bytes; false when any of them cannot be read.
  bool ReadExact(Address address, void* out, size_t size) {
    const RemoteRange range{address, size};
    return Read({&range, 1}, out) == static_cast<ssize_t>(size);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  bool ReadValue(Address address, T* out) {
    return ReadExact(address, out, sizeof(T));
  }
  bool ReadString(Address address, size_t size, std::string* out) {
    out->resize(size);
    return size == 0 || ReadExact(address, out->data(), size);
  }

 protected:
  uint64_t calls_ = 0;
  uint64_t bytes_ = 0;
};

// process_vm_readv(2) on `pid`. Falls back to /proc/PID/mem when the kernel or a seccomp filter
// answers ENOSYS. Fails with kDenied (the message names the rule that forbids it: Yama scope, other
// user, missing CAP_SYS_PTRACE, non-dumpable) or kGone.
Result<std::unique_ptr<RemoteMemory>> OpenRemoteMemory(int pid);

}  // namespace linescope
