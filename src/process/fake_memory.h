#pragma once
// Memory made up by a test.
#include <map>
#include <string_view>
#include <vector>

#include "process/remote_memory.h"

namespace linescope {

// Bytes at addresses, as a test puts them. Reads behave as process_vm_readv does: they stop at the
// first byte that is not mapped, and fail with -EFAULT when that is the first one of all.
class FakeMemory : public RemoteMemory {
 public:
  // Maps `bytes` at `address`, over whatever was there.
  void Write(Address address, std::span<const std::byte> bytes);
  void Write(Address address, std::string_view bytes) {
    Write(address, std::as_bytes(std::span(bytes)));
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void Put(Address address, const T& value) {
    Write(address, std::as_bytes(std::span(&value, 1)));
  }
  // Maps `size` zero bytes.
  void Zero(Address address, size_t size);
  void Unmap(Address address, size_t size);
  // From now on every read fails with -`error` (ESRCH: the process has ended); 0 ends that.
  void FailWith(int error) { error_ = error; }

  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

 private:
  size_t Copy(Address address, size_t size, std::byte* out) const;

  std::map<Address, std::vector<std::byte>> regions_;  // never overlapping
  int error_ = 0;
};

}  // namespace linescope
