#include "process/fake_memory.h"

#include <algorithm>
#include <cstring>

namespace linescope {

void FakeMemory::Write(Address address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  Unmap(address, bytes.size());
  regions_.emplace(address, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void FakeMemory::Zero(Address address, size_t size) {
  Write(address, std::vector<std::byte>(size));
}

void FakeMemory::Unmap(Address address, size_t size) {
  const Address end = address + size;
  auto it = regions_.lower_bound(address);
  if (it != regions_.begin()) {
    auto before = std::prev(it);
    const Address before_end = before->first + before->second.size();
    if (before_end > end) {
      regions_.emplace(end, std::vector<std::byte>(
                                before->second.end() - static_cast<ptrdiff_t>(before_end - end),
                                before->second.end()));
    }
    if (before_end > address) before->second.resize(address - before->first);
  }
  it = regions_.lower_bound(address);
  while (it != regions_.end() && it->first < end) {
    const Address region_end = it->first + it->second.size();
    if (region_end > end) {
      regions_.emplace(
          end, std::vector<std::byte>(it->second.end() - static_cast<ptrdiff_t>(region_end - end),
                                      it->second.end()));
    }
    it = regions_.erase(it);
  }
}

size_t FakeMemory::Copy(Address address, size_t size, std::byte* out) const {
  size_t done = 0;
  while (done < size) {
    auto it = regions_.upper_bound(address + done);
    if (it == regions_.begin()) break;
    --it;
    const size_t offset = address + done - it->first;
    if (offset >= it->second.size()) break;
    const size_t n = std::min(size - done, it->second.size() - offset);
    std::memcpy(out + done, it->second.data() + offset, n);
    done += n;
  }
  return done;
}

ssize_t FakeMemory::Read(std::span<const RemoteRange> ranges, void* out) {
  ++calls_;
  if (error_ != 0) return -error_;
  auto* cursor = static_cast<std::byte*>(out);
  size_t total = 0;
  bool faulted = false;
  for (const RemoteRange& range : ranges) {
    const size_t n = Copy(range.address, range.size, cursor + total);
    total += n;
    faulted = n != range.size;
    if (faulted) break;
  }
  bytes_ += total;
  if (faulted && total == 0) return -EFAULT;
  return static_cast<ssize_t>(total);
}

}  // namespace linescope
