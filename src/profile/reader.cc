#include "profile/reader.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "profile/compress.h"
#include "profile/profile_database.h"
#include "profile/schema.h"
#include "profile/sqlite.h"

namespace linescope {
namespace {

// Ids are stored as 64 bits but are dense and small; anything else is damage. It also bounds what a
// damaged file can make us allocate: ids must be the row numbers 0, 1, 2, ….
template <class T>
Result<T> Narrow(const Statement& row, int column, const char* what) {
  int64_t value = row.Int(column);
  if (!std::in_range<T>(value))
    return Fail(ErrorCode::kCorrupt, "the profile is damaged: {} is {}", what, value);
  return static_cast<T>(value);
}

template <class T>
Result<std::optional<T>> NarrowOptional(const Statement& row, int column, const char* what) {
  if (row.IsNull(column)) return std::nullopt;
  LS_TRY(value, Narrow<T>(row, column, what));
  return value;
}

// `limit`: the first value that is out of range.
Result<uint32_t> Id(const Statement& row, int column, uint64_t limit, const char* what) {
  int64_t value = row.Int(column);
  if (value < 0 || static_cast<uint64_t>(value) >= limit)
    return Fail(ErrorCode::kCorrupt, "the profile is damaged: there is no {} {}", what, value);
  return static_cast<uint32_t>(value);
}

Status ExpectDense(const Statement& row, size_t expected, const char* what) {
  if (row.Int(0) == static_cast<int64_t>(expected) && expected < kNoStack) return {};
  return Fail(ErrorCode::kCorrupt, "the profile is damaged: {} {} is missing", what, expected);
}

Result<uint64_t> Count(const Statement& row, int column, const char* what) {
  return Narrow<uint64_t>(row, column, what);
}

Result<int64_t> Duration(const Statement& row, int column) {
  int64_t value = row.Int(column);
  if (value < 0) return Fail(ErrorCode::kCorrupt, "the profile is damaged: a time is negative");
  return value;
}

class SqliteProfileReader final : public ProfileReader {
 public:
  explicit SqliteProfileReader(ProfileDatabase file) : file_(std::move(file)) {}

  // Reads all but functions, stacks, samples and texts.
  Status Initialise();

  [[nodiscard]] const RunInfo& run() const override { return run_; }
  [[nodiscard]] const RunEnd& end() const override { return end_; }
  [[nodiscard]] const std::vector<ProcessRecord>& processes() const override { return processes_; }
  [[nodiscard]] const std::vector<ThreadRecord>& threads() const override { return threads_; }
  [[nodiscard]] const std::vector<SourceRecord>& sources() const override { return sources_; }
  [[nodiscard]] const std::vector<DropCount>& drops() const override { return drops_; }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const override { return diagnostics_; }
  Result<std::string> SourceText(SourceId source) override;
  Result<Profile> Load(Weight weight) override;
  Status ForEachSample(const std::function<void(const SampleRow&)>& visit) override;
  Status ForEachActivity(const std::function<void(const SampleRow&)>& visit) override;
  [[nodiscard]] int64_t bucket_width_ns() const override { return bucket_width_ns_; }

 private:
  Database& db() const { return file_.database(); }
  Result<std::vector<std::string>> JsonStrings(const std::string& json) const;
  Result<std::vector<std::pair<std::string, std::string>>> JsonPairs(const std::string& json) const;
  // Tables and columns that came with a minor version are not in older files.
  Result<bool> HasColumn(std::string_view table, std::string_view column) const;
  Status ReadRun();
  Status ReadEnd(const Statement& row);
  Status ReadProcesses();
  Status ReadThreads();
  Status ReadSources();
  Status ReadDropsAndDiagnostics();
  Result<std::vector<FunctionInfo>> ReadFunctions() const;
  Result<StackTree> ReadStacks(size_t function_count) const;
  // `rows` selects bucket, thread, stack, state, count, wall_ns, cpu_ns and buckets.
  Status ReadSamples(std::string_view rows, uint64_t stack_count,
                     const std::function<void(const SampleRow&)>& visit) const;
  Result<std::string> SelectSamples() const;
  Status CheckBuckets(const SampleRow& row) const;
  void LinkSources(Profile& profile) const;

