#include "report/report_model.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "profile/stats.h"
#include "profile/titles.h"
#include "report/hot_lines.h"
#include "report/import_roots.h"
#include "report/outcome.h"
#include "report/parallel.h"

namespace linescope {
namespace {

// Costs are never negative. A damaged profile must not make sums wrap.
template <class T>
T SaturatingAdd(T a, T b) {
  T sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<T>::max() : sum;
}

ReportMetrics MetricsOf(const Profile& profile, const Cost& project, const Cost& inclusive) {
  ReportMetrics metrics;
  metrics.samples = project.samples;
  if (project.samples > 0) metrics.time_ns = profile.Time(project);
  if (inclusive.samples > 0) metrics.total_ns = profile.Time(inclusive);
  return metrics;
}

ReportCost CostOf(const Profile& profile, const Cost& cost) {
  return {.time_ns = profile.Time(cost), .samples = cost.samples};
}

// Builds one model; each Add method fills one part and relies on those before it.
class ModelBuilder {
 public:
  ModelBuilder(ProfileReader& reader, Profile profile, const ModelOptions& options)
      : reader_(reader), profile_(std::move(profile)), options_(options) {}

  Result<ReportModel> Build() && {
    AddRun();
    AddFiles();
    ReadSources();
    AddLinks();
    AddLines();
    AddFunctions();
    AddCalls();
    AddTotals();
    for (LeftOut& each : LeftOutCode(profile_, reader_.run()))
      model_.left_out.push_back(
          {std::move(each.name), each.reason, each.files, CostOf(profile_, each.cost)});
    LS_CHECK_OK(AddSamples());
    AddHotLines();
    return std::move(model_);
  }

 private:
  static constexpr uint32_t kNoFile = UINT32_MAX;

  void AddRun() {
    model_.run = reader_.run();
    model_.end = reader_.end();
    model_.diagnostics = reader_.diagnostics();
    DescribeOutcome(reader_, model_);
  }

  void AddFiles() {
    std::map<std::string, std::pair<const FileStats*, std::optional<SourceId>>> by_path;
    for (const FileStats& file : profile_.files) {
      if (file.in_project) by_path[file.path] = {&file, file.source};
    }
    const auto& sources = reader_.sources();
    for (SourceId id = 0; id < sources.size(); ++id) {
      if (!sources[id].in_project) continue;
      auto& [stats, source] = by_path[sources[id].path];
      if (stats == nullptr && (!source || sources[id].has_text)) source = id;
    }

    file_of_.assign(profile_.files.size(), kNoFile);
    std::vector<std::string> paths;
    for (const auto& [path, entry] : by_path) {
      const auto& [stats, source] = entry;
      ReportFile file;
      file.path = path;
      if (stats != nullptr) {
        file_of_[static_cast<size_t>(stats - profile_.files.data())] =
            static_cast<uint32_t>(model_.files.size());
        file.metrics = MetricsOf(profile_, stats->project, stats->inclusive);
      }
      if (source) {
        file.kind = sources[*source].kind;
        file.verified = sources[*source].verified;
        file.note = sources[*source].note;
      } else {
        file.note = "its source was not captured";
      }
      source_of_.push_back(source);
      model_.files.push_back(std::move(file));
      paths.push_back(path);
    }
    std::vector<std::string> labels = UniqueSuffixes(paths);
    for (size_t i = 0; i < labels.size(); ++i) model_.files[i].label = std::move(labels[i]);
  }

  void ReadSources() {
    std::vector<std::pair<ReportFile*, std::string>> texts;
    for (size_t i = 0; i < model_.files.size(); ++i) {
      ReportFile& file = model_.files[i];
      if (!source_of_[i] || !reader_.sources()[*source_of_[i]].has_text) continue;
      Result<std::string> text = reader_.SourceText(*source_of_[i]);
      if (text) {
        texts.emplace_back(&file, *std::move(text));
      } else {
        file.note = text.error().what;
      }
    }
    ParallelFor(texts.size(), options_.threads, [&](size_t i) {
      auto& [file, bytes] = texts[i];
      ReportSource source{.text = DecodeSource(bytes), .index = {}, .links = {}};
      source.index = IndexPython(source.text);
      file->source = std::move(source);
      bytes = {};
    });
    for (const auto& [file, bytes] : texts) {
      const std::string& mended = file->source->text.note;
      if (!mended.empty()) file->note += (file->note.empty() ? "" : "; ") + mended;
    }
  }

