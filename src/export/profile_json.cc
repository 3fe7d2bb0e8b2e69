#include <array>
#include <map>

#include "export/export.h"
#include "export/places.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

// Of docs/export-json.md.
constexpr int kFormat = 1;

class JsonExport {
 public:
  JsonExport(ProfileReader& reader, const Profile& profile) : reader_(reader), profile_(profile) {}

  Result<std::string> Write() && {
    json_.BeginObject().Field("format", kFormat).Field("creator", Creator(reader_.run()));
    WriteRun();
    json_.Field("time", TimeName(profile_.weight));
    json_.Key("totals").BeginObject();
    WriteCost("all", profile_.total);
    WriteCost("project", profile_.project);
    WriteCost("no_python", profile_.without_frames);
    json_.EndObject();
    WriteProcesses();
    WriteFiles();
    WriteFunctions();
    WriteLines();
    WriteStacks();
    WriteSamples();
    LS_CHECK_OK(WriteTimeline());
    json_.EndObject();
    return std::move(json_).Take() + "\n";
  }

 private:
  void WriteCost(const char* name, const Cost& cost) {
    json_.Key(name).BeginObject().Field("time_ns", profile_.Time(cost));
    json_.Field("samples", cost.samples).EndObject();
  }

  template <class Stats>
  void WriteCosts(const Stats& stats) {
    json_.Field("time_ns", profile_.Time(stats.project)).Field("samples", stats.project.samples);
    json_.Field("self_ns", profile_.Time(stats.self)).Field("self_samples", stats.self.samples);
    json_.Field("total_ns", profile_.Time(stats.inclusive));
    json_.Field("total_samples", stats.inclusive.samples);
  }

  void WriteRun() {
    const RunInfo& run = reader_.run();
    const RunEnd& end = reader_.end();
    json_.Key("run").BeginObject();
    json_.Field("title", run.title).List("command", run.command);
    json_.Field("working_directory", run.working_directory).Field("host", run.host);
    json_.Field("collector", run.collector).Field("method", run.method).Field("mode", run.mode);
    json_.Field("idle", run.idle).Field("attached", run.attached);
    json_.Field("project_root", run.project_root).Field("rate_hz", run.rate_hz);
    json_.Field("rate_reached_hz", end.rate_reached_hz);
    json_.Field("started_unix_ns", run.started_unix_ns).Field("elapsed_ns", end.elapsed_ns);
    json_.Field("samples", end.samples).Field("state", ProfileStateName(end.state));
    json_.Field("exit_code", end.exit_code).Field("term_signal", end.term_signal);
    json_.Field("error", end.error.empty() ? std::nullopt : std::optional(end.error));
    json_.Key("labels").BeginArray();
    for (const auto& [key, value] : run.labels)
      json_.BeginArray().String(key).String(value).EndArray();
    json_.EndArray().Key("dropped").BeginObject();
    for (const DropCount& drop : reader_.drops()) json_.Field(drop.reason, drop.count);
    json_.EndObject().EndObject();
  }

  void WriteProcesses() {
    json_.Key("processes").BeginArray();
    for (const ProcessRecord& process : reader_.processes()) {
      json_.BeginObject().Field("pid", process.pid).Field("parent", process.parent);
      json_.List("command", process.command).Field("executable", process.executable);
      json_.Field("python", process.python_version.empty() ? std::nullopt
                                                           : std::optional(process.python_version));
      json_.Field("start_ns", process.start_ns).Field("end_ns", process.end_ns);
      json_.Field("exit_code", process.exit_code).Field("term_signal", process.term_signal);
      json_.EndObject();
    }
    json_.EndArray().Key("threads").BeginArray();
    for (const ThreadRecord& thread : reader_.threads()) {
      json_.BeginObject().Field("process", thread.process).Field("tid", thread.tid);
      json_.Field("name", thread.name).Field("main", thread.is_main);
      json_.Field("start_ns", thread.start_ns).Field("end_ns", thread.end_ns).EndObject();
    }
    json_.EndArray();
  }

  void WriteFiles() {
    json_.Key("files").BeginArray();
    for (const FileStats& file : profile_.files) {
      json_.BeginObject().Field("path", file.path).Field("in_project", file.in_project);
      WriteCosts(file);
      const SourceRecord* source = file.source ? &reader_.sources().at(*file.source) : nullptr;
      json_.Field("sha256", source != nullptr && source->has_text ? std::optional(source->sha256)
                                                                  : std::nullopt);
      json_.EndObject();
    }
    json_.EndArray();
  }

