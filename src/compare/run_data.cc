#include "compare/run_data.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace linescope {
namespace {

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

RunCost CostOf(const ReportMetrics& metrics) {
  return {metrics.time_ns.value_or(0), metrics.samples};
}

RunCost CostOf(const ReportCost& cost) { return {cost.time_ns, cost.samples}; }

// Reads the parts of a report that a comparison needs. Numbers that make no sense become 0; what
// is missing altogether is an error.
class ReportDataReader {
 public:
  explicit ReportDataReader(const ReportData& report) : report_(report) {}

  Result<RunData> Read() && {
    simdjson::dom::parser parser;
    simdjson::dom::element index;
    if (parser.parse(report_.index()).get(index) != simdjson::SUCCESS)
      return Fail(ErrorCode::kCorrupt, "the index of the report is damaged");
    ReadRun(index);
    LS_CHECK_OK(ReadFiles(index));
    int64_t chunk = 0;
    if (index["chunks"]["functions"].get(chunk) == simdjson::SUCCESS)
      LS_CHECK_OK(ReadFunctions(chunk));
    for (const auto& [number, files] : files_in_chunk_) LS_CHECK_OK(ReadSources(number));
    return std::move(out_);
  }

 private:
  using Element = simdjson::dom::element;
  using Lookup = simdjson::simdjson_result<Element>;

  static std::string Text(const Lookup& value) {
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
  }
  static std::optional<int64_t> Number(const Lookup& value) {
    int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) return std::nullopt;
    return number;
  }
  static bool Flag(const Lookup& value, bool otherwise) {
    bool flag = otherwise;
    return value.get(flag) == simdjson::SUCCESS ? flag : otherwise;
  }
  static RunCost Cost(std::optional<int64_t> time_ns, std::optional<int64_t> samples) {
    return {std::max<int64_t>(time_ns.value_or(0), 0),
            static_cast<uint64_t>(std::max<int64_t>(samples.value_or(0), 0))};
  }

  void ReadRun(const Element& index) {
    const auto run = index["run"];
    out_.title = Text(run["title"]);
    out_.mode = Text(run["mode"]);
    out_.idle = Flag(run["idle"], true);
    out_.attached = Flag(run["attached"], false);
    out_.whole = Text(run["status"]["kind"]) != "interrupted" && !out_.attached;
    out_.elapsed_ns = Number(run["elapsed"]);
    out_.python = Text(run["python"]);
    out_.host = Text(run["host"]);
    out_.started_unix_ms = Number(run["started_unix_ms"]).value_or(0);
    const auto totals = index["totals"];
    out_.total = Cost(Number(totals["time"]), Number(totals["samples"]));
    out_.project = Cost(Number(totals["project_time"]), Number(totals["project_samples"]));
    folders_ = {Text(index["scope"]["root"]), Text(run["working_directory"])};
  }

  Status ReadFiles(const Element& index) {
    simdjson::dom::array paths, times, samples, chunks;
    const auto files = index["files"];
    if (files["path"].get(paths) != simdjson::SUCCESS ||
        files["time"].get(times) != simdjson::SUCCESS ||
        files["samples"].get(samples) != simdjson::SUCCESS ||
        files["chunk"].get(chunks) != simdjson::SUCCESS || times.size() != paths.size() ||
        samples.size() != paths.size() || chunks.size() != paths.size()) {
      return Fail(ErrorCode::kCorrupt, "the index of the report lacks its files");
    }
    auto time = times.begin();
    auto count = samples.begin();
    auto chunk = chunks.begin();
    for (Element path : paths) {
      RunFile file;
      file.path = Text(std::move(path));
      file.place = PathBelow(file.path, folders_);
      file.cost = Cost(Number(Element(*time)), Number(Element(*count)));
      if (const auto number = Number(Element(*chunk))) {
        files_in_chunk_[*number].push_back(static_cast<uint32_t>(out_.files.size()));
      }
      out_.files.push_back(std::move(file));
      ++time, ++count, ++chunk;
    }
    return {};
  }

  // The flags in m.missing are not needed: what is missing is stored as 0.
  static RunCost CostAt(const ReportContainer& container, size_t row) {
    const auto at = [&](const char* name) -> double {
      const auto column = container.F64(name);
      const double value = row < column.size() ? column[row] : 0;
      return value > 0 && value < 9e18 ? value : 0;
    };
    return {std::llround(at("m.time")), static_cast<uint64_t>(std::llround(at("m.samples")))};
  }

