#include "cli/write_output.h"

#include "profile/atomic_file.h"

namespace linescope {

Result<std::string> OutputText(ProfileReader& reader, const Profile& profile, OutputFormat format,
                               const ExportOptions& options) {
  if (const auto exported = ExportedAs(format))
    return ExportText(reader, profile, *exported, options);
  return Fail(ErrorCode::kInternal, "no such text format");
}

Status WriteOutput(ProfileReader& reader, const Profile& profile, const std::string& path,
                   OutputFormat format, const OutputOptions& options) {
  if (format == OutputFormat::kHtml) return WriteReport(reader, path, options.report);
  LS_TRY(text, OutputText(reader, profile, format, options.exports));
  return WriteFileAtomically(path, text);
}

}  // namespace linescope
