#pragma once
// A stored profile in the formats of other tools. Each function writes a whole file as text; equal
// profiles give equal bytes. Names come from the target: every format escapes them by its own
// rules, and none lets them become structure, markup or a formula.
//
// Every export holds the whole Time of the profile (`total_ns` of `stats --json`), also that of
// threads without Python frames, under kNoPython. Collapsed stacks count samples, and leave those
// out.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/collapsed.h"
#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

enum class ExportFormat : uint8_t {
  kCollapsed,
  kSpeedscope,
  kPprof,
  kFirefox,
  kChromeTrace,
  kCallgrind,
  kJson,
  kCsv,
  kSvg,
};

// Stands for the stack of a thread that was in no Python code.
inline constexpr std::string_view kNoPython = "[no Python code]";

struct ExportOptions {
  // How collapsed stacks and the flame graph keep threads and processes apart; the other formats
  // have a notion of them.
  StackSplit split = StackSplit::kAuto;
};

Result<std::string> ExportText(ProfileReader& reader, const Profile& profile, ExportFormat format,
                               const ExportOptions& options = {});

// speedscope.app: one evented profile a thread.
Result<std::string> SpeedscopeJson(ProfileReader& reader, const Profile& profile);
// pprof's profile.proto, gzipped: samples and time by stack, thread and state.
std::string PprofGzip(const ProfileReader& reader, const Profile& profile);
// The Firefox Profiler's processed profile.
Result<std::string> FirefoxJson(ProfileReader& reader, const Profile& profile);
// The trace event format of chrome://tracing and Perfetto.
Result<std::string> ChromeTraceJson(ProfileReader& reader, const Profile& profile);
// Valgrind's callgrind format, for KCachegrind and callgrind_annotate.
std::string CallgrindText(const ProfileReader& reader, const Profile& profile);
// Everything, by the schema in docs/export-json.md.
Result<std::string> ProfileJson(ProfileReader& reader, const Profile& profile);
// A row for every line that was sampled.
Result<std::string> LinesCsv(ProfileReader& reader, const Profile& profile);
// A picture that needs no script.
std::string FlameGraphSvg(const ProfileReader& reader, const Profile& profile,
                          const ExportOptions& options);

}  // namespace linescope
