#pragma once
// Memory of another process by whole pages, each read once: for a look at many small objects that
// lie together, at about one moment.
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "process/remote_memory.h"

namespace linescope {

// What was read stays until Clear: a later look begins with it.
class PageCache final : public RemoteMemory {
 public:
  explicit PageCache(RemoteMemory* memory) : memory_(memory) {}
  void Clear() { pages_.clear(); }
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kMaxPages = 1024;
  using Page = std::array<std::byte, kPageBytes>;
  const Page* PageAt(Address page);
  bool Copy(Address address, size_t size, std::byte* out);

  RemoteMemory* memory_;
  std::unordered_map<Address, std::unique_ptr<Page>> pages_;  // nullptr: unreadable
};

}  // namespace linescope
