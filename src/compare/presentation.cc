#include "compare/presentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"
#include "report/json_writer.h"
#include "source/text.h"

namespace linescope {
namespace {

// Lines that are gone are listed, for no place of the new sources shows them: so many.
constexpr size_t kMostGone = 20;

constexpr int kFormat = 1;

const char* KindName(MatchKind kind) {
  switch (kind) {
    case MatchKind::kNone:
      return "none";
    case MatchKind::kSame:
      return "same";
    case MatchKind::kMoved:
      return "moved";
    case MatchKind::kEdited:
      return "edited";
  }
  return "";
}

void WriteChange(const Change& change, JsonWriter& json) {
  json.Field("base_ns", change.base.time_ns).Field("base_samples", change.base.samples);
  json.Field("new_ns", change.now.time_ns).Field("new_samples", change.now.samples);
  json.Field("new_scaled_ns", change.now_scaled_ns).Field("delta_ns", change.delta_ns);
  json.Field("relative", change.relative()).Field("p", change.chance).Field("noise", change.noise);
}

void WriteSide(const char* name, const RunData& run, JsonWriter& json) {
  json.Key(name).BeginObject().Field("file", run.origin).Field("title", run.title);
  json.Field("python", run.python.empty() ? std::nullopt : std::optional(run.python));
  json.Field("host", run.host).Field("mode", run.mode).Field("elapsed_ns", run.elapsed_ns);
  json.Field("started_unix_ms", run.started_unix_ms).Field("whole", run.whole).EndObject();
}

template <class T>
std::optional<T> If(bool there, T value) {
  return there ? std::optional(std::move(value)) : std::nullopt;
}

// Position of a number in a table row of Markdown, with an arrow as the report has it.
std::string Row(const Change& change, const std::string& place, const std::string& text) {
  return fmt::format("| {} {} | {} | {} | {} | {} | {} |\n", change.delta_ns > 0 ? "▲" : "▼",
                     FormatDelta(change.delta_ns), FormatRelative(change),
                     FormatDuration(change.base.time_ns), FormatDuration(change.now_scaled_ns),
                     place, text);
}

template <class Rows, class Describe>
void AddTable(const char* heading, const char* place, const char* text, const Rows& rows,
              size_t limit, Describe describe, std::string& out) {
  size_t real = 0;
  std::string table;
  for (const auto& row : rows) {
    if (row.change.noise || ++real > limit) continue;
    const auto [where, what] = describe(row);
    table += Row(row.change, where, what);
  }
  out += fmt::format("\n### {}\n\n", heading);
  if (real == 0) {
    out += "No change beyond noise.\n";
    return;
  }
  out += fmt::format("| Diff | Relative | Base | New | {} | {} |\n|---:|---:|---:|---:|---|---|\n",
                     place, text);
  out += table;
  if (real > limit) out += fmt::format("\n{} more changed.\n", real - limit);
}

}  // namespace

std::string MarkdownText(const std::string& text) {
  std::string valid = text;
  MakeValidUtf8(valid);
  std::string out;
  for (const char c : valid) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
    } else if (std::string_view("&<>\"'`|*_[]()#!~\\@$:").find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string MarkdownCode(const std::string& text) {
  return text.empty() ? "" : "<code>" + MarkdownText(text) + "</code>";
}

std::string ComparisonJson(const Comparison& comparison, const std::string& version) {
  JsonWriter json;
  json.BeginObject().Field("format", kFormat).Field("linescope", version);
  WriteSide("base", comparison.base, json);
  WriteSide("new", comparison.now, json);
  json.Field("scaled", comparison.scaled).Field("scale", comparison.scale);
  json.Field("false_discoveries", kFalseDiscoveries).List("notes", comparison.notes);
  json.Key("total").BeginObject();
  WriteChange(comparison.total, json);
  json.EndObject().Key("project").BeginObject();
  WriteChange(comparison.project, json);
  json.EndObject().Key("files").BeginArray();
  for (const FileChange& file : comparison.files) {
    const auto place = [](const RunData& run, std::optional<uint32_t> id) {
      return id ? std::optional(run.files[*id].place) : std::nullopt;
    };
    json.BeginObject().Field("base_file", place(comparison.base, file.base));
    json.Field("new_file", place(comparison.now, file.now));
    WriteChange(file.change, json);
    json.EndObject();
  }
  json.EndArray().Key("functions").BeginArray();
  for (const FunctionChange& function : comparison.functions) {
    const auto side = [&](const char* prefix, const RunData& run, std::optional<uint32_t> id) {
      const RunFunction* found = id ? &run.functions[*id] : nullptr;
      const auto key = [&](const char* name) { return std::string(prefix) + name; };
      json.Field(key("name"), found ? std::optional(found->name) : std::nullopt);
      json.Field(key("file"), found ? std::optional(run.files[found->file].place) : std::nullopt);
      json.Field(key("line"), found ? std::optional(found->line) : std::nullopt);
    };
    json.BeginObject();
    side("base_", comparison.base, function.base);
    side("new_", comparison.now, function.now);
    WriteChange(function.change, json);
    json.EndObject();
  }
  json.EndArray().Key("lines").BeginArray();
  for (const LineChange& line : comparison.lines) {
    json.BeginObject().Field("match", KindName(line.kind));
    const bool was = line.base_file.has_value(), is = line.now_file.has_value();
    json.Field("base_file",
               was ? std::optional(comparison.base.files[*line.base_file].place) : std::nullopt);
    json.Field("base_line", If(was, line.base_line));
    json.Field("new_file",
               is ? std::optional(comparison.now.files[*line.now_file].place) : std::nullopt);
    json.Field("new_line", If(is, line.now_line));
    const std::string text = TextOf(comparison, line);
    json.Field("source", If(!text.empty(), text));
    WriteChange(line.change, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return std::move(json).Take() + "\n";
}

std::string ComparisonMarkdown(const Comparison& comparison, size_t limit) {
  const Change& total = comparison.total;
  std::string out =
      fmt::format("## LineScope: {} against {}\n\n", MarkdownText(comparison.now.title),
                  MarkdownText(comparison.base.title));
  out += fmt::format("Time {} → {}, {} ({}){}.\n\n", FormatDuration(total.base.time_ns),
                     FormatDuration(total.now_scaled_ns), FormatDelta(total.delta_ns),
                     FormatRelative(total), total.noise ? ", within noise" : "");
  out += "Compared are " + ScaleText(comparison) + ".";
  for (const std::string& note : comparison.notes) out += " Note: " + MarkdownText(note) + ".";
  out += "\n";
  AddTable(
      "Lines", "Location", "Source", comparison.lines, limit,
      [&](const LineChange& line) {
        const std::string history = HistoryOf(comparison, line);
        std::string where = MarkdownText(PlaceOf(comparison, line));
        if (!history.empty()) where += " (" + MarkdownText(history) + ")";
        return std::pair(where, MarkdownCode(TextOf(comparison, line)));
      },
      out);
  AddTable(
      "Functions", "Function", "File", comparison.functions, limit,
      [&](const FunctionChange& function) {
        const RunData& side = function.now ? comparison.now : comparison.base;
        const RunFunction& shown = side.functions[function.now ? *function.now : *function.base];
        return std::pair(MarkdownCode(NameOf(comparison, function)),
                         MarkdownText(side.files[shown.file].place));
      },
      out);
  return out;
}

ReportComparison ComparisonColumn(const Comparison& comparison, const ReportModel& model) {
  ReportComparison out;
  const auto cell = [&](const Change& change, bool known) {
    ReportChange shown;
    shown.base_ns = known ? std::optional(change.base.time_ns) : std::nullopt;
    shown.delta_ns = change.delta_ns;
    shown.noise = change.noise;
    if (!change.noise) out.max_delta_ns = std::max(out.max_delta_ns, std::abs(change.delta_ns));
    return shown;
  };
  out.base_title = comparison.base.title;
  out.text = "Compared are " + ScaleText(comparison) + ".";
  for (const std::string& note : comparison.notes) out.text += " Note: " + note + ".";
  out.total = cell(comparison.total, true);
  out.max_delta_ns = 0;  // the scale is that of lines, functions and files
  out.files.resize(model.files.size());
  out.functions.resize(model.functions.size());
  out.lines.resize(model.files.size());
  for (const FileChange& file : comparison.files) {
    if (file.now) out.files[*file.now] = cell(file.change, file.base.has_value());
  }
  for (const FunctionChange& function : comparison.functions) {
    if (function.now)
      out.functions[*function.now] = cell(function.change, function.base.has_value());
  }
  for (const LineChange& line : comparison.lines) {
    if (line.now_file)
      out.lines[*line.now_file].push_back(
          {line.now_line, cell(line.change, line.base_file.has_value())});
    else if (!line.change.noise && out.gone.size() < kMostGone)
      out.gone.push_back(
          {PlaceOf(comparison, line), TextOf(comparison, line), line.change.base.time_ns});
  }
  for (auto& lines : out.lines) std::ranges::sort(lines, {}, &ReportLineChange::line);
  return out;
}

}  // namespace linescope
