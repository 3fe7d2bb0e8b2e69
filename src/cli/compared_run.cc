#include "cli/compared_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/unique_fd.h"
#include "cli/open_profile.h"
#include "cli/terminal.h"
#include "report/report_data.h"

namespace linescope {
namespace {

constexpr std::string_view kProfileMark = "SQLite format 3";
constexpr size_t kHeadBytes = 512;
// Reports are some MB; what is larger is none.
constexpr size_t kLargestReport = size_t{2} << 30;

Result<std::string> ReadUpTo(const std::string& path, size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0)
    return Fail(ErrorCode::kIo, "cannot read '{}': {}", Printable(path), ErrnoText());
  if (S_ISDIR(status.st_mode))
    return Fail(ErrorCode::kIo, "'{}' is a folder: name a profile or a report in it",
                Printable(path));
  std::string bytes;
  char buffer[1 << 16];
  while (bytes.size() < limit) {
    const ssize_t size = ::read(file.get(), buffer, std::min(sizeof buffer, limit - bytes.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Fail(ErrorCode::kIo, "cannot read '{}': {}", Printable(path), ErrnoText());
    if (size == 0) break;
    bytes.append(buffer, static_cast<size_t>(size));
  }
  return bytes;
}

bool LooksLikeHtml(std::string head) {
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  return head.find("<!doctype html") != std::string::npos ||
         head.find("<html") != std::string::npos;
}

std::unexpected<Error> Named(const std::string& path, const Error& error) {
  return std::unexpected(Error{error.code, "'" + Printable(path) + "': " + error.what});
}

Result<ComparedRun> LoadReport(const std::string& path) {
  LS_TRY(html, ReadUpTo(path, kLargestReport));
  const auto report = ReportData::Parse(std::move(html));
  if (!report) return Named(path, report.error());
  auto data = RunDataOf(*report);
  if (!data) return Named(path, data.error());
  return ComparedRun{*std::move(data), std::nullopt};
}

Result<ComparedRun> LoadProfile(const std::string& path) {
  LS_TRY(reader, ProfileReader::Open(path));
  LS_TRY(model, BuildModel(*reader));
  if (reader->end().state != ProfileState::kComplete) WarnUnfinished(path);
  ComparedRun run{RunDataOf(model), std::nullopt};
  run.model = std::move(model);
  return run;
}

}  // namespace

Result<ComparedRun> LoadComparedRun(const std::string& path) {
  LS_TRY(head, ReadUpTo(path, kHeadBytes));
  const bool profile = head.starts_with(kProfileMark);
  if (!profile && !LooksLikeHtml(head))
    return Fail(ErrorCode::kCorrupt,
                "'{}' is neither a profile (.linescope) nor a report that LineScope wrote (.html)",
                Printable(path));
  LS_TRY(run, profile ? LoadProfile(path) : LoadReport(path));
  run.data.origin = path;
  return run;
}

}  // namespace linescope
