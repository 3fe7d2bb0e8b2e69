#include "cli/outputs.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"
#include "cli/terminal.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

struct FormatEntry {
  OutputFormat format;
  std::optional<ExportFormat> exported;  // unset: the report, which is a file of its own making
  const char* name;
  const char* ending;
  const char* kind;  // in messages
  const char*
      mark;  // in the first bytes of such a file that LineScope made; empty: told by its form
  const char* help;
};
constexpr std::array kFormats = {
    FormatEntry{OutputFormat::kHtml,
                {},
                "html",
                ".html",
                "a report",
                R"(name="generator" content="LineScope)",
                "the report, as linescope report writes it"},
    FormatEntry{OutputFormat::kCollapsed, ExportFormat::kCollapsed, "collapsed", ".collapsed",
                "a list of stacks", "", "one line a stack, 'outer;...;inner samples'"},
    FormatEntry{OutputFormat::kSpeedscope, ExportFormat::kSpeedscope, "speedscope",
                ".speedscope.json", "a profile for speedscope", "\"exporter\":\"LineScope",
                "for speedscope"},
    FormatEntry{OutputFormat::kPprof, ExportFormat::kPprof, "pprof", ".pb.gz",
                "a profile for pprof", "\x1f\x8b", "for go tool pprof and services that read it"},
    FormatEntry{OutputFormat::kFirefox, ExportFormat::kFirefox, "firefox", ".firefox.json",
                "a profile for the Firefox Profiler", "\"importedFrom\":\"LineScope",
                "for the Firefox Profiler"},
    FormatEntry{OutputFormat::kChromeTrace, ExportFormat::kChromeTrace, "chrome-trace",
                ".trace.json", "a trace", "\"creator\":\"LineScope",
                "trace events, for Perfetto and chrome://tracing"},
    FormatEntry{OutputFormat::kCallgrind, ExportFormat::kCallgrind, "callgrind", ".callgrind",
                "a Callgrind profile", "\ncreator: LineScope",
                "for KCachegrind and callgrind_annotate"},
    // After the other endings in .json.
    FormatEntry{OutputFormat::kJson, ExportFormat::kJson, "json", ".json", "a profile as JSON",
                "\"creator\":\"LineScope", "everything, for programs (docs/export-json.md)"},
    FormatEntry{OutputFormat::kCsv, ExportFormat::kCsv, "csv", ".csv", "a table of lines",
                "file,line,in_project,", "a row for each line, for spreadsheets"},
    FormatEntry{OutputFormat::kSvg, ExportFormat::kSvg, "svg", ".svg", "a flame graph",
                "<!-- Flame graph by LineScope", "a flame graph as a picture"},
};
constexpr std::string_view kProfileEnding = ".linescope";

constexpr std::string_view kProfileMark = "SQLite format 3";

// Ranks as the launchers of jobs tell them: Slurm, Open MPI, MPICH and its kin, torchrun.
constexpr std::array kRankVariables = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                       "PMI_RANK", "RANK"};

const FormatEntry& EntryOf(OutputFormat format) {
  return *std::ranges::find(kFormats, format, &FormatEntry::format);
}

std::string Shown(const fs::path& path) { return "'" + Printable(path.string()) + "'"; }

std::string Endings() {
  std::string list;
  for (const FormatEntry& entry : kFormats)
    list += (list.empty() ? "" : ", ") + std::string(entry.ending);
  return list;
}

std::string Head(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string head(4096, '\0');
  const ssize_t size = file ? ::read(file.get(), head.data(), head.size()) : -1;
  head.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return head;
}

// "a;b;c 12": a blank and a count at the end of the first line.
bool LooksCollapsed(const std::string& head) {
  const std::string line = head.substr(0, head.find('\n'));
  const size_t blank = line.rfind(' ');
  if (blank == std::string::npos || blank + 1 == line.size()) return false;
  return line.find_first_not_of("0123456789", blank + 1) == std::string::npos;
}

