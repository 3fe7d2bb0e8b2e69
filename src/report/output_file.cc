#include "report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 20;
constexpr mode_t kMode = 0666;  // less the umask

fs::path TemporaryName(const fs::path& path) {
  static std::atomic<unsigned> serial = 0;
  return path.parent_path() / fmt::format(".linescope-{}-{}.tmp", ::getpid(), serial++);
}

// The file that `path` stands for, through symbolic links.
fs::path Resolved(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

}  // namespace

Result<OutputFile> OutputFile::Create(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return Fail(ErrorCode::kIo, "cannot write {}: it is a folder", path.string());
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return Fail(ErrorCode::kIo, "cannot write {}: {}", path.string(), ErrnoText());
    return OutputFile(std::move(fd), path, {});
  }
  const fs::path final_path = Resolved(path);
  const fs::path temporary = TemporaryName(final_path);
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!fd) return Fail(ErrorCode::kIo, "cannot write {}: {}", path.string(), ErrnoText());
  return OutputFile(std::move(fd), final_path, temporary);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::Write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferBytes) Flush();
}

void OutputFile::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

Status OutputFile::Commit() {
  Flush();
  // Network file systems tell of a full disk only here.
  if (::close(fd_.Release()) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && !temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0)
    return Fail(ErrorCode::kIo, "cannot write {}: {}", path_.string(), ErrnoText(error_));
  temporary_.clear();
  return {};
}

}  // namespace linescope
