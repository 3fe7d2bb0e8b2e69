#pragma once
// Files as the target sees them: through its root (containers, chroots) and its working directory.
// All paths given and returned are the target's own.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linescope {

struct FileContents {
  std::string bytes;
  int64_t changed_unix_ns = 0;  // the later of its modification and status-change times
};

class TargetFiles {
 public:
  // `pid` 0: this process's own view. Where the target's root cannot be opened (no permission,
  // process gone) the plain path is used. Nothing is opened before it is needed.
  explicit TargetFiles(int pid) : pid_(pid) {}

  // The target's working directory, empty when it cannot be read.
  std::string WorkingDirectory() const;

  bool Exists(const std::string& path) const;
  bool IsDirectory(const std::string& path) const;
  // `path` without symbolic links, "." and ".."; `path` itself when it does not exist.
  std::string Canonical(const std::string& path) const;
  // Reads a regular file of at most `size_limit` bytes. Symbolic links are followed inside the
  // target's root. A file that changes while it is read is read again. Fails with kIo; pipes and
  // devices are refused, never waited for.
  Result<FileContents> Read(const std::string& path, uint64_t size_limit) const;
  // Reads the member `name` of a zip archive; its times are the archive's. Same limits and errors.
  Result<FileContents> ReadMember(const std::string& archive, const std::string& name,
                                  uint64_t size_limit) const;

 private:
  int pid_;
};

// `path` made absolute by `working_directory` and cleaned of ".", ".." and double slashes by its
// letters alone.
std::string AbsolutePath(std::string_view path, std::string_view working_directory);
// True for `path` equal to or below `folder`; both absolute and clean.
bool IsUnder(std::string_view path, std::string_view folder);
// True for names that are no file: "<string>", "<frozen os>", "<stdin>", the empty name.
bool IsPseudoFile(std::string_view file);

}  // namespace linescope