  void AddLinks() {
    std::vector<std::string> paths;
    for (const ReportFile& file : model_.files)
      paths.push_back(AbsolutePath(file.path, model_.run));
    std::vector<LinkSource> sources;
    for (size_t i = 0; i < paths.size(); ++i) {
      const auto& source = model_.files[i].source;
      sources.push_back({paths[i], source ? &source->index : nullptr});
    }
    auto links = ResolveLinks(sources, ImportRootsOf(profile_, model_.run));
    for (size_t i = 0; i < model_.files.size(); ++i) {
      if (!model_.files[i].source) continue;
      model_.files[i].source->links = std::move(links[i]);
      model_.files[i].source->index.symbols = {};
    }
  }

  void AddLines() {
    for (const LineStats& line : profile_.lines) {
      const uint32_t file = file_of_[line.file];
      if (file == kNoFile || line.line <= 0) continue;
      const ReportMetrics metrics = MetricsOf(profile_, line.project, line.inclusive);
      if (!metrics.total_ns && !metrics.time_ns) continue;
      model_.files[file].lines.push_back(
          {static_cast<uint32_t>(line.line), metrics, ExpressionsOf(line, model_.files[file])});
    }
  }

  std::vector<ReportExpression> ExpressionsOf(const LineStats& line, const ReportFile& file) const {
    std::vector<ReportExpression> expressions;
    if (!file.source || file.verified == false) return expressions;
    const SourceText& text = file.source->text;
    for (const ExpressionStats& stats : profile_.ExpressionsOf(line.file, line.line)) {
      const SourceRange& range = stats.range;
      const std::string_view first = text.Line(static_cast<uint32_t>(range.line));
      const std::string_view last = text.Line(static_cast<uint32_t>(range.end_line));
      if (stats.project.samples == 0 || std::cmp_greater(range.column, first.size()) ||
          std::cmp_greater(range.end_column, last.size())) {
        continue;
      }
      expressions.push_back(
          {.column = Utf16Column(first, static_cast<uint32_t>(range.column)),
           .end_line = static_cast<uint32_t>(range.end_line),
           .end_column = Utf16Column(last, static_cast<uint32_t>(range.end_column)),
           .cost = CostOf(profile_, stats.project)});
    }
    // Those that were equal stay in the order of the text.
    std::ranges::stable_sort(expressions, std::greater(), [](const ReportExpression& expression) {
      return std::pair(expression.cost.time_ns, expression.cost.samples);
    });
    return expressions;
  }

  ReportFunction SampledFunction(const FunctionStats& stats, uint32_t file) {
    const FunctionInfo& info = profile_.functions[stats.function];
    ReportFunction function;
    function.name = DisplayName(info);
    function.file = file;
    function.sampled = stats.function;
    function.line = static_cast<uint32_t>(std::max(info.first_line, 1));
    function.metrics = MetricsOf(profile_, stats.project, stats.inclusive);
    if (info.name == "<module>") function.kind = ReportFunctionKind::kModule;
    const auto& source = model_.files[file].source;
    if (!source) return function;
    const Definition* definition =
        source->index.FindDefinition(info.name, function.line, info.qualified_name);
    if (definition == nullptr) return function;
    Describe(*source, *definition, function);
    return function;
  }

  static void Describe(const ReportSource& source, const Definition& definition,
                       ReportFunction& function) {
    function.line = definition.line;
    function.last_line = definition.last_line;
    function.definition = static_cast<uint32_t>(&definition - source.index.definitions.data());
    switch (definition.kind) {
      case DefinitionKind::kFunction:
        function.kind = ReportFunctionKind::kFunction;
        break;
      case DefinitionKind::kAsyncFunction:
        function.kind = ReportFunctionKind::kAsyncFunction;
        break;
      case DefinitionKind::kClass:
        function.kind = ReportFunctionKind::kClass;
        break;
      case DefinitionKind::kLambda:
        function.kind = ReportFunctionKind::kLambda;
        break;
      case DefinitionKind::kComprehension:
        function.kind = ReportFunctionKind::kComprehension;
        break;
      case DefinitionKind::kTypeExpression:
        function.kind = ReportFunctionKind::kOther;
        break;
    }
  }

