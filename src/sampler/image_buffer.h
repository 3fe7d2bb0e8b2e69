#pragma once
// Where the target's memory is copied to.
#include <cstddef>
#include <memory>
#include <new>

#include "process/remote_memory.h"

namespace linescope {

// The kernel copies page by page. A page of ours that ends in the middle of a page of the target's
// is a further pause between two bytes of one image, in which the target goes on. So what is copied
// begins at the same offset within a page here as there.
class ImageBuffer {
 public:
  // Room for `size` bytes to be copied from `address`; what was there before is lost.
  std::byte* Prepare(size_t size, Address address) {
    const size_t offset = address % kPage;
    if (size + offset > size_) {
      size_ = (2 * (size + offset) + kPage - 1) / kPage * kPage;
      pages_.reset(static_cast<std::byte*>(::operator new[](size_, std::align_val_t{kPage})));
    }
    return pages_.get() + offset;
  }

 private:
  static constexpr size_t kPage = 4096;
  struct Delete {
    void operator()(std::byte* pages) const { ::operator delete[](pages, std::align_val_t{kPage}); }
  };
  std::unique_ptr<std::byte[], Delete> pages_;
  size_t size_ = 0;
};

}  // namespace linescope