  ProfileDatabase file_;
  RunInfo run_;
  RunEnd end_;
  int64_t bucket_width_ns_ = 0;
  std::vector<ProcessRecord> processes_;
  std::vector<ThreadRecord> threads_;
  std::vector<SourceRecord> sources_;
  std::vector<DropCount> drops_;
  std::vector<Diagnostic> diagnostics_;
};

Status SqliteProfileReader::Initialise() {
  LS_CHECK_OK(ReadRun());
  LS_CHECK_OK(ReadProcesses());
  LS_CHECK_OK(ReadThreads());
  LS_CHECK_OK(ReadSources());
  return ReadDropsAndDiagnostics();
}

Result<std::vector<std::string>> SqliteProfileReader::JsonStrings(const std::string& json) const {
  LS_TRY(items, db().Prepare("SELECT value FROM json_each(?) ORDER BY key"));
  items.Bind(json);
  std::vector<std::string> strings;
  while (true) {
    LS_TRY(more, items.Step());
    if (!more) return strings;
    strings.push_back(items.Text(0));
  }
}

Result<std::vector<std::pair<std::string, std::string>>> SqliteProfileReader::JsonPairs(
    const std::string& json) const {
  LS_TRY(items, db().Prepare("SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]')"
                             " FROM json_each(?) ORDER BY key"));
  items.Bind(json);
  std::vector<std::pair<std::string, std::string>> pairs;
  while (true) {
    LS_TRY(more, items.Step());
    if (!more) return pairs;
    pairs.emplace_back(items.Text(0), items.Text(1));
  }
}

Result<bool> SqliteProfileReader::HasColumn(std::string_view table, std::string_view column) const {
  LS_TRY(row, db().Prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?"));
  row.Bind(table, column);
  return row.Step();
}

Status SqliteProfileReader::ReadRun() {
  LS_TRY(row, db().Prepare(
                  "SELECT title, command, working_directory, host, linescope_version, collector,"
                  " method, mode, consistency, rate_hz, started_unix_ns, attached, project_root,"
                  " includes, excludes, labels, bucket_width_ns, state, elapsed_ns, samples,"
                  " exit_code, term_signal, error, ticks_due, ticks_taken, rate_reached_hz,"
                  " consistency_used FROM run WHERE id = 0"));
  LS_TRY(found, row.Step());
  if (!found) return Fail(ErrorCode::kCorrupt, "{} is damaged: it describes no run", db().name());
  run_.title = row.Text(0);
  LS_TRY(command, JsonStrings(row.Text(1)));
  run_.command = std::move(command);
  run_.working_directory = row.Text(2);
  run_.host = row.Text(3);
  run_.linescope_version = row.Text(4);
  run_.collector = row.Text(5);
  run_.method = row.Text(6);
  run_.mode = row.Text(7);
  run_.consistency = row.Text(8);
  run_.rate_hz = row.Real(9);
  run_.started_unix_ns = row.Int(10);
  run_.attached = row.Int(11) != 0;
  run_.project_root = row.Text(12);
  LS_TRY(includes, JsonStrings(row.Text(13)));
  run_.includes = std::move(includes);
  LS_TRY(excludes, JsonStrings(row.Text(14)));
  run_.excludes = std::move(excludes);
  LS_TRY(labels, JsonPairs(row.Text(15)));
  run_.labels = std::move(labels);
  bucket_width_ns_ = row.Int(16);
  if (bucket_width_ns_ <= 0)
    return Fail(ErrorCode::kCorrupt, "{} is damaged: its time buckets have no width", db().name());
  // Since format 1.1.
  LS_TRY(has_idle, HasColumn("run", "idle"));
  if (has_idle) {
    LS_TRY(idle, db().QueryInt("SELECT idle FROM run WHERE id = 0"));
    run_.idle = idle.value_or(1) != 0;
  }
  return ReadEnd(row);
}

Status SqliteProfileReader::ReadEnd(const Statement& row) {
  end_.state = row.Text(17) == "complete" ? ProfileState::kComplete : ProfileState::kInterrupted;
  end_.elapsed_ns = row.Int(18);
  LS_TRY(samples, Count(row, 19, "the number of samples"));
  end_.samples = samples;
  LS_TRY(exit_code, NarrowOptional<int>(row, 20, "the exit code"));
  end_.exit_code = exit_code;
  LS_TRY(term_signal, NarrowOptional<int>(row, 21, "the signal"));
  end_.term_signal = term_signal;
  end_.error = row.Text(22);
  end_.ticks_known = !row.IsNull(23) && !row.IsNull(24);
  LS_TRY(ticks_due, Count(row, 23, "the number of ticks"));
  end_.ticks_due = ticks_due;
  LS_TRY(ticks_taken, Count(row, 24, "the number of ticks"));
  end_.ticks_taken = ticks_taken;
  end_.rate_reached_hz = row.OptionalReal(25);
  end_.consistency_used = row.Text(26);
  return {};
}

Status SqliteProfileReader::ReadProcesses() {
  LS_TRY(row, db().Prepare("SELECT id, pid, parent, command, executable, python_version, start_ns,"
                           " end_ns, exit_code, term_signal FROM process ORDER BY id"));
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) break;
    LS_CHECK_OK(ExpectDense(row, processes_.size(), "process"));
    ProcessRecord process;
    LS_TRY(pid, Narrow<int>(row, 1, "a pid"));
    process.pid = pid;
    if (!row.IsNull(2)) {
      LS_TRY(parent, Id(row, 2, processes_.size(), "parent process"));
      process.parent = parent;
    }
    LS_TRY(command, JsonStrings(row.Text(3)));
    process.command = std::move(command);
    process.executable = row.Text(4);
    process.python_version = row.Text(5);
    process.start_ns = row.Int(6);
    process.end_ns = row.OptionalInt(7);
    LS_TRY(exit_code, NarrowOptional<int>(row, 8, "an exit code"));
    process.exit_code = exit_code;
    LS_TRY(term_signal, NarrowOptional<int>(row, 9, "a signal"));
    process.term_signal = term_signal;
    processes_.push_back(std::move(process));
  }
  return {};
}

Status SqliteProfileReader::ReadThreads() {
  LS_TRY(row, db().Prepare("SELECT id, process, tid, name, is_main, start_ns, end_ns FROM thread"
                           " ORDER BY id"));
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) break;
    LS_CHECK_OK(ExpectDense(row, threads_.size(), "thread"));
    ThreadRecord thread;
    LS_TRY(process, Id(row, 1, processes_.size(), "process"));
    thread.process = process;
    LS_TRY(tid, Narrow<int>(row, 2, "a thread's tid"));
    thread.tid = tid;
    thread.name = row.Text(3);
    thread.is_main = row.Int(4) != 0;
    thread.start_ns = row.Int(5);
    thread.end_ns = row.OptionalInt(6);
    threads_.push_back(std::move(thread));
  }
  return {};
}

