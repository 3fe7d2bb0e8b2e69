#include "profile/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

#include "base/unique_fd.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(ErrorCode::kIo, "{}", ErrnoText());
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

std::unexpected<Error> CannotWrite(const fs::path& path, std::string_view why) {
  return Fail(ErrorCode::kIo, "cannot write {}: {}", path.string(), why);
}

}  // namespace

Status WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return CannotWrite(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return CannotWrite(path, ErrnoText());
    if (Status written = WriteAll(fd.get(), bytes); !written)
      return CannotWrite(path, written.error().what);
    return {};
  }
  // Through a symbolic link to the file that it names.
  fs::path target = fs::weakly_canonical(path, error);
  if (error) return CannotWrite(path, error.message());
  fs::path partial =
      target.parent_path() / fmt::format(".{}.{}.partial", target.filename().string(), ::getpid());
  UniqueFd fd(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) return CannotWrite(path, ErrnoText());
  Status written = WriteAll(fd.get(), bytes);
  // A full disk may show only here.
  if (written && ::close(fd.Release()) != 0) written = Fail(ErrorCode::kIo, "{}", ErrnoText());
  if (written && std::rename(partial.c_str(), target.c_str()) != 0)
    written = Fail(ErrorCode::kIo, "{}", ErrnoText());
  if (!written) {
    ::unlink(partial.c_str());
    return CannotWrite(path, written.error().what);
  }
  return {};
}

}  // namespace linescope
