#include "source/archive.h"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace linescope {
namespace {

// What minizip reads by: a position in the archive. It asks for single bytes when it reads the
// directory, which come from a window.
class Cursor {
 public:
  explicit Cursor(const ArchiveBytes* archive) : archive_(archive) {}

  size_t Read(void* out, size_t size) {
    auto* cursor = static_cast<char*>(out);
    size_t done = 0;
    while (done < size) {
      if (position_ < begin_ || position_ >= begin_ + filled_) {
        begin_ = position_;
        filled_ = archive_->ReadAt(begin_, window_.data(), window_.size());
        if (filled_ == 0) break;
      }
      const size_t inside = position_ - begin_;
      const size_t n = std::min(size - done, filled_ - inside);
      std::memcpy(cursor + done, window_.data() + inside, n);
      done += n;
      position_ += n;
    }
    return done;
  }
  bool Seek(uint64_t offset, int origin) {
    const uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                          : origin == ZLIB_FILEFUNC_SEEK_CUR ? position_
                                                             : archive_->size();
    position_ = base + offset;  // modulo 2^64: backwards, too
    return position_ <= archive_->size();
  }
  [[nodiscard]] uint64_t position() const { return position_; }

 private:
  const ArchiveBytes* archive_;
  uint64_t position_ = 0, begin_ = 0;
  size_t filled_ = 0;
  std::array<char, 16384> window_;
};

zlib_filefunc64_def Functions(Cursor* cursor) {
  zlib_filefunc64_def functions{};
  functions.opaque = cursor;
  functions.zopen64_file = [](voidpf opaque, const void*, int) -> voidpf { return opaque; };
  functions.zread_file = [](voidpf, voidpf stream, void* out, uLong size) -> uLong {
    return static_cast<Cursor*>(stream)->Read(out, size);
  };
  functions.zwrite_file = [](voidpf, voidpf, const void*, uLong) -> uLong { return 0; };
  functions.ztell64_file = [](voidpf, voidpf stream) -> ZPOS64_T {
    return static_cast<Cursor*>(stream)->position();
  };
  functions.zseek64_file = [](voidpf, voidpf stream, ZPOS64_T offset, int origin) -> long {
    return static_cast<Cursor*>(stream)->Seek(offset, origin) ? 0 : -1;
  };
  functions.zclose_file = [](voidpf, voidpf) -> int { return 0; };
  functions.zerror_file = [](voidpf, voidpf) -> int { return 0; };
  return functions;
}

struct Close {
  void operator()(void* archive) const { unzClose(archive); }
};

}  // namespace

Result<std::string> ReadArchiveMember(const ArchiveBytes& archive, const std::string& name,
                                      uint64_t size_limit) {
  constexpr int kCaseSensitive = 1;
  Cursor cursor(&archive);
  zlib_filefunc64_def functions = Functions(&cursor);
  const std::unique_ptr<void, Close> zip(unzOpen2_64("", &functions));
  if (!zip) return Fail(ErrorCode::kIo, "it is no zip archive");
  if (unzLocateFile(zip.get(), name.c_str(), kCaseSensitive) != UNZ_OK) {
    return Fail(ErrorCode::kIo, "it has no member {}", name);
  }
  unz_file_info64 info{};
  if (unzGetCurrentFileInfo64(zip.get(), &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) {
    return Fail(ErrorCode::kIo, "its member {} is damaged", name);
  }
  if ((info.flag & 1) != 0) return Fail(ErrorCode::kIo, "its member {} is encrypted", name);
  if (info.uncompressed_size > size_limit) {
    return Fail(ErrorCode::kIo, "its member {} has {} bytes; more than {} are not stored", name,
                info.uncompressed_size, size_limit);
  }
  if (unzOpenCurrentFile(zip.get()) != UNZ_OK) {
    return Fail(ErrorCode::kIo, "its member {} is damaged, or compressed in a way that is not read",
                name);
  }
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + 65536);
    const int n = unzReadCurrentFile(zip.get(), bytes.data() + before, 65536);
    bytes.resize(before + static_cast<size_t>(std::max(n, 0)));
    if (n == 0) break;
    if (n < 0 || bytes.size() > size_limit) {
      return Fail(ErrorCode::kIo, "its member {} is damaged", name);
    }
  }
  // Checks the member's checksum.
  if (unzCloseCurrentFile(zip.get()) != UNZ_OK) {
    return Fail(ErrorCode::kIo, "its member {} is damaged", name);
  }
  return bytes;
}

ArchiveFile::ArchiveFile(int fd) : fd_(fd) {
  struct stat info;
  if (::fstat(fd, &info) == 0) size_ = static_cast<uint64_t>(info.st_size);
}

size_t ArchiveFile::ReadAt(uint64_t offset, void* out, size_t size) const {
  if (offset > size_) return 0;
  ssize_t n;
  do {
    n = ::pread(fd_, out, size, static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  return static_cast<size_t>(std::max<ssize_t>(n, 0));
}

size_t ArchiveSpan::ReadAt(uint64_t offset, void* out, size_t size) const {
  if (offset >= bytes_.size()) return 0;
  const size_t n = std::min<uint64_t>(size, bytes_.size() - offset);
  std::memcpy(out, bytes_.data() + offset, n);
  return n;
}

}  // namespace linescope