  void AddFunctions() {
    std::vector<std::vector<bool>> seen(model_.files.size());
    for (size_t i = 0; i < seen.size(); ++i) {
      if (model_.files[i].source) seen[i].resize(model_.files[i].source->index.definitions.size());
    }
    for (const FunctionStats& stats : profile_.function_stats) {
      const uint32_t file = file_of_[stats.file];
      if (file == kNoFile) continue;
      ReportFunction function = SampledFunction(stats, file);
      if (function.definition) seen[file][*function.definition] = true;
      model_.functions.push_back(std::move(function));
    }
    for (uint32_t file = 0; file < seen.size(); ++file) {
      for (size_t i = 0; i < seen[file].size(); ++i) {
        const ReportSource& source = *model_.files[file].source;
        const Definition& definition = source.index.definitions[i];
        if (seen[file][i] || (definition.kind != DefinitionKind::kFunction &&
                              definition.kind != DefinitionKind::kAsyncFunction)) {
          continue;
        }
        ReportFunction function;
        function.name = definition.qualified_name;
        function.file = file;
        Describe(source, definition, function);
        model_.functions.push_back(std::move(function));
      }
    }
    std::ranges::stable_sort(
        model_.functions, [](const ReportFunction& a, const ReportFunction& b) {
          return std::tie(a.file, a.line, a.name) < std::tie(b.file, b.line, b.name);
        });
  }

  void AddCalls() {
    std::vector<uint32_t> rows(profile_.functions.size(), kNoCaller);
    for (uint32_t row = 0; row < model_.functions.size(); ++row) {
      if (const auto& sampled = model_.functions[row].sampled) rows[*sampled] = row;
    }
    model_.callers = BuildCallGraph(profile_, rows, model_.functions.size());
  }

  void AddTotals() {
    ReportTotals& totals = model_.totals;
    totals.all = CostOf(profile_, profile_.total);
    totals.project = CostOf(profile_, profile_.project);
    totals.no_python = CostOf(profile_, profile_.without_frames);
    totals.outside.time_ns = std::max<int64_t>(
        totals.all.time_ns - totals.project.time_ns - totals.no_python.time_ns, 0);
    totals.outside.samples = totals.all.samples - std::min(SaturatingAdd(totals.project.samples,
                                                                         totals.no_python.samples),
                                                           totals.all.samples);
    for (const ProcessRecord& process : reader_.processes())
      model_.processes.push_back({process, {}});
    for (const ThreadRecord& thread : reader_.threads()) model_.threads.push_back({thread, {}, {}});
    for (const StackCost& stack : profile_.stack_costs) {
      const ReportCost cost = CostOf(profile_, stack.cost);
      ReportThread& thread = model_.threads[stack.thread];
      ReportProcess& process = model_.processes[thread.info.process];
      for (ReportCost* sum : {&thread.cost, &process.cost}) {
        sum->time_ns = SaturatingAdd(sum->time_ns, cost.time_ns);
        sum->samples = SaturatingAdd(sum->samples, cost.samples);
      }
    }
  }

  // The line that a sample's project time goes to: file in the upper half, line in the lower.
  std::optional<uint64_t> ProjectLine(StackId stack) const {
    if (stack == kNoStack) return std::nullopt;
    const StackId frame = profile_.stacks.project[stack];
    if (frame == kNoStack) return std::nullopt;
    const uint32_t file = file_of_[profile_.function_file[profile_.stacks.function[frame]]];
    const int32_t line = profile_.stacks.range[frame].line;
    if (file == kNoFile || line <= 0) return std::nullopt;
    return uint64_t{file} << 32 | static_cast<uint32_t>(line);
  }

  // All that needs to know when samples were taken.
  Status AddSamples() {
    LS_CHECK_OK(AddTimeline());
    CallTreeBuilder calls(profile_);
    LS_CHECK_OK(reader_.ForEachSample([&](const SampleRow& row) { calls.Add(row); }));
    model_.calls = calls.Finish(options_.cells);
    std::vector<std::optional<uint32_t>> row_of(profile_.functions.size());
    for (uint32_t row = 0; row < model_.functions.size(); ++row) {
      if (const auto id = model_.functions[row].sampled) row_of[*id] = row;
    }
    for (CallFunction& function : model_.calls.functions) {
      const uint32_t file = file_of_[profile_.function_file[function.id]];
      if (file != kNoFile) function.file = file;
      function.row = row_of[function.id];
    }
    return {};
  }