Status SqliteProfileReader::ReadSources() {
  LS_TRY(row, db().Prepare("SELECT id, path, resolved_path, kind, in_project, text IS NOT NULL,"
                           " text_bytes, sha256, verified, note FROM source_unit ORDER BY id"));
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) break;
    LS_CHECK_OK(ExpectDense(row, sources_.size(), "source"));
    SourceRecord source;
    source.path = row.Text(1);
    source.resolved_path = row.Text(2);
    source.kind = row.Text(3) == "notebook" ? SourceKind::kNotebook : SourceKind::kPython;
    source.in_project = row.Int(4) != 0;
    source.has_text = row.Int(5) != 0;
    LS_TRY(text_bytes, Count(row, 6, "the size of a source text"));
    source.text_bytes = text_bytes;
    source.sha256 = row.Text(7);
    if (!row.IsNull(8)) source.verified = row.Int(8) != 0;
    source.note = row.Text(9);
    sources_.push_back(std::move(source));
  }
  return {};
}

Status SqliteProfileReader::ReadDropsAndDiagnostics() {
  LS_TRY(drop, db().Prepare("SELECT reason, count FROM \"drop\" ORDER BY reason"));
  while (true) {
    LS_TRY(more, drop.Step());
    if (!more) break;
    LS_TRY(count, Count(drop, 1, "a number of dropped samples"));
    drops_.push_back({drop.Text(0), count});
  }
  LS_TRY(diagnostic, db().Prepare("SELECT level, text FROM diagnostic ORDER BY id"));
  while (true) {
    LS_TRY(more, diagnostic.Step());
    if (!more) return {};
    diagnostics_.push_back({diagnostic.Text(0), diagnostic.Text(1)});
  }
}

Result<std::string> SqliteProfileReader::SourceText(SourceId source) {
  if (source >= sources_.size() || !sources_[source].has_text)
    return Fail(ErrorCode::kUsage, "{} holds no text of source {}", db().name(), source);
  LS_TRY(row, db().Prepare("SELECT text FROM source_unit WHERE id = ?"));
  row.Bind(source);
  LS_TRY(found, row.Step());
  if (!found) return Fail(ErrorCode::kCorrupt, "{} is damaged: a source is gone", db().name());
  return Decompress(row.Blob(0), sources_[source].text_bytes);
}

