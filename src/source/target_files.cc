#include "source/target_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <vector>

#include "base/unique_fd.h"
#include "source/archive.h"

namespace linescope {
namespace {

// Opens `path` with all of it, symbolic links and ".." included, resolved inside the folder `root`.
// The kernel has this from 5.6; glibc has no wrapper.
int OpenInRoot(int root, const std::string& path, int flags) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// An open descriptor of `path` as process `pid` sees it, invalid with errno set where there is
// none.
UniqueFd OpenAs(int pid, const std::string& path, int flags) {
  flags |= O_CLOEXEC;
  if (pid > 0) {
    UniqueFd root(
        open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root) {
      UniqueFd file(OpenInRoot(root.get(), path, flags));
      // Before Linux 5.6, and where a sandbox does not know the call: links then resolve in our own
      // root.
      if (!file && (errno == ENOSYS || errno == EPERM)) {
        file = UniqueFd(open(fmt::format("/proc/{}/root{}", pid, path).c_str(), flags));
      }
      return file;
    }
  }
  return UniqueFd(open(path.c_str(), flags));
}

std::string ReadLink(const std::string& link) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  target.resize(length < 0 ? 0 : static_cast<size_t>(length));
  return target;
}

// Links of /proc are as seen from our own root: cuts the target's root off where that is below
// ours.
std::string CutRoot(int pid, std::string path) {
  if (pid <= 0) return path;
  const std::string root = ReadLink(fmt::format("/proc/{}/root", pid));
  if (root.size() <= 1 || !IsUnder(path, root)) return path;
  path.erase(0, root.size());
  return path.empty() ? "/" : path;
}

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool SameVersion(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && Nanoseconds(a.st_mtim) == Nanoseconds(b.st_mtim) &&
         Nanoseconds(a.st_ctim) == Nanoseconds(b.st_ctim);
}

// All bytes from the start of `fd`. Fails when there are more than `limit`.
Result<std::string> ReadAll(int fd, const std::string& path, uint64_t limit) {
  std::string bytes;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(before + 65536);
    const ssize_t count = pread(fd, bytes.data() + before, 65536, static_cast<off_t>(before));
    if (count < 0 && errno != EINTR) {
      return Fail(ErrorCode::kIo, "cannot read {}: {}", path, ErrnoText());
    }
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return bytes;
    if (bytes.size() > limit) {
      return Fail(ErrorCode::kIo, "{} grew beyond the limit of {} bytes while it was read", path,
                  limit);
    }
  }
}

// What `read(fd, stat)` makes of a regular file that does not change meanwhile.
template <class Read>
Result<FileContents> ReadStable(int pid, const std::string& path, Read read) {
  const UniqueFd file = OpenAs(pid, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) {
    return Fail(ErrorCode::kIo, "cannot open {}: {}", path, ErrnoText());
  }
  struct stat before = {}, after = {};
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (fstat(file.get(), &before) != 0) {
      return Fail(ErrorCode::kIo, "cannot read {}: {}", path, ErrnoText());
    }
    if (!S_ISREG(before.st_mode)) {
      return Fail(ErrorCode::kIo, "{} is {}", path,
                  S_ISDIR(before.st_mode) ? "a folder" : "no regular file");
    }
    LS_TRY(bytes, read(file.get(), before));
    if (fstat(file.get(), &after) == 0 && SameVersion(before, after)) {
      return FileContents{std::move(bytes),
                          std::max(Nanoseconds(after.st_mtim), Nanoseconds(after.st_ctim))};
    }
  }
  return Fail(ErrorCode::kIo, "{} is being written", path);
}

}  // namespace

std::string TargetFiles::WorkingDirectory() const {
  const std::string link = pid_ > 0 ? fmt::format("/proc/{}/cwd", pid_) : "/proc/self/cwd";
  std::string folder = ReadLink(link);
  // The kernel's mark for a folder that was removed.
  constexpr std::string_view kDeleted = " (deleted)";
  if (folder.ends_with(kDeleted)) folder.resize(folder.size() - kDeleted.size());
  return CutRoot(pid_, std::move(folder));
}

bool TargetFiles::Exists(const std::string& path) const {
  return static_cast<bool>(OpenAs(pid_, path, O_PATH));
}

bool TargetFiles::IsDirectory(const std::string& path) const {
  return static_cast<bool>(OpenAs(pid_, path, O_PATH | O_DIRECTORY));
}

std::string TargetFiles::Canonical(const std::string& path) const {
  const UniqueFd file = OpenAs(pid_, path, O_PATH);
  if (!file) return path;
  std::string real = ReadLink(fmt::format("/proc/self/fd/{}", file.get()));
  real = CutRoot(pid_, std::move(real));
  return real.starts_with('/') ? real : path;
}

Result<FileContents> TargetFiles::Read(const std::string& path, uint64_t size_limit) const {
  return ReadStable(pid_, path, [&](int fd, const struct stat& info) -> Result<std::string> {
    if (static_cast<uint64_t>(info.st_size) > size_limit) {
      return Fail(ErrorCode::kIo, "{} has {} bytes; files of more than {} are not stored", path,
                  info.st_size, size_limit);
    }
    return ReadAll(fd, path, size_limit);
  });
}

Result<FileContents> TargetFiles::ReadMember(const std::string& archive, const std::string& name,
                                             uint64_t size_limit) const {
  return ReadStable(pid_, archive, [&](int fd, const struct stat&) -> Result<std::string> {
    auto bytes = ReadArchiveMember(ArchiveFile(fd), name, size_limit);
    if (bytes) return bytes;
    return Fail(ErrorCode::kIo, "cannot read {} as an archive: {}", archive, bytes.error().what);
  });
}

std::string AbsolutePath(std::string_view path, std::string_view working_directory) {
  std::string whole;
  if (!path.starts_with('/')) {
    whole = working_directory;
    whole += '/';
  }
  whole += path;
  std::vector<std::string_view> parts;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string result;
  for (std::string_view part : parts) {
    result += '/';
    result += part;
  }
  return result.empty() ? "/" : result;
}

bool IsUnder(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsPseudoFile(std::string_view file) {
  return file.empty() || (file.front() == '<' && file.back() == '>');
}

}  // namespace linescope