  // The timeline, and the states of threads. Neighbouring buckets are joined until there are few
  // enough. In mode cpu the profile leaves out threads that wait; the timeline shows them.
  Status AddTimeline() {
    std::optional<int64_t> first;
    int64_t last = 0;
    LS_CHECK_OK(reader_.ForEachActivity([&](const SampleRow& row) {
      first = std::min(first.value_or(row.bucket), row.bucket);
      last = std::max(last, row.bucket + row.buckets - 1);
    }));
    if (!first) return {};
    const int64_t span = last - *first + 1;
    const auto limit = static_cast<int64_t>(std::max<size_t>(options_.timeline_buckets, 1));
    const int64_t step = span / limit + (span % limit != 0 ? 1 : 0);

    std::map<int64_t, ReportBucket> buckets;
    LS_CHECK_OK(reader_.ForEachActivity([&](const SampleRow& row) {
      const SampleCell& cell = row.cell;
      for (ReportStates* states : {&model_.threads[cell.thread].states, &model_.totals.states})
        states->Add(cell.state, cell.wall_ns, cell.cpu_ns);
      ForEachBucket(row, [&](int64_t at, const Cost& cost) {
        ReportBucket& bucket = buckets[(at - *first) / step];
        bucket.states.Add(cell.state, cost.wall_ns, cost.cpu_ns);
        if (Counts(profile_.weight, cell.state))
          bucket.samples = SaturatingAdd(bucket.samples, cost.samples);
      });
    }));
    LS_TRY(line_time, LineTimes(*first, step));
    // A thread that only ever slept says nothing of the GIL that its process has.
    std::set<ProcessId> with_gil;
    for (const ReportThread& thread : model_.threads) {
      if (thread.states.gil_known) with_gil.insert(thread.info.process);
    }
    for (ReportThread& thread : model_.threads) {
      thread.states.gil_known = with_gil.contains(thread.info.process);
    }
    const int64_t width = reader_.bucket_width_ns();
    for (auto& [slot, bucket] : buckets) {
      const int64_t begin = *first + slot * step;
      bucket.start_ns = begin * width;
      bucket.end_ns = (begin + std::min(step, last + 1 - begin)) * width;
      if (model_.end.elapsed_ns > bucket.start_ns)
        bucket.end_ns = std::min(bucket.end_ns, model_.end.elapsed_ns);
      bucket.hottest = Hottest(line_time[slot]);
      model_.timeline.push_back(bucket);
    }
    return {};
  }

  using TimeByLine = std::unordered_map<uint64_t, int64_t>;

  // By slot of the timeline: `step` buckets from `first` on.
  Result<std::map<int64_t, TimeByLine>> LineTimes(int64_t first, int64_t step) {
    // Rows of equal line and buckets are added up before they are spread: there are much fewer.
    std::map<std::pair<int64_t, int64_t>, TimeByLine> spans;
    LS_CHECK_OK(reader_.ForEachSample([&](const SampleRow& row) {
      const SampleCell& cell = row.cell;
      if (!Counts(profile_.weight, cell.state)) return;
      const auto line = ProjectLine(cell.stack);
      if (!line) return;
      int64_t& time = spans[{row.bucket, row.buckets}][*line];
      time = SaturatingAdd(time, profile_.Time({cell.count, cell.wall_ns, cell.cpu_ns}));
    }));
    std::map<int64_t, TimeByLine> slots;
    for (const auto& [span, time_by_line] : spans) {
      for (const auto& [line, time] : time_by_line) {
        const SampleRow row{
            .bucket = span.first, .cell = {.wall_ns = time}, .buckets = span.second};
        ForEachBucket(row, [&](int64_t at, const Cost& cost) {
          // A stack may be known from before the first bucket with anything in it.
          int64_t& sum = slots[std::max<int64_t>(at - first, 0) / step][line];
          sum = SaturatingAdd(sum, cost.wall_ns);
        });
      }
    }
    return slots;
  }

  static std::optional<ReportBucket::Place> Hottest(const TimeByLine& line_time) {
    std::optional<std::pair<int64_t, uint64_t>> best;  // time, line; equal times: the first line
    for (const auto& [line, time] : line_time) {
      if (time > 0 && (!best || time > best->first || (time == best->first && line < best->second)))
        best = {time, line};
    }
    if (!best) return std::nullopt;
    return ReportBucket::Place{.file = static_cast<uint32_t>(best->second >> 32),
                               .line = static_cast<uint32_t>(best->second)};
  }

