#pragma once
// Members of zip archives: where the code of zipapps and of zip files on sys.path comes from.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace linescope {

// Where an archive's bytes come from.
class ArchiveBytes {
 public:
  virtual ~ArchiveBytes() = default;
  // Reads as many of `size` bytes at `offset` as there are; less only at the end, or when reading
  // fails.
  virtual size_t ReadAt(uint64_t offset, void* out, size_t size) const = 0;
  [[nodiscard]] virtual uint64_t size() const = 0;
};

// The bytes of the member called `name`, a path with slashes. Whatever lies before the archive (a
// first line for the shell, a whole program) is passed over. kIo: it is no archive, has no such
// member, or the member is damaged, encrypted or larger than `size_limit`.
Result<std::string> ReadArchiveMember(const ArchiveBytes& archive, const std::string& name,
                                      uint64_t size_limit);

// Of an open file, and of bytes that outlive it.
class ArchiveFile : public ArchiveBytes {
 public:
  explicit ArchiveFile(int fd);  // stays the caller's
  size_t ReadAt(uint64_t offset, void* out, size_t size) const override;
  [[nodiscard]] uint64_t size() const override { return size_; }

 private:
  int fd_;
  uint64_t size_ = 0;
};

class ArchiveSpan : public ArchiveBytes {
 public:
  explicit ArchiveSpan(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t ReadAt(uint64_t offset, void* out, size_t size) const override;
  [[nodiscard]] uint64_t size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace linescope
