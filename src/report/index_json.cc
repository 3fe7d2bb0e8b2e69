#include "report/index_json.h"

#include <algorithm>
#include <array>

#include "report/call_chunks.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

// By the number of a TokenClass.
constexpr std::array kTokenClasses = {"",        "keyword",   "string",
                                      "number",  "comment",   "definition",
                                      "builtin", "decorator", "interpolation"};

const char* OutcomeName(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kSuccess:
      return "success";
    case RunOutcome::kFailed:
      return "failed";
    case RunOutcome::kInterrupted:
      return "interrupted";
  }
  return "";
}

const char* KindName(SourceKind kind) {
  switch (kind) {
    case SourceKind::kPython:
      return "python";
    case SourceKind::kNotebook:
      return "notebook";
  }
  return "";
}

const char* ReasonName(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::kExcluded:
      return "excluded";
    case LeftOutReason::kInstalled:
      return "installed";
    case LeftOutReason::kStandardLibrary:
      return "standard_library";
    case LeftOutReason::kNoFile:
      return "no_file";
    case LeftOutReason::kNative:
      return "native";
    case LeftOutReason::kTask:
      return "task";
    case LeftOutReason::kOutside:
      return "outside";
    case LeftOutReason::kRest:
      return "rest";
  }
  return "";
}

// An empty text stands for an unknown one.
void WriteText(const char* name, const std::string& text, JsonWriter& json) {
  json.Key(name);
  text.empty() ? json.Null() : json.String(text);
}

// Known only when something was recorded.
std::optional<int64_t> Elapsed(const RunEnd& end) {
  if (end.state != ProfileState::kComplete && end.elapsed_ns == 0) return std::nullopt;
  return end.elapsed_ns;
}

void WriteRun(const ReportModel& model, JsonWriter& json) {
  const RunInfo& run = model.run;
  json.Key("run").BeginObject();
  json.Field("title", TitleOf(model));
  json.List("command", run.command);
  json.Field("working_directory", run.working_directory);
  json.Field("host", run.host);
  json.Field("python", model.python_version);
  json.Field("started_unix_ms", run.started_unix_ns / 1'000'000);
  json.Field("elapsed", Elapsed(model.end));
  json.Field("samples", model.end.samples);
  json.Field("rate_asked", run.rate_hz);
  json.Field("rate_reached", model.rate_reached);
  json.Field("mode", run.mode);
  json.Field("idle", run.idle);
  json.Field("consistency", run.consistency);
  WriteText("consistency_used", model.end.consistency_used, json);
  json.Field("collector", run.collector);
  json.Field("method", run.method);
  json.Field("attached", run.attached);
  json.Key("labels").BeginArray();
  for (const auto& [key, value] : run.labels)
    json.BeginArray().String(key).String(value).EndArray();
  json.EndArray();
  json.Key("status").BeginObject();
  json.Field("kind", OutcomeName(model.outcome));
  json.Field("text", model.outcome_text);
  json.Field("exit_code", model.end.exit_code);
  json.Field("signal", model.end.term_signal);
  json.EndObject().EndObject();
}

