#include "cli/stats_json.h"

#include <algorithm>
#include <functional>

#include "cli/hot_tables.h"
#include "cli/thread_tables.h"
#include "cli/version.h"
#include "report/json_writer.h"
#include "report/outcome.h"

namespace linescope {
namespace {

constexpr int kFormat = 1;

const char* StateName(ProfileState state) {
  switch (state) {
    case ProfileState::kRecording:
      return "recording";
    case ProfileState::kComplete:
      return "complete";
    case ProfileState::kInterrupted:
      return "interrupted";
  }
  return "";
}

// The text of `range`, whose first line is `line`; of one that goes on, what is on that line.
std::optional<std::string_view> PieceOf(std::string_view line, const SourceRange& range) {
  const auto begin = static_cast<size_t>(range.column);
  const size_t end =
      range.end_line > range.line ? line.size() : static_cast<size_t>(range.end_column);
  if (begin >= end || end > line.size()) return std::nullopt;
  return line.substr(begin, end - begin);
}

void WriteRun(OpenedProfile& opened, JsonWriter& json) {
  const RunInfo& run = opened.reader->run();
  const RunEnd& end = opened.reader->end();
  ReportModel facts;
  DescribeOutcome(*opened.reader, facts);
  json.Key("run").BeginObject();
  json.Field("title", run.title).List("command", run.command);
  json.Field("working_directory", run.working_directory).Field("host", run.host);
  json.Field("linescope", run.linescope_version).Field("python", facts.python_version);
  json.Field("collector", run.collector).Field("method", run.method).Field("mode", run.mode);
  json.Field("idle", run.idle);
  json.Field("consistency", run.consistency).Field("attached", run.attached);
  json.Field("project_root", run.project_root);
  json.Field("started_unix_ns", run.started_unix_ns).Field("elapsed_ns", end.elapsed_ns);
  json.Field("state", StateName(end.state)).Field("exit_code", end.exit_code);
  json.Field("term_signal", end.term_signal).Field("error", end.error);
  json.Key("labels").BeginObject();
  for (const auto& [key, value] : run.labels) json.Field(key, value);
  json.EndObject().EndObject();

  json.Field("rate_hz", run.rate_hz).Field("rate_reached_hz", facts.rate_reached);
  json.Field("samples", end.samples);
  json.Field("missed", facts.ticks ? std::optional(facts.ticks->missed) : std::nullopt);
  uint64_t dropped = 0;
  for (const ReportDrop& drop : facts.drops) dropped += drop.count;
  json.Field("dropped", dropped);
  json.Key("drops").BeginObject();
  for (const ReportDrop& drop : facts.drops) json.Field(drop.reason, drop.count);
  json.EndObject();
}

// Columns as CPython has them: bytes of UTF-8, from 0.
void WriteExpressions(const Profile& profile, const LineStats& line, std::string_view text,
                      JsonWriter& json) {
  std::vector<const ExpressionStats*> hottest;
  for (const ExpressionStats& stats : profile.ExpressionsOf(line.file, line.line)) {
    if (stats.project.samples != 0) hottest.push_back(&stats);
  }
  std::ranges::stable_sort(hottest, std::greater(), [&](const ExpressionStats* stats) {
    return std::pair(profile.Time(stats->project), stats->project.samples);
  });
  const int64_t whole = profile.Time(line.project);
  json.Key("expressions").BeginArray();
  for (const ExpressionStats* stats : hottest) {
    const SourceRange& range = stats->range;
    const int64_t time = profile.Time(stats->project);
    json.BeginObject().Field("column", range.column).Field("end_line", range.end_line);
    json.Field("end_column", range.end_column);
    json.Field("time_ns", time).Field("samples", stats->project.samples);
    json.Field("share", whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : 0.0);
    json.Field("source", PieceOf(text, range)).EndObject();
  }
  json.EndArray();
}

template <class Stats>
void WriteCosts(const Profile& profile, const Stats& stats, JsonWriter& json) {
  json.Field("time_ns", profile.Time(stats.project)).Field("samples", stats.project.samples);
  json.Field("share", ShareOfTotal(profile, stats.project));
  json.Field("self_ns", profile.Time(stats.self));
  json.Field("total_ns", profile.Time(stats.inclusive));
}

}  // namespace

std::string StatsJson(OpenedProfile& opened, const ThreadTimes& times, const RankOptions& rank) {
  const Profile& profile = opened.profile;
  JsonWriter json;
  json.BeginObject().Field("format", kFormat).Field("linescope", kVersion);
  WriteRun(opened, json);
  json.Field("total_ns", profile.Time(profile.total));
  json.Field("project_ns", profile.Time(profile.project));

  SourceLines sources(*opened.reader, profile);
  json.Key("lines").BeginArray();
  for (const RankedLine& line : TopLines(profile, rank)) {
    json.BeginObject().Field("file", profile.files[line.stats->file].path);
    json.Field("line", line.stats->line);
    WriteCosts(profile, *line.stats, json);
    json.Field("in_project", line.stats->in_project);
    const std::string text = sources.Line(line.stats->file, line.stats->line);
    json.Field("source", text.empty() ? std::nullopt : std::optional(text));
    WriteExpressions(profile, *line.stats, sources.Whole(line.stats->file, line.stats->line), json);
    json.EndObject();
  }
  json.EndArray().Key("functions").BeginArray();
  for (const RankedFunction& ranked : TopFunctions(profile, rank)) {
    const FunctionInfo& function = profile.functions[ranked.stats->function];
    json.BeginObject().Field("name", function.qualified_name).Field("file", function.file);
    json.Field("line", function.first_line).Field("kind", FunctionKindName(function.kind));
    WriteCosts(profile, *ranked.stats, json);
    json.Field("in_project", function.in_project).EndObject();
  }
  json.EndArray();
  WriteThreadTimes(*opened.reader, times, json);
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace linescope