  // All functions, so that stacks can name them by position; `stats` of those that were sampled.
  void WriteFunctions() {
    std::vector<const FunctionStats*> stats(profile_.functions.size());
    for (const FunctionStats& entry : profile_.function_stats) stats[entry.function] = &entry;
    json_.Key("functions").BeginArray();
    for (FunctionId id = 0; id < profile_.functions.size(); ++id) {
      const FunctionInfo& function = profile_.functions[id];
      json_.BeginObject().Field("name", function.qualified_name);
      json_.Field("file", profile_.function_file[id]).Field("line", function.first_line);
      json_.Field("kind", FunctionKindName(function.kind));
      json_.Field("in_project", function.in_project);
      WriteCosts(stats[id] != nullptr ? *stats[id] : FunctionStats{});
      json_.EndObject();
    }
    json_.EndArray();
  }

  void WriteLines() {
    json_.Key("lines").BeginArray();
    for (const LineStats& line : profile_.lines) {
      json_.BeginObject().Field("file", line.file);
      json_.Field("line", line.line > 0 ? std::optional(line.line) : std::nullopt);
      json_.Field("in_project", line.in_project);
      WriteCosts(line);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void WriteStacks() {
    const StackTree& tree = profile_.stacks;
    const auto known = [](int32_t value) {
      return value > 0 ? std::optional(value) : std::nullopt;
    };
    json_.Key("stacks").BeginObject();
    json_.Column("parent", tree.parent, [](StackId parent) {
      return parent == kNoStack ? std::nullopt : std::optional(parent);
    });
    json_.List("function", tree.function);
    json_.Column("line", tree.range, [&](const SourceRange& range) { return known(range.line); });
    const auto column = [](const SourceRange& range, int32_t value) {
      return range.has_columns() ? std::optional(value) : std::nullopt;
    };
    json_.Column("end_line", tree.range,
                 [&](const SourceRange& range) { return column(range, range.end_line); });
    json_.Column("column", tree.range,
                 [&](const SourceRange& range) { return column(range, range.column); });
    json_.Column("end_column", tree.range,
                 [&](const SourceRange& range) { return column(range, range.end_column); });
    json_.EndObject();
  }

  void WriteSamples() {
    const auto& rows = profile_.stack_costs;
    json_.Key("samples").BeginObject();
    json_.Column("stack", rows, [](const StackCost& row) {
      return row.stack == kNoStack ? std::nullopt : std::optional(row.stack);
    });
    json_.Column("thread", rows, [](const StackCost& row) { return row.thread; });
    json_.Column("state", rows, [](const StackCost& row) { return ThreadStateName(row.state); });
    json_.Column("samples", rows, [](const StackCost& row) { return row.cost.samples; });
    json_.Column("wall_ns", rows, [](const StackCost& row) { return row.cost.wall_ns; });
    json_.Column("cpu_ns", rows, [](const StackCost& row) { return row.cost.cpu_ns; });
    json_.EndObject();
  }

  Status WriteTimeline() {
    std::map<int64_t, std::array<Cost, kThreadStateCount>> buckets;
    LS_CHECK_OK(reader_.ForEachActivity([&](const SampleRow& row) {
      if (!Counts(profile_.weight, row.cell.state)) return;
      ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
        buckets[bucket][static_cast<size_t>(row.cell.state)] += cost;
      });
    }));
    const int64_t width = reader_.bucket_width_ns();
    json_.Key("timeline").BeginObject().Field("width_ns", width);
    json_.Column("start_ns", buckets, [&](const auto& bucket) { return bucket.first * width; });
    json_.Key("states").BeginObject();
    for (size_t state = 0; state < kThreadStateCount; ++state) {
      json_.Column(ThreadStateName(static_cast<ThreadState>(state)), buckets,
                   [&](const auto& bucket) { return profile_.Time(bucket.second[state]); });
    }
    json_.EndObject().EndObject();
    return {};
  }

  ProfileReader& reader_;
  const Profile& profile_;
  JsonWriter json_;
};

}  // namespace

Result<std::string> ProfileJson(ProfileReader& reader, const Profile& profile) {
  return JsonExport(reader, profile).Write();
}

}  // namespace linescope