  void AddHotLines() {
    for (const RankedLine& ranked : TopLines(profile_, {})) {
      if (model_.hot.size() == options_.hot_lines) break;
      const uint32_t file = file_of_[ranked.stats->file];
      if (file == kNoFile || ranked.stats->line <= 0 || ranked.time_ns <= 0) continue;
      const ReportMetrics metrics =
          MetricsOf(profile_, ranked.stats->project, ranked.stats->inclusive);
      model_.hot.push_back(
          QuoteLine(model_.files[file], file, static_cast<uint32_t>(ranked.stats->line), metrics));
    }
  }

  ProfileReader& reader_;
  const Profile profile_;
  const ModelOptions options_;
  ReportModel model_;
  std::vector<uint32_t> file_of_;                   // by profile file: model file or kNoFile
  std::vector<std::optional<SourceId>> source_of_;  // by model file
};

}  // namespace

StateGroup StateGroupOf(ThreadState state) {
  switch (state) {
    case ThreadState::kRunning:
    case ThreadState::kRunningWithGil:
    case ThreadState::kRunningWithoutGil:
      return StateGroup::kRunning;
    case ThreadState::kCollecting:
      return StateGroup::kGc;
    case ThreadState::kGilWait:
      return StateGroup::kGil;
    case ThreadState::kWaiting:
    case ThreadState::kWaitingWithGil:
      return StateGroup::kWaiting;
    case ThreadState::kIdle:
      return StateGroup::kIdle;
    case ThreadState::kStopped:
      return StateGroup::kStopped;
    case ThreadState::kUnknown:
      break;
  }
  return StateGroup::kUnknown;
}

const char* StateGroupName(StateGroup group) {
  switch (group) {
    case StateGroup::kRunning:
      return "running";
    case StateGroup::kGc:
      return "gc";
    case StateGroup::kGil:
      return "gil";
    case StateGroup::kWaiting:
      return "waiting";
    case StateGroup::kIdle:
      return "idle";
    case StateGroup::kStopped:
      return "stopped";
    case StateGroup::kUnknown:
      break;
  }
  return "unknown";
}

void ReportStates::Add(ThreadState state, int64_t wall_ns, int64_t state_cpu_ns) {
  auto sum_of = [&]() -> int64_t& {
    switch (StateGroupOf(state)) {
      case StateGroup::kRunning:
        return running_ns;
      case StateGroup::kGc:
        return gc_ns;
      case StateGroup::kGil:
        return gil_ns;
      case StateGroup::kWaiting:
        return waiting_ns;
      case StateGroup::kIdle:
        return idle_ns;
      case StateGroup::kStopped:
        return stopped_ns;
      case StateGroup::kUnknown:
        break;
    }
    return unknown_ns;
  };
  int64_t& sum = sum_of();
  sum = SaturatingAdd(sum, wall_ns);
  cpu_ns = SaturatingAdd(cpu_ns, state_cpu_ns);
  const std::optional<bool> holds = HoldsGil(state);
  gil_known |= holds.has_value();
  if (holds.value_or(false)) holding_ns = SaturatingAdd(holding_ns, wall_ns);
}

std::string TitleOf(const ReportModel& model) { return TitleOf(model.run); }

std::vector<std::string> UniqueSuffixes(const std::vector<std::string>& paths) {
  std::vector<std::string> labels(paths.size());
  std::vector<size_t> open(paths.size());
  std::vector<size_t> start(paths.size());  // where the suffix tried begins
  for (size_t i = 0; i < paths.size(); ++i) {
    open[i] = i;
    start[i] = paths[i].size();
  }
  // A suffix of n parts can only collide with another path's suffix of n parts, so all grow
  // together.
  while (!open.empty()) {
    std::unordered_map<std::string_view, size_t> uses;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (start[i] > 0) {
        const size_t slash = start[i] >= 2 ? paths[i].rfind('/', start[i] - 2) : std::string::npos;
        start[i] = slash == std::string::npos ? 0 : slash + 1;
      }
      ++uses[std::string_view(paths[i]).substr(start[i])];
    }
    std::erase_if(open, [&](size_t i) {
      const std::string_view suffix = std::string_view(paths[i]).substr(start[i]);
      if (uses[suffix] > 1 && start[i] > 0) return false;
      labels[i] = suffix;
      return true;
    });
  }
  return labels;
}

Result<ReportModel> BuildModel(ProfileReader& reader, const ModelOptions& options) {
  LS_TRY(profile, reader.Load());
  return ModelBuilder(reader, std::move(profile), options).Build();
}

}  // namespace linescope
