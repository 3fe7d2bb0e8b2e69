#pragma once
// A file that appears under its name only when it is whole.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

// Regular files are written under a temporary name in the same folder and renamed by Commit;
// without Commit nothing is left. What exists and is no regular file (/dev/stdout, a pipe) is
// written to directly. A symbolic link stays, its target is replaced.
class OutputFile {
 public:
  static Result<OutputFile> Create(const std::filesystem::path& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Buffered. An error is kept, and told by Commit.
  void Write(std::string_view bytes);
  // kIo with the cause when anything could not be written; then the old file, if any, is untouched.
  Status Commit();

 private:
  OutputFile(UniqueFd fd, std::filesystem::path path, std::filesystem::path temporary)
      : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}
  void Flush();

  UniqueFd fd_;
  std::filesystem::path path_, temporary_;  // temporary_ empty: written directly
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

}  // namespace linescope
