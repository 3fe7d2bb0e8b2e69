#include "process/page_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace linescope {

const PageCache::Page* PageCache::PageAt(Address page) {
  const auto known = pages_.find(page);
  if (known != pages_.end()) return known->second.get();
  if (pages_.size() == kMaxPages) pages_.clear();
  auto bytes = std::make_unique<Page>();
  if (!memory_->ReadExact(page, bytes->data(), kPageBytes)) bytes.reset();
  return pages_.emplace(page, std::move(bytes)).first->second.get();
}

bool PageCache::Copy(Address address, size_t size, std::byte* out) {
  while (size != 0) {
    const Address offset = address % kPageBytes;
    const size_t part = std::min<size_t>(size, kPageBytes - offset);
    const Page* page = PageAt(address - offset);
    if (page == nullptr) return false;
    std::memcpy(out, page->data() + offset, part);
    address += part;
    out += part;
    size -= part;
  }
  return true;
}

ssize_t PageCache::Read(std::span<const RemoteRange> ranges, void* out) {
  auto* to = static_cast<std::byte*>(out);
  ssize_t total = 0;
  for (const RemoteRange& range : ranges) {
    // What is large is no small object, and what lies at the end of memory is not all readable.
    if (range.size > kPageBytes || range.address > UINT64_MAX - 2 * kPageBytes ||
        !Copy(range.address, range.size, to)) {
      const ssize_t got = memory_->Read({&range, 1}, to);
      if (got != static_cast<ssize_t>(range.size))
        return total > 0 ? total + std::max<ssize_t>(got, 0) : got;
    }
    to += range.size;
    total += static_cast<ssize_t>(range.size);
  }
  return total;
}

}  // namespace linescope