bool IsOurs(const std::string& path, std::optional<OutputFormat> format) {
  const std::string head = Head(path);
  if (head.empty()) return true;  // nothing is lost
  if (!format) return head.starts_with(kProfileMark);
  const std::string_view mark = EntryOf(*format).mark;
  return mark.empty() ? LooksCollapsed(head) : head.find(mark) != std::string::npos;
}

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// For the trial of a place whose pid is not known: any number does.
std::string Trial(const std::string& path) { return WithPid(path, 0); }

Result<std::vector<OutputFile>> NamedFiles(const OutputRequest& request,
                                           const Placeholders& values) {
  if (request.formats.size() > 1 && request.formats.size() != request.outputs.size())
    return Fail(ErrorCode::kUsage,
                "--format is given {} times and --output {} times: give it once, or once for each",
                request.formats.size(), request.outputs.size());
  std::vector<OutputFile> files;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    LS_TRY(path, ExpandPlaceholders(request.outputs[i], values));
    if (path.empty()) return Fail(ErrorCode::kUsage, "--output needs a file's name");
    const size_t given = request.formats.size() == 1 ? 0 : i;
    LS_TRY(format, given < request.formats.size() ? FormatNamed(request.formats[given])
                                                  : FormatOfFile(path));
    files.push_back({path, format});
  }
  return files;
}

// Beside what is wanted, so that a run that was cut off leaves its data where one would look for
// it.
std::string RecordingPlace(const std::vector<OutputFile>& files, const Placeholders& values) {
  fs::path folder = FolderOf(files.front().path);
  std::error_code ignored;
  const bool device =
      fs::exists(files.front().path, ignored) && !fs::is_regular_file(files.front().path, ignored);
  if (device || files.front().path.find("%p") != std::string::npos)
    folder = fs::temp_directory_path(ignored);
  return (folder / fmt::format("linescope-{}-{}{}", values.program, ::getpid(), kProfileEnding))
      .lexically_normal()
      .string();
}

}  // namespace

std::optional<ExportFormat> ExportedAs(OutputFormat format) { return EntryOf(format).exported; }

const char* FormatName(OutputFormat format) { return EntryOf(format).name; }

std::string FormatsHelp() {
  std::string help;
  for (const FormatEntry& entry : kFormats)
    help += fmt::format("  {:<14}{:<18}{}\n", entry.name, entry.ending, entry.help);
  return help;
}

Result<OutputFormat> FormatNamed(const std::string& name) {
  std::string names;
  for (const FormatEntry& entry : kFormats) {
    if (name == entry.name) return entry.format;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Fail(ErrorCode::kUsage, "--format: '{}' is not one of {}", Printable(name), names);
}

Result<OutputFormat> FormatOfFile(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const FormatEntry& entry : kFormats)
    if (name.size() > std::strlen(entry.ending) && name.ends_with(entry.ending))
      return entry.format;
  if (file.extension() == kProfileEnding)
    return Fail(ErrorCode::kUsage,
                "{} is a profile's ending; to keep the profile there: --profile {}", Shown(file),
                Printable(file.string()));
  return Fail(ErrorCode::kUsage,
              "cannot tell what to write to {}: its ending is none of {}; or say --format",
              Shown(file), Endings());
}

Placeholders DescribeRun(const std::string& program, std::optional<int> pid) {
  Placeholders values;
  values.pid = pid;
  values.program = program;
  char host[HOST_NAME_MAX + 1] = {};
  if (::gethostname(host, sizeof host - 1) == 0) values.host = host;
  const time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  values.time.assign(text, ::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local));
  values.rank = "0";
  for (const char* variable : kRankVariables) {
    const char* rank = std::getenv(variable);
    if (rank == nullptr || *rank == '\0') continue;
    values.rank = rank;
    break;
  }
  return values;
}

