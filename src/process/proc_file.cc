#include "process/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace linescope {

ErrorCode ProcErrorCode(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return ErrorCode::kGone;
    case EACCES:
    case EPERM:
      return ErrorCode::kDenied;
    default:
      return ErrorCode::kIo;
  }
}

Result<std::string> ReadProcFile(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Fail(ProcErrorCode(errno), "cannot open {}: {}", path, ErrnoText());
  std::string text;
  size_t size = 0;
  text.resize(4096);
  for (;;) {
    const ssize_t n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(ProcErrorCode(errno), "cannot read {}: {}", path, ErrnoText());
    if (n == 0) break;
    size += static_cast<size_t>(n);
    if (size == text.size()) text.resize(size * 2);
  }
  text.resize(size);
  return text;
}

Result<std::string> ReadProcLink(const std::string& path) {
  std::string target;
  for (size_t capacity = 256;; capacity *= 2) {
    target.resize(capacity);
    const ssize_t n = ::readlink(path.c_str(), target.data(), capacity);
    if (n < 0) return Fail(ProcErrorCode(errno), "cannot read the link {}: {}", path, ErrnoText());
    if (static_cast<size_t>(n) < capacity) {
      target.resize(static_cast<size_t>(n));
      return target;
    }
  }
}

}  // namespace linescope
