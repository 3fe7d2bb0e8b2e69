#include "cli/stats_json.h"

#include "cli/hot_tables.h"
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

template <class Stats>
void WriteCosts(const Profile& profile, const Stats& stats, JsonWriter& json) {
  json.Field("time_ns", profile.Time(stats.project)).Field("samples", stats.project.samples);
  json.Field("share", ShareOfTotal(profile, stats.project));
  json.Field("self_ns", profile.Time(stats.self));
  json.Field("total_ns", profile.Time(stats.inclusive));
}

}  // namespace

std::string StatsJson(OpenedProfile& opened, const RankOptions& rank) {
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
    json.Field("source", text.empty() ? std::nullopt : std::optional(text)).EndObject();
  }
  json.EndArray().Key("functions").BeginArray();
  for (const RankedFunction& ranked : TopFunctions(profile, rank)) {
    const FunctionInfo& function = profile.functions[ranked.stats->function];
    json.BeginObject().Field("name", function.qualified_name).Field("file", function.file);
    json.Field("line", function.first_line);
    WriteCosts(profile, *ranked.stats, json);
    json.Field("in_project", function.in_project).EndObject();
  }
  json.EndArray().EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace linescope