Result<std::string> ExpandPlaceholders(const std::string& pattern, const Placeholders& values) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    const char letter = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    switch (letter) {
      case 'p':
        out += values.pid ? std::to_string(*values.pid) : "%p";
        break;
      case 'h':
        out += values.host;
        break;
      case 't':
        out += values.time;
        break;
      case 'n':
        out += values.program;
        break;
      case 'r':
        out += values.rank;
        break;
      case '%':
        out += values.pid ? "%" : "%%";
        break;
      default:
        return Fail(ErrorCode::kUsage,
                    "'{}': after % one of p (pid), h (host), t (time), n (program), r (rank) or % "
                    "is expected",
                    Printable(pattern));
    }
    ++i;
  }
  // Two stages only where a pid is awaited.
  return !values.pid && out.find("%p") == std::string::npos ? WithPid(out, 0) : out;
}

std::string WithPid(const std::string& path, int pid) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool mark =
        path[i] == '%' && i + 1 < path.size() && (path[i + 1] == 'p' || path[i + 1] == '%');
    if (!mark) {
      out += path[i];
      continue;
    }
    out += path[++i] == 'p' ? std::to_string(pid) : "%";
  }
  return out;
}

Status CheckPlace(const std::string& path, std::optional<OutputFormat> format) {
  const fs::path folder = FolderOf(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::directory)
    return Fail(ErrorCode::kIo, "{} is a folder: name a file in it", Shown(path));
  if (fs::exists(status)) {
    if (::access(path.c_str(), W_OK) != 0)
      return Fail(ErrorCode::kIo, "cannot write {}: {}", Shown(path), ErrnoText());
    if (status.type() != fs::file_type::regular) {
      if (format) return {};  // a pipe or a device
      return Fail(ErrorCode::kIo, "{} is not a regular file: a profile needs one", Shown(path));
    }
    if (!IsOurs(path, format)) {
      return Fail(ErrorCode::kIo,
                  "{} exists and is not {} made by LineScope: remove it, or name another place",
                  Shown(path), format ? EntryOf(*format).kind : "a profile");
    }
  }
  if (!fs::is_directory(folder, error))
    return Fail(ErrorCode::kIo, "cannot write {}: there is no folder {}", Shown(path),
                Shown(folder));
  // Files are made under another name and renamed, so the folder has to allow it.
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return Fail(ErrorCode::kIo, "cannot write in the folder {}: {}; name another place with -o",
                Shown(folder), ErrnoText());
  return {};
}

Result<OutputPlan> PlanOutputs(const OutputRequest& request, const Placeholders& values) {
  OutputPlan plan;
  if (!request.profile.empty()) {
    LS_TRY(profile, ExpandPlaceholders(request.profile, values));
    plan.profile = profile;
  }
  if (!request.outputs.empty()) {
    LS_TRY(files, NamedFiles(request, values));
    plan.files = std::move(files);
  } else {
    if (request.formats.size() > 1)
      return Fail(ErrorCode::kUsage, "--format is given {} times without --output",
                  request.formats.size());
    LS_TRY(format, FormatNamed(request.formats.empty() ? "html" : request.formats[0]));
    const std::string base = "linescope-" + values.program;
    plan.files.push_back({base + EntryOf(format).ending, format});
    if (plan.profile.empty()) plan.profile = base + std::string(kProfileEnding);
  }
  for (const OutputFile& file : plan.files) LS_CHECK_OK(CheckPlace(Trial(file.path), file.format));
  if (!plan.profile.empty()) LS_CHECK_OK(CheckPlace(Trial(plan.profile), std::nullopt));
  for (size_t i = 0; i < plan.files.size(); ++i) {
    const std::string& path = plan.files[i].path;
    if (path == plan.profile)
      return Fail(ErrorCode::kUsage, "{} is named for both --output and --profile", Shown(path));
    for (size_t j = 0; j < i; ++j)
      if (plan.files[j].path == path)
        return Fail(ErrorCode::kUsage, "{} is named twice with --output", Shown(path));
  }
  plan.recording = plan.profile.empty() || plan.profile.find("%p") != std::string::npos
                       ? RecordingPlace(plan.files, values)
                       : plan.profile;
  return plan;
}

}  // namespace linescope