Result<std::vector<FunctionInfo>> SqliteProfileReader::ReadFunctions() const {
  LS_TRY(has_kind, HasColumn("function", "kind"));  // since 1.1
  LS_TRY(row, db().Prepare(fmt::format("SELECT id, file, name, qualified_name, first_line,"
                                       " in_project, {} FROM function ORDER BY id",
                                       has_kind ? "kind" : "'python'")));
  std::vector<FunctionInfo> functions;
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) return functions;
    LS_CHECK_OK(ExpectDense(row, functions.size(), "function"));
    LS_TRY(first_line, Narrow<int32_t>(row, 4, "a line"));
    // Kinds of later versions are shown like Python's.
    functions.push_back({row.Text(1), row.Text(2), row.Text(3), first_line, row.Int(5) != 0,
                         FunctionKindFromName(row.Text(6)).value_or(FunctionKind::kPython)});
  }
}

Result<StackTree> SqliteProfileReader::ReadStacks(size_t function_count) const {
  struct Frame {
    FunctionId function;
    SourceRange range;
  };
  std::vector<Frame> frames;
  LS_TRY(frame, db().Prepare("SELECT id, function, line, end_line, column, end_column"
                             " FROM frame ORDER BY id"));
  while (true) {
    LS_TRY(more, frame.Step());
    if (!more) break;
    LS_CHECK_OK(ExpectDense(frame, frames.size(), "frame"));
    LS_TRY(function, Id(frame, 1, function_count, "function"));
    LS_TRY(line, Narrow<int32_t>(frame, 2, "a line"));
    SourceRange range{.line = line};
    if (!frame.IsNull(4)) {
      LS_TRY(end_line, Narrow<int32_t>(frame, 3, "a line"));
      LS_TRY(column, Narrow<int32_t>(frame, 4, "a column"));
      LS_TRY(end_column, Narrow<int32_t>(frame, 5, "a column"));
      // Readers rely on a begin; whether the text has such columns is theirs to see.
      if (column >= 0 && end_column >= 0 && end_line >= line)
        range = {line, end_line, column, end_column};
    }
    frames.push_back({function, range});
  }
  StackTree tree;
  LS_TRY(stack, db().Prepare("SELECT id, parent, frame FROM stack ORDER BY id"));
  while (true) {
    LS_TRY(more, stack.Step());
    if (!more) return tree;
    LS_CHECK_OK(ExpectDense(stack, tree.size(), "stack"));
    StackId parent = kNoStack;
    if (!stack.IsNull(1)) {
      LS_TRY(id, Id(stack, 1, tree.size(), "calling stack"));
      parent = id;
    }
    LS_TRY(frame_id, Id(stack, 2, frames.size(), "frame"));
    tree.parent.push_back(parent);
    tree.function.push_back(frames[frame_id].function);
    tree.range.push_back(frames[frame_id].range);
  }
}

// The bucket must be a time. Many are only read where the writer makes any, so that a damaged file
// cannot have them spread over all time.
Status SqliteProfileReader::CheckBuckets(const SampleRow& row) const {
  const int64_t last_bucket = std::numeric_limits<int64_t>::max() / bucket_width_ns_ - 1;
  if (row.bucket < 0 || row.bucket > last_bucket)
    return Fail(ErrorCode::kCorrupt, "{} is damaged: there is no time bucket {}", db().name(),
                row.bucket);
  if (row.buckets == 1) return {};
  if (row.buckets < 1 || row.bucket >= kMaxRowBuckets || row.buckets > kMaxRowBuckets - row.bucket)
    return Fail(ErrorCode::kCorrupt, "{} is damaged: there are no {} time buckets from {} on",
                db().name(), row.buckets, row.bucket);
  return {};
}