  Status ReadFunctions(int64_t chunk) {
    LS_TRY(container, report_.Chunk(static_cast<size_t>(chunk)));
    const auto files = container.U32("file"), lines = container.U32("line"),
               last = container.U32("last");
    for (size_t row = 0; row < files.size() && row < lines.size(); ++row) {
      if (files[row] >= out_.files.size())
        return Fail(ErrorCode::kCorrupt, "the functions of the report are damaged");
      out_.functions.push_back({.name = std::string(container.StringAt("name", row)),
                                .file = files[row],
                                .line = lines[row],
                                .last = row < last.size() ? last[row] : 0,
                                .cost = CostAt(container, row)});
      const RunFunction& function = out_.functions.back();
      const auto kinds = container.U8("kind");
      const bool is_def = row < kinds.size() && kinds[row] <= 1;
      if (is_def && function.last >= function.line)
        out_.files[function.file].definitions.push_back(
            {function.name, function.line, function.last});
    }
    return {};
  }

  Status ReadSources(int64_t chunk) {
    LS_TRY(container, report_.Chunk(static_cast<size_t>(chunk)));
    const auto files = container.U32("file"), line = container.U32("line"),
               start = container.U32("line_start");
    for (size_t group = 0; group < files.size(); ++group) {
      if (files[group] >= out_.files.size() || group + 1 >= start.size() ||
          start[group] > start[group + 1] || start[group + 1] > line.size()) {
        return Fail(ErrorCode::kCorrupt, "part {} of the report is damaged", chunk + 1);
      }
      RunFile& file = out_.files[files[group]];
      file.has_source = true;
      file.text = SplitLines(container.StringAt("text", group));
      file.lines.clear();
      for (uint32_t row = start[group]; row < start[group + 1]; ++row) {
        const RunCost cost = CostAt(container, row);
        if (cost.samples > 0) file.lines.push_back({line[row], cost});
      }
      std::ranges::stable_sort(file.lines, {}, &RunLine::line);
    }
    return {};
  }

  const ReportData& report_;
  RunData out_;
  std::vector<std::string> folders_;
  std::map<int64_t, std::vector<uint32_t>> files_in_chunk_;
};

}  // namespace

std::string PathBelow(const std::string& path, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (folder.empty() || folder == "/" || !path.starts_with(folder)) continue;
    if (path.size() > folder.size() + 1 && path[folder.size()] == '/')
      return path.substr(folder.size() + 1);
  }
  return path;
}

RunData RunDataOf(const ReportModel& model) {
  RunData out;
  out.title = TitleOf(model);
  out.mode = model.run.mode;
  out.idle = model.run.idle;
  out.attached = model.run.attached;
  out.whole = model.outcome != RunOutcome::kInterrupted && !model.run.attached;
  if (model.end.elapsed_ns > 0) out.elapsed_ns = model.end.elapsed_ns;
  out.python = model.python_version.value_or("");
  out.host = model.run.host;
  out.started_unix_ms = model.run.started_unix_ns / 1'000'000;
  out.total = CostOf(model.totals.all);
  out.project = CostOf(model.totals.project);
  const std::vector<std::string> folders = {model.run.project_root, model.run.working_directory};
  for (const ReportFile& source : model.files) {
    RunFile file;
    file.path = source.path;
    file.place = PathBelow(source.path, folders);
    file.cost = CostOf(source.metrics);
    for (const ReportLine& line : source.lines) {
      if (line.metrics.samples > 0) file.lines.push_back({line.line, CostOf(line.metrics)});
    }
    if (source.source) {
      file.has_source = true;
      file.text = SplitLines(source.source->text.text);
      for (const Definition& definition : source.source->index.definitions) {
        if (definition.kind == DefinitionKind::kFunction ||
            definition.kind == DefinitionKind::kAsyncFunction)
          file.definitions.push_back(
              {definition.qualified_name, definition.line, definition.last_line});
      }
    }
    out.files.push_back(std::move(file));
  }
  for (const ReportFunction& function : model.functions) {
    out.functions.push_back({.name = function.name,
                             .file = function.file,
                             .line = function.line,
                             .last = function.last_line.value_or(0),
                             .cost = CostOf(function.metrics)});
  }
  return out;
}

Result<RunData> RunDataOf(const ReportData& report) { return ReportDataReader(report).Read(); }

}  // namespace linescope
