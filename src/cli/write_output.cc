#include "cli/write_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "cli/terminal.h"
#include "profile/collapsed.h"
#include "report/report_writer.h"

namespace linescope {
namespace {

bool IsSpecial(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// For pipes and devices, which cannot be replaced by a finished file.
Status WriteInto(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return Fail(ErrorCode::kIo, "cannot write '{}': {}", Printable(path), ErrnoText());
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return Fail(ErrorCode::kIo, "cannot write '{}': {}", Printable(path), ErrnoText());
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

Status WriteOutput(ProfileReader& reader, const Profile& profile, const std::string& path,
                   OutputFormat format) {
  switch (format) {
    case OutputFormat::kHtml:
      return WriteReport(reader, path);
    case OutputFormat::kCollapsed:
      return IsSpecial(path) ? WriteInto(path, CollapsedText(profile, reader.threads(), {}))
                             : WriteCollapsed(profile, reader.threads(), {}, path);
  }
  return Fail(ErrorCode::kInternal, "unknown format");
}

}  // namespace linescope
