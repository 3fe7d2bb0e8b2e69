#include "cli/hot_tables.h"

#include <fmt/format.h>

#include "cli/figures.h"
#include "cli/table.h"
#include "report/format.h"

namespace linescope {
namespace {

using Align = TextTable::Align;

std::string Place(const std::string& path, int32_t line, const RunInfo& run) {
  const std::string shown = ShortPath(path, run);
  return line > 0 ? fmt::format("{}:{}", shown, line) : shown;
}

}  // namespace

std::string_view SourceLines::Whole(FileId file, int32_t line) {
  const auto source = profile_.files[file].source;
  if (!source || line <= 0) return "";
  auto known = texts_.find(file);
  if (known == texts_.end()) {
    const auto bytes = reader_.SourceText(*source);
    known = texts_.emplace(file, bytes ? DecodeSource(*bytes) : SourceText()).first;
  }
  return known->second.Line(static_cast<uint32_t>(line));
}

std::string SourceLines::Line(FileId file, int32_t line) {
  std::string_view text = Whole(file, line);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\f"), text.size()));
  return std::string(text);
}

std::string HotLinesTable(ProfileReader& reader, const Profile& profile, const RankOptions& rank,
                          const Terminal& terminal) {
  const auto lines = TopLines(profile, rank);
  if (lines.empty()) return "";
  TextTable table({{"Time", Align::kRight},
                   {"Share", Align::kRight},
                   {"Samples", Align::kRight},
                   {"Location", Align::kLeft},
                   {"Source", Align::kLeft}});
  SourceLines sources(reader, profile);
  for (const RankedLine& line : lines) {
    table.AddRow({FormatDuration(line.time_ns), FormatShare(line.share, 1),
                  std::to_string(line.samples),
                  Place(profile.files[line.stats->file].path, line.stats->line, reader.run()),
                  sources.Line(line.stats->file, line.stats->line)});
  }
  return table.Format(terminal, 2);
}

std::string HotFunctionsTable(const RunInfo& run, const Profile& profile, const RankOptions& rank,
                              const Terminal& terminal) {
  const auto functions = TopFunctions(profile, rank);
  if (functions.empty()) return "";
  TextTable table({{"Time", Align::kRight},
                   {"Share", Align::kRight},
                   {"Samples", Align::kRight},
                   {"Location", Align::kLeft},
                   {"Function", Align::kLeft}});
  for (const RankedFunction& ranked : functions) {
    const FunctionInfo& function = profile.functions[ranked.stats->function];
    table.AddRow({FormatDuration(ranked.time_ns), FormatShare(ranked.share, 1),
                  std::to_string(ranked.samples), Place(function.file, function.first_line, run),
                  function.kind == FunctionKind::kNative ? function.qualified_name + " (native)"
                                                         : function.qualified_name});
  }
  return table.Format(terminal, 2);
}

}  // namespace linescope
