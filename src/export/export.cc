#include "export/export.h"

namespace linescope {

Result<std::string> ExportText(ProfileReader& reader, const Profile& profile, ExportFormat format,
                               const ExportOptions& options) {
  switch (format) {
    case ExportFormat::kCollapsed:
      return CollapsedText(profile, SplitTitles(reader, options.split));
    case ExportFormat::kSpeedscope:
      return SpeedscopeJson(reader, profile);
    case ExportFormat::kPprof:
      return PprofGzip(reader, profile);
    case ExportFormat::kFirefox:
      return FirefoxJson(reader, profile);
    case ExportFormat::kChromeTrace:
      return ChromeTraceJson(reader, profile);
    case ExportFormat::kCallgrind:
      return CallgrindText(reader, profile);
    case ExportFormat::kJson:
      return ProfileJson(reader, profile);
    case ExportFormat::kCsv:
      return LinesCsv(reader, profile);
    case ExportFormat::kSvg:
      return FlameGraphSvg(reader, profile, options);
  }
  return Fail(ErrorCode::kInternal, "unknown format");
}

}  // namespace linescope
