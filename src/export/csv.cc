#include <fmt/format.h>

#include <algorithm>

#include "export/export.h"
#include "export/places.h"
#include "profile/stats.h"
#include "source/text.h"

namespace linescope {
namespace {

// RFC 4180. A spreadsheet takes a cell that begins with one of these for a formula, and a name of
// the target must not become one: an apostrophe in front makes it text there.
std::string Cell(std::string text) {
  text = ValidText(std::move(text));
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
    text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace

Result<std::string> LinesCsv(ProfileReader& reader, const Profile& profile) {
  std::string out =
      "file,line,in_project,time_ns,share,samples,self_ns,self_samples,total_ns,total_samples,"
      "source\r\n";
  FileId text_of = UINT32_MAX;
  SourceText text;
  for (const LineStats& line : profile.lines) {
    const FileStats& file = profile.files[line.file];
    if (text_of != line.file) {
      text_of = line.file;
      text = {};
      if (file.source) {
        if (const auto bytes = reader.SourceText(*file.source)) text = DecodeSource(*bytes);
      }
    }
    std::string_view source = text.Line(static_cast<uint32_t>(std::max(line.line, 0)));
    source.remove_prefix(std::min(source.find_first_not_of(" \t\f"), source.size()));
    out += Cell(file.path) + ",";
    if (line.line > 0) out += fmt::format("{}", line.line);
    out += fmt::format(",{},{},{:.6f},{},{},{},{},{},", line.in_project ? 1 : 0,
                       profile.Time(line.project), ShareOfTotal(profile, line.project),
                       line.project.samples, profile.Time(line.self), line.self.samples,
                       profile.Time(line.inclusive), line.inclusive.samples);
    out += Cell(std::string(source)) + "\r\n";
  }
  if (profile.without_frames.samples > 0) {
    out += fmt::format("{},,0,0,{:.6f},0,{},{},{},{},\r\n", kNoPython, 0.0,
                       profile.Time(profile.without_frames), profile.without_frames.samples,
                       profile.Time(profile.without_frames), profile.without_frames.samples);
  }
  return out;
}

}  // namespace linescope