void WriteScope(const ReportModel& model, JsonWriter& json) {
  json.Key("scope").BeginObject();
  json.Field("root", model.run.project_root);
  json.List("include", model.run.includes);
  json.List("exclude", model.run.excludes);
  json.Field("text", model.scope);
  json.Key("left_out").BeginArray();
  for (const ReportLeftOut& left_out : model.left_out) {
    json.BeginObject();
    WriteText("name", left_out.name, json);
    json.Field("reason", ReasonName(left_out.reason));
    json.Field("files", left_out.files);
    json.Field("time", left_out.cost.time_ns);
    json.Field("samples", left_out.cost.samples);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteCost(const char* time, const char* samples, const ReportCost& cost, JsonWriter& json) {
  json.Field(time, cost.time_ns);
  json.Field(samples, cost.samples);
}

void WriteStates(const ReportStates& states, JsonWriter& json) {
  json.Field("running", states.running_ns);
  json.Field("gc", states.gc_ns);
  json.Field("gil", states.gil_ns);
  json.Field("waiting", states.waiting_ns);
  json.Field("idle", states.idle_ns);
  json.Field("stopped", states.stopped_ns);
  json.Field("unknown", states.unknown_ns);
  json.Field("cpu", states.cpu_ns);
  json.Field("holding", states.gil_known ? std::optional(states.holding_ns) : std::nullopt);
}

// The largest values, for scales; absent where nothing was measured.
struct Largest {
  std::optional<int64_t> time_ns, total_ns;
  void Add(const ReportMetrics& metrics) {
    time_ns = std::max(time_ns, metrics.time_ns);
    total_ns = std::max(total_ns, metrics.total_ns);
  }
};

void WriteTotals(const ReportModel& model, JsonWriter& json) {
  const ReportTotals& totals = model.totals;
  Largest line, function, file;
  for (const ReportFile& f : model.files) {
    file.Add(f.metrics);
    for (const ReportLine& l : f.lines) line.Add(l.metrics);
  }
  for (const ReportFunction& f : model.functions) function.Add(f.metrics);

  json.Key("totals").BeginObject();
  WriteCost("time", "samples", totals.all, json);
  WriteCost("project_time", "project_samples", totals.project, json);
  WriteCost("outside_time", "outside_samples", totals.outside, json);
  WriteCost("no_python_time", "no_python_samples", totals.no_python, json);
  WriteStates(totals.states, json);
  json.Field("max_line_time", line.time_ns);
  json.Field("max_function_time", function.time_ns);
  json.Field("max_file_time", file.time_ns);
  json.Field("max_line_total", line.total_ns);
  json.Field("max_function_total", function.total_ns);
  json.Field("max_file_total", file.total_ns);
  json.EndObject();
}

void WriteTicksAndDrops(const ReportModel& model, JsonWriter& json) {
  json.Key("ticks").BeginObject();
  if (model.ticks) {
    json.Field("due", model.ticks->due);
    json.Field("taken", model.ticks->taken);
    json.Field("missed", model.ticks->missed);
  } else {
    for (const char* name : {"due", "taken", "missed"}) json.Key(name).Null();
  }
  json.EndObject();
  json.Key("drops").BeginArray();
  for (const ReportDrop& drop : model.drops) {
    json.BeginObject();
    json.Field("reason", drop.reason);
    json.Field("text", drop.text);
    json.Field("count", drop.count);
    json.EndObject();
  }
  json.EndArray();
}

void WriteDiagnostics(const ReportModel& model, JsonWriter& json) {
  json.Key("diagnostics").BeginArray();
  for (const Diagnostic& diagnostic : model.diagnostics) {
    json.BeginObject();
    json.Field("level", diagnostic.level);
    json.Field("text", diagnostic.text);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTimeline(const ReportModel& model, JsonWriter& json) {
  const auto& rows = model.timeline;
  json.Key("timeline");
  if (rows.empty()) {
    json.Null();
    return;
  }
  using Bucket = ReportBucket;
  const auto file = [](const Bucket& b) {
    return b.hottest ? std::optional(b.hottest->file) : std::nullopt;
  };
  const auto line = [](const Bucket& b) {
    return b.hottest ? std::optional(b.hottest->line) : std::nullopt;
  };
  json.BeginObject();
  json.Column("start", rows, [](const Bucket& b) { return b.start_ns; });
  json.Column("end", rows, [](const Bucket& b) { return b.end_ns; });
  json.Column("running", rows, [](const Bucket& b) { return b.states.running_ns; });
  json.Column("gc", rows, [](const Bucket& b) { return b.states.gc_ns; });
  json.Column("gil", rows, [](const Bucket& b) { return b.states.gil_ns; });
  json.Column("waiting", rows, [](const Bucket& b) { return b.states.waiting_ns; });
  json.Column("idle", rows, [](const Bucket& b) { return b.states.idle_ns; });
  json.Column("stopped", rows, [](const Bucket& b) { return b.states.stopped_ns; });
  json.Column("unknown", rows, [](const Bucket& b) { return b.states.unknown_ns; });
  json.Column("samples", rows, [](const Bucket& b) { return b.samples; });
  json.Column("file", rows, file);
  json.Column("line", rows, line);
  json.EndObject();
}

void WriteFiles(const ReportModel& model, const ReportChunks& chunks, JsonWriter& json) {
  const auto& rows = model.files;
  using File = ReportFile;
  const auto lines = [](const File& f) {
    return f.source ? std::optional(f.source->text.LineCount()) : std::nullopt;
  };
  json.Key("files").BeginObject();
  json.Column("path", rows, [](const File& f) -> const std::string& { return f.path; });
  json.Column("label", rows, [](const File& f) -> const std::string& { return f.label; });
  json.Column("kind", rows, [](const File& f) { return KindName(f.kind); });
  json.Column("lines", rows, lines);
  json.Column("time", rows, [](const File& f) { return f.metrics.time_ns; });
  json.Column("samples", rows, [](const File& f) { return f.metrics.samples; });
  json.Column("total", rows, [](const File& f) { return f.metrics.total_ns; });
  json.List("chunk", chunks.files);
  json.Column("verified", rows, [](const File& f) { return f.verified; });
  json.Column("note", rows, [](const File& f) -> const std::string& { return f.note; });
  json.EndObject();
}

void WriteTokens(const HotLine& hot, JsonWriter& json) {
  json.Key("tokens").BeginArray();
  uint32_t line = 0, line_start = 0, end = 0;
  std::string_view rest = hot.text ? *hot.text : std::string_view();
  for (const Token& token : hot.tokens) {
    for (; line < token.line; ++line) {
      const size_t length = std::min(rest.find('\n'), rest.size());
      line_start += Utf16Length(rest.substr(0, length)) + 1;
      rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    const uint32_t begin = line_start + token.column;
    json.Uint(begin - end).Uint(token.length).Uint(static_cast<uint8_t>(token.token_class));
    end = begin + token.length;
  }
  json.EndArray();
}

void WriteChange(const ReportChange* change, JsonWriter& json) {
  if (change == nullptr) {
    json.Null();
    return;
  }
  json.BeginObject().Field("base", change->base_ns).Field("delta", change->delta_ns);
  json.Field("noise", change->noise).EndObject();
}

void WriteHotLines(const ReportModel& model, JsonWriter& json) {
  json.Key("hot").BeginArray();
  for (const HotLine& hot : model.hot) {
    json.BeginObject();
    json.Field("file", hot.file);
    json.Field("line", hot.line);
    json.Field("first", hot.statement.first);
    json.Field("last", hot.statement.last);
    json.Field("label", hot.label);
    WriteText("function", hot.function, json);
    json.Field("time", hot.metrics.time_ns);
    json.Field("samples", hot.metrics.samples);
    json.Field("total", hot.metrics.total_ns);
    json.Field("text", hot.text);
    json.Field("text_first", hot.shown.first);
    json.Field("text_last", hot.shown.last);
    WriteTokens(hot, json);
    if (model.comparison) {
      json.Key("diff");
      WriteChange(model.comparison->LineAt(hot.file, hot.line), json);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteProcesses(const ReportModel& model, JsonWriter& json) {
  json.Key("processes").BeginArray();
  for (const ReportProcess& process : model.processes) {
    const ProcessRecord& info = process.info;
    json.BeginObject();
    json.Field("pid", info.pid);
    json.Field("parent", info.parent);
    json.List("command", info.command);
    json.Field("executable", info.executable);
    WriteText("python", info.python_version, json);
    json.Field("start", info.start_ns);
    json.Field("end", info.end_ns);
    json.Field("exit_code", info.exit_code);
    json.Field("signal", info.term_signal);
    WriteCost("time", "samples", process.cost, json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("threads").BeginArray();
  for (const ReportThread& thread : model.threads) {
    const ThreadRecord& info = thread.info;
    json.BeginObject();
    json.Field("process", info.process);
    json.Field("tid", info.tid);
    json.Field("name", info.name);
    json.Field("main", info.is_main);
    json.Field("start", info.start_ns);
    json.Field("end", info.end_ns);
    WriteCost("time", "samples", thread.cost, json);
    WriteStates(thread.states, json);
    json.EndObject();
  }
  json.EndArray();
}

// Changes against another run, where there is one.
void WriteComparison(const ReportModel& model, JsonWriter& json) {
  if (!model.comparison) return;
  const ReportComparison& comparison = *model.comparison;
  using Row = std::optional<ReportChange>;
  const auto base = [](const Row& row) { return row ? row->base_ns : std::nullopt; };
  const auto delta = [](const Row& row) {
    return row ? std::optional(row->delta_ns) : std::nullopt;
  };
  const auto noise = [](const Row& row) { return row ? std::optional(row->noise) : std::nullopt; };
  json.Key("compare").BeginObject();
  json.Field("title", comparison.base_title).Field("text", comparison.text);
  json.Field("base", comparison.total.base_ns).Field("delta", comparison.total.delta_ns);
  json.Field("noise", comparison.total.noise).Field("max_delta", comparison.max_delta_ns);
  json.Key("files").BeginObject();
  json.Column("base", comparison.files, base).Column("delta", comparison.files, delta);
  json.Column("noise", comparison.files, noise).EndObject();
  json.Key("gone").BeginArray();
  for (const ReportGoneLine& line : comparison.gone) {
    json.BeginObject().Field("place", line.place).Field("text", line.text);
    json.Field("base", line.base_ns).EndObject();
  }
  json.EndArray().EndObject();
}

// By the numbers in `cell_state`.
void WriteStates(const ReportModel& model, JsonWriter& json) {
  const Weight weight = WeightOf(model.run);
  json.Key("states").BeginArray();
  for (size_t i = 0; i < kThreadStateCount; ++i) {
    const auto state = static_cast<ThreadState>(i);
    json.BeginObject();
    json.Field("name", ThreadStateName(state));
    json.Field("group", StateGroupName(StateGroupOf(state)));
    json.Field("holds_gil", HoldsGil(state));
    json.Field("counts", Counts(weight, state));
    json.EndObject();
  }
  json.EndArray();
}

void WriteCalls(const CallTree& calls, JsonWriter& json) {
  json.Key("calls");
  if (calls.cells.empty()) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Field("nodes", uint64_t{calls.nodes.size()});
  json.Field("cells", uint64_t{calls.cells.size()});
  json.Field("bucket_width", calls.bucket_width_ns);
  json.Field("joined_buckets", calls.joined_buckets);
  json.Field("time_unit", TimeUnitOf(calls));
  json.EndObject();
}

void WriteChunks(const ReportChunks& chunks, JsonWriter& json) {
  json.Key("chunks").BeginObject();
  json.Field("count", uint64_t{chunks.text.size()});
  json.Column("length", chunks.text, [](const std::string& c) { return uint64_t{c.size()}; });
  json.Field("functions", chunks.functions);
  json.Field("calls", chunks.calls);
  json.List("samples", chunks.samples);
  json.Field("callers", chunks.callers);
  json.EndObject();
}

}  // namespace

std::string IndexJson(const ReportModel& model, const ReportChunks& chunks,
                      const std::string& generator) {
  JsonWriter json;
  json.BeginObject();
  json.Field("format", kReportFormat);
  json.Field("generator", generator);
  WriteRun(model, json);
  WriteScope(model, json);
  json.List("columns", MetricColumns());
  json.List("token_classes", kTokenClasses);
  WriteTotals(model, json);
  WriteTicksAndDrops(model, json);
  WriteDiagnostics(model, json);
  WriteTimeline(model, json);
  WriteFiles(model, chunks, json);
  json.Field("functions", uint64_t{model.functions.size()});
  WriteHotLines(model, json);
  WriteProcesses(model, json);
  WriteComparison(model, json);
  WriteStates(model, json);
  WriteCalls(model.calls, json);
  WriteChunks(chunks, json);
  json.EndObject();
  return std::move(json).Take();
}

}  // namespace linescope