Status SqliteProfileReader::ReadSamples(std::string_view rows, uint64_t stack_count,
                                        const std::function<void(const SampleRow&)>& visit) const {
  LS_TRY(row, db().Prepare(rows));
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) return {};
    SampleRow sample;
    sample.bucket = row.Int(0);
    sample.buckets = row.Int(7);
    LS_CHECK_OK(CheckBuckets(sample));
    LS_TRY(thread, Id(row, 1, threads_.size(), "thread"));
    sample.cell.thread = thread;
    if (row.Int(2) != kStoredNoStack) {
      LS_TRY(stack, Id(row, 2, stack_count, "stack"));
      sample.cell.stack = stack;
    }
    // States of later versions are shown as what they are to this one.
    int64_t state = row.Int(3);
    bool known = state >= 0 && state < static_cast<int64_t>(kThreadStateCount);
    sample.cell.state = known ? static_cast<ThreadState>(state) : ThreadState::kUnknown;
    LS_TRY(count, Count(row, 4, "a number of samples"));
    sample.cell.count = count;
    LS_TRY(wall_ns, Duration(row, 5));
    LS_TRY(cpu_ns, Duration(row, 6));
    sample.cell.wall_ns = wall_ns;
    sample.cell.cpu_ns = cpu_ns;
    visit(sample);
  }
}

Status SqliteProfileReader::ForEachSample(const std::function<void(const SampleRow&)>& visit) {
  LS_TRY(stacks, db().QueryInt("SELECT count(*) FROM stack"));
  LS_TRY(rows, SelectSamples());
  return ReadSamples(rows, static_cast<uint64_t>(stacks.value_or(0)), visit);
}

Result<std::string> SqliteProfileReader::SelectSamples() const {
  LS_TRY(has_buckets, HasColumn("sample", "buckets"));  // since 1.2
  return fmt::format(
      "SELECT bucket, thread, stack, state, count, wall_ns, cpu_ns, {} FROM sample"
      " ORDER BY bucket, thread, stack, state",
      has_buckets ? "buckets" : "1");
}

Status SqliteProfileReader::ForEachActivity(const std::function<void(const SampleRow&)>& visit) {
  LS_TRY(has_table, HasColumn("thread_activity", "bucket"));  // since 1.2
  if (!has_table) return ProfileReader::ForEachActivity(visit);
  return ReadSamples(fmt::format("SELECT bucket, thread, {}, state, count, wall_ns, cpu_ns, buckets"
                                 " FROM thread_activity ORDER BY bucket, thread, state",
                                 kStoredNoStack),
                     0, visit);
}

Result<Profile> SqliteProfileReader::Load(Weight weight) {
  LS_TRY(functions, ReadFunctions());
  LS_TRY(stacks, ReadStacks(functions.size()));
  size_t stack_count = stacks.size();
  Aggregator aggregator(weight, std::move(functions), std::move(stacks), bucket_width_ns_);
  LS_TRY(rows, SelectSamples());
  LS_CHECK_OK(ReadSamples(rows, stack_count, [&](const SampleRow& row) { aggregator.Add(row); }));
  LS_CHECK_OK(ForEachActivity([&](const SampleRow& row) { aggregator.AddActivity(row); }));
  Profile profile = aggregator.Finish();
  LinkSources(profile);
  return profile;
}

void SqliteProfileReader::LinkSources(Profile& profile) const {
  for (SourceId id = 0; id < sources_.size(); ++id) {
    auto file = std::ranges::lower_bound(profile.files, sources_[id].path, {}, &FileStats::path);
    if (file == profile.files.end() || file->path != sources_[id].path) continue;
    // Of several snapshots of one path the last with a text is what the run ended with.
    if (!file->source || sources_[id].has_text) file->source = id;
  }
}

Result<std::unique_ptr<ProfileReader>> Initialised(ProfileDatabase file) {
  auto reader = std::make_unique<SqliteProfileReader>(std::move(file));
  LS_CHECK_OK(reader->Initialise());
  return reader;
}

}  // namespace

Status ProfileReader::ForEachActivity(const std::function<void(const SampleRow&)>& visit) {
  return ForEachSample([&](const SampleRow& row) {
    SampleRow activity = row;
    activity.cell.stack = kNoStack;
    visit(activity);
  });
}

Result<std::unique_ptr<ProfileReader>> ProfileReader::Open(const std::filesystem::path& path) {
  LS_TRY(file, ProfileDatabase::Open(path));
  return Initialised(std::move(file));
}

Result<std::unique_ptr<ProfileReader>> ProfileReader::FromBytes(std::span<const uint8_t> bytes,
                                                                const std::string& name) {
  LS_TRY(file, ProfileDatabase::FromBytes(bytes, name));
  return Initialised(std::move(file));
}

}  // namespace linescope
