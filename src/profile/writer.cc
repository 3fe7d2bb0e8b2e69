#include "profile/writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/compress.h"
#include "profile/identity.h"
#include "profile/json_list.h"
#include "profile/recording_file.h"
#include "profile/sample_buffer.h"
#include "profile/sample_rows.h"
#include "profile/sample_table.h"
#include "profile/schema.h"
#include "profile/sha256.h"
#include "profile/sqlite.h"

namespace linescope {
namespace {

// At most this share of a thread's samples leaves its time when rows are joined. What threads did
// over time is kept finer: it has few rows.
constexpr double kStackPrecision = 1 << 14;
constexpr double kActivityPrecision = 1 << 18;
// Larger files are not compacted at the end: the user is waiting.
constexpr int64_t kVacuumLimitBytes = 64 << 20;

struct ProcessRow {
  ProcessInfo info;
  std::optional<int64_t> end_ns;
  std::optional<int> exit_code, term_signal;
};

struct ThreadRow {
  ThreadInfo info;
  std::optional<int64_t> end_ns;
};

struct SourceRow {
  SourceSnapshot snapshot;  // without its text
  std::optional<std::vector<uint8_t>> text;
  std::optional<uint64_t> text_bytes;
  std::optional<std::string> sha256;
};

std::optional<int64_t> StackOrNull(StackId stack) {
  if (stack == kNoStack) return std::nullopt;
  return stack;
}

std::optional<std::string> TextOrNull(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

Result<std::unique_ptr<Database>> OpenForRecording(const RecordingFile& file,
                                                   const std::string& name) {
  LS_TRY(database,
         Database::Open(file.recording_path.string(),
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, name));
  sqlite3_busy_timeout(database->handle(), 2000);
  return database;
}

// All pending data survives a failed Commit: it is cleared only once COMMIT has succeeded, and
// every statement can be repeated.
class SqliteProfileWriter final : public ProfileWriter {
 public:
  SqliteProfileWriter(RecordingFile file, std::string name, std::unique_ptr<Database> database,
                      RunInfo run, const WriterLimits& limits)
      : file_(std::move(file)),
        name_(std::move(name)),
        database_(std::move(database)),
        run_(std::move(run)),
        limits_(limits),
        identities_(limits.stacks),
        sample_table_(SampleTable::Kind::kStacks,
                      {kStackPrecision, limits.sample_rows, limits.stacks}),
        activity_table_(SampleTable::Kind::kActivity,
                        {kActivityPrecision, limits.sample_rows, limits.stacks}),
        shrink_at_(static_cast<size_t>(limits.sample_rows)) {}

  // Creates the schema and prepares what Commit runs.
  Status Initialise();
  // Removes what a failed Initialise has left.
  void Discard();

  ProcessId AddProcess(const ProcessInfo& info) override;
  void SetProcess(ProcessId process, const ProcessInfo& info) override;
  ThreadId AddThread(const ThreadInfo& info) override;
  void SetThreadName(ThreadId thread, const std::string& name) override;
  void EndThread(ThreadId thread, int64_t end_ns) override;
  void EndProcess(ProcessId process, int64_t end_ns, std::optional<int> exit_code,
                  std::optional<int> term_signal) override;
  FunctionId AddFunction(const FunctionInfo& info) override {
    return identities_.AddFunction(info);
  }
  StackId AddStack(const StackNode& node) override { return identities_.AddStack(node); }
  SourceId AddSource(const SourceSnapshot& snapshot) override;
  void AddDiagnostic(const Diagnostic& diagnostic) override {
    pending_diagnostics_.push_back(diagnostic);
  }
  void AddDrops(DropReason reason, uint64_t count) override {
    drops_.at(static_cast<size_t>(reason)) += count;
  }
  void AddSamples(int64_t begin_ns, int64_t end_ns, std::span<const SampleCell> cells) override;
  Status Commit() override;
  void UpdateRun(const RunInfo& run) override {
    run_ = run;
    run_changed_ = true;
  }
  Status Finish(const RunEnd& end) override;

 private:
  struct Statements {
    Statement update_run, update_progress, update_end, put_process, put_thread, add_function,
        add_frame, add_stack, add_source, add_diagnostic, put_drop;
  };

  Status SwitchLogOn();
  Status SurviveCrashes();
  Status PrepareStatements();
  void CloseStatements();
  Status WriteRun(Statement& statement);
  Status WritePending();
  Status WriteProcessesAndThreads();
  Status WriteIdentities();
  Status WriteSources();
  Status WriteSamples();
  Status WriteEnd(const RunEnd& end);
  void ForgetPending();
  void ShrinkPending();
  // Says once in the profile what was left out of it.
  void NoteLimits();
  [[nodiscard]] bool StandsForMore(const ThreadRow& row) const {
    const auto more = more_threads_.find(row.info.process);
    return more != more_threads_.end() && &threads_[more->second] == &row;
  }
  ThreadId AddThreadRow(const ThreadInfo& info);
  void Compact();

  const RecordingFile file_;
  const std::string name_;  // the path as the caller gave it, for errors
  std::unique_ptr<Database> database_;
  Statements sql_;  // after database_: finalized before it is closed

  RunInfo run_;
  const WriterLimits limits_;
  bool run_changed_ = false;
  std::vector<ProcessRow> processes_;
  std::set<ProcessId> changed_processes_;
  std::vector<ThreadRow> threads_;
  std::set<ThreadId> changed_threads_;
  // Stand for those beyond the limits; the threads by their process.
  std::optional<ProcessId> more_processes_;
  std::unordered_map<ProcessId, ThreadId> more_threads_;
  Identities identities_;
  std::unordered_map<std::string, SourceId> source_ids_;  // by path and hash
  std::vector<SourceRow> pending_sources_;
  SourceId source_count_ = 0;
  std::vector<Diagnostic> pending_diagnostics_;
  std::set<std::string> notes_;  // on limits, that were written
  std::array<uint64_t, static_cast<size_t>(DropReason::kCount)> drops_{};
  SampleBuffer samples_;
  int64_t stored_width_ns_ = SampleBuffer::kFirstWidthNs;
  SampleTable sample_table_, activity_table_;
  size_t shrink_at_;  // cells that wait while nothing can be committed
  uint64_t sample_count_ = 0;
  int64_t elapsed_ns_ = 0;
  std::optional<RunEnd> end_;
  bool survives_crashes_ = false;  // of the machine: what was committed
};

constexpr std::string_view kUpdateRun =
    "UPDATE run SET title = ?, command = ?, working_directory = ?, host = ?, linescope_version = ?,"
    " collector = ?, method = ?, mode = ?, idle = ?, consistency = ?, rate_hz = ?,"
    " started_unix_ns = ?,"
    " attached = ?, project_root = ?, includes = ?, excludes = ?, labels = ?, bucket_width_ns = ?";

constexpr std::string_view kInsertRun =
    "INSERT INTO run (id, state, title, command, working_directory, host, linescope_version,"
    " collector, method, mode, idle, consistency, rate_hz, started_unix_ns, attached, project_root,"
    " includes, excludes, labels, bucket_width_ns)"
    " VALUES (0, 'recording', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

Status SqliteProfileWriter::Initialise() {
  // The schema and the application id go into the file itself before the log is switched on, so
  // that a recording killed at any later moment is recognised by its first bytes.
  LS_CHECK_OK(database_->Execute(
      fmt::format("PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE;"
                  "BEGIN IMMEDIATE; PRAGMA application_id = {}; PRAGMA user_version = {};",
                  kApplicationId, kUserVersion)));
  LS_CHECK_OK(database_->Execute(kSchemaSql));
  {
    LS_TRY(meta, database_->Prepare("INSERT INTO meta VALUES (?, ?)"));
    LS_CHECK_OK(meta.Run("format", "linescope profile"));
    LS_CHECK_OK(meta.Run("format_version", fmt::format("{}.{}", kFormatMajor, kFormatMinor)));
    LS_TRY(insert_run, database_->Prepare(kInsertRun));
    LS_CHECK_OK(WriteRun(insert_run));
  }
  LS_CHECK_OK(database_->Execute("COMMIT"));
  LS_CHECK_OK(SwitchLogOn());
  // The limit gives space back after a merge of buckets went through the log.
  LS_CHECK_OK(
      database_->Execute("PRAGMA synchronous = OFF; PRAGMA journal_size_limit = 8388608;"
                         "PRAGMA temp_store = MEMORY"));
  return PrepareStatements();
}

// From the first commit of a run that goes on, the log is synced at each, so that even a crash of
// the machine costs at most what came since. Until then there is nothing to lose: waiting a dozen
// times for the disk would be most of what a short run costs.
Status SqliteProfileWriter::SurviveCrashes() {
  if (survives_crashes_) return {};
  LS_CHECK_OK(database_->Sync());
  LS_CHECK_OK(database_->Execute("PRAGMA synchronous = FULL"));
  survives_crashes_ = true;
  return {};
}

Status SqliteProfileWriter::SwitchLogOn() {
  LS_TRY(mode, database_->QueryText("PRAGMA journal_mode = WAL"));
  // The first access after the switch is what maps the log's index.
  if (mode == "wal" && database_->QueryInt("SELECT id FROM run")) return {};
  // Some network file systems have no shared memory. A new connection that is exclusive from its
  // first access keeps the index to itself; nobody else can open the database until it is finished.
  database_.reset();
  LS_TRY(database, OpenForRecording(file_, name_));
  database_ = std::move(database);
  LS_CHECK_OK(database_->Execute("PRAGMA locking_mode = EXCLUSIVE"));
  LS_TRY(probe, database_->QueryInt("SELECT id FROM run"));
  (void)probe;
  return {};
}

void SqliteProfileWriter::Discard() {
  CloseStatements();
  database_.reset();
  file_.Remove();
}

Status SqliteProfileWriter::PrepareStatements() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&sql_.update_run, kUpdateRun},
      {&sql_.update_progress, "UPDATE run SET elapsed_ns = ?, samples = ?, bucket_width_ns = ?"},
      {&sql_.update_end,
       "UPDATE run SET state = ?, elapsed_ns = ?, samples = ?, exit_code = ?, term_signal = ?,"
       " error = ?, ticks_due = ?, ticks_taken = ?, rate_reached_hz = ?, consistency_used = ?"},
      {&sql_.put_process, "INSERT OR REPLACE INTO process VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&sql_.put_thread, "INSERT OR REPLACE INTO thread VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&sql_.add_function, "INSERT INTO function VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&sql_.add_frame,
       "INSERT INTO frame (id, function, line, end_line, column, end_column)"
       " VALUES (?, ?, ?, ?, ?, ?)"},
      {&sql_.add_stack, "INSERT INTO stack VALUES (?, ?, ?, ?, ?)"},
      {&sql_.add_source, "INSERT INTO source_unit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&sql_.add_diagnostic, "INSERT INTO diagnostic (level, text) VALUES (?, ?)"},
      {&sql_.put_drop, "INSERT OR REPLACE INTO \"drop\" VALUES (?, ?)"},
  };
  for (const auto& [statement, text] : all) {
    LS_TRY(prepared, database_->Prepare(text));
    *statement = std::move(prepared);
  }
  LS_CHECK_OK(sample_table_.Prepare(database_.get()));
  return activity_table_.Prepare(database_.get());
}

void SqliteProfileWriter::CloseStatements() {
  sql_ = {};
  sample_table_.Close();
  activity_table_.Close();
}

// Runs kUpdateRun or kInsertRun, which take the same parameters.
Status SqliteProfileWriter::WriteRun(Statement& statement) {
  const std::string command = JsonList(run_.command), includes = JsonList(run_.includes),
                    excludes = JsonList(run_.excludes), labels = JsonPairs(run_.labels);
  return statement.Run(run_.title, command, run_.working_directory, run_.host,
                       run_.linescope_version, run_.collector, run_.method, run_.mode, run_.idle,
                       run_.consistency, run_.rate_hz, run_.started_unix_ns, run_.attached,
                       run_.project_root, includes, excludes, labels, stored_width_ns_);
}

ProcessId SqliteProfileWriter::AddProcess(const ProcessInfo& info) {
  if (more_processes_) return *more_processes_;
  auto id = static_cast<ProcessId>(processes_.size());
  processes_.push_back({.info = info, .end_ns = {}, .exit_code = {}, .term_signal = {}});
  changed_processes_.insert(id);
  if (id > 0 && id >= limits_.processes) {
    more_processes_ = id;
    ProcessInfo& more = processes_[id].info = {};
    more.parent = 0;
    more.command = {"more processes"};
    more.start_ns = info.start_ns;
  }
  return id;
}

void SqliteProfileWriter::SetProcess(ProcessId process, const ProcessInfo& info) {
  ProcessInfo& known = processes_.at(process).info;
  if (process == more_processes_) {
    known.python_version = info.python_version;
  } else {
    known = info;
  }
  changed_processes_.insert(process);
}

ThreadId SqliteProfileWriter::AddThread(const ThreadInfo& info) {
  // Each process that stands for itself has its main thread.
  const bool own = info.is_main && info.process != more_processes_;
  if (own || static_cast<int64_t>(threads_.size()) < limits_.threads) return AddThreadRow(info);
  const auto known = more_threads_.find(info.process);
  if (known != more_threads_.end()) return known->second;
  const ThreadId id = AddThreadRow({.process = info.process,
                                    .tid = processes_.at(info.process).info.pid,
                                    .name = "more threads",
                                    .start_ns = info.start_ns});
  more_threads_.emplace(info.process, id);
  return id;
}

ThreadId SqliteProfileWriter::AddThreadRow(const ThreadInfo& info) {
  auto id = static_cast<ThreadId>(threads_.size());
  threads_.push_back({.info = info, .end_ns = {}});
  changed_threads_.insert(id);
  return id;
}

void SqliteProfileWriter::SetThreadName(ThreadId thread, const std::string& name) {
  ThreadRow& row = threads_.at(thread);
  if (!StandsForMore(row) && std::exchange(row.info.name, name) != name)
    changed_threads_.insert(thread);
}

void SqliteProfileWriter::EndThread(ThreadId thread, int64_t end_ns) {
  threads_.at(thread).end_ns = end_ns;
  changed_threads_.insert(thread);
}

void SqliteProfileWriter::EndProcess(ProcessId process, int64_t end_ns,
                                     std::optional<int> exit_code, std::optional<int> term_signal) {
  ProcessRow& row = processes_.at(process);
  row.end_ns = end_ns;
  if (process != more_processes_) {
    row.exit_code = exit_code;
    row.term_signal = term_signal;
  }
  changed_processes_.insert(process);
}

SourceId SqliteProfileWriter::AddSource(const SourceSnapshot& snapshot) {
  bool available = !snapshot.text.empty() || snapshot.note.empty() || snapshot.verified == true;
  SourceRow row{.snapshot = snapshot, .text = {}, .text_bytes = {}, .sha256 = {}};
  if (available) {
    // Packed here and not at the commit, so that what waits is small.
    if (auto packed = Compress(snapshot.text)) {
      row.text = *std::move(packed);
      row.text_bytes = snapshot.text.size();
      row.sha256 = Sha256Hex(snapshot.text);
    } else {
      row.snapshot.note = packed.error().what;
    }
  }
  row.snapshot.text.clear();
  auto [at, added] =
      source_ids_.try_emplace(row.sha256.value_or("") + snapshot.path, source_count_);
  if (added) {
    pending_sources_.push_back(std::move(row));
    ++source_count_;
  }
  return at->second;
}

void SqliteProfileWriter::AddSamples(int64_t begin_ns, int64_t end_ns,
                                     std::span<const SampleCell> cells) {
  samples_.Add(begin_ns, cells);
  elapsed_ns_ = std::max(elapsed_ns_, end_ns);
  for (const SampleCell& cell : cells) sample_count_ += cell.count;
}

Status SqliteProfileWriter::Commit() {
  if (!database_)
    return Fail(ErrorCode::kInternal, "the profile {} is closed", file_.final_path.string());
  Status status = end_ ? Status() : SurviveCrashes();
  if (status) status = database_->Execute("BEGIN IMMEDIATE");
  if (status) status = WritePending();
  if (status) status = database_->Execute("COMMIT");
  if (!status) {
    // Some failures have rolled back by themselves.
    if (database_->in_transaction()) (void)database_->Execute("ROLLBACK");
    ShrinkPending();
    return status;
  }
  ForgetPending();
  return {};
}

Status SqliteProfileWriter::WritePending() {
  if (run_changed_) LS_CHECK_OK(WriteRun(sql_.update_run));
  LS_CHECK_OK(WriteProcessesAndThreads());
  LS_CHECK_OK(WriteIdentities());
  LS_CHECK_OK(WriteSources());
  LS_CHECK_OK(WriteSamples());
  NoteLimits();
  for (const Diagnostic& diagnostic : pending_diagnostics_)
    LS_CHECK_OK(sql_.add_diagnostic.Run(diagnostic.level, diagnostic.text));
  for (size_t i = 0; i < drops_.size(); ++i) {
    if (drops_[i])
      LS_CHECK_OK(sql_.put_drop.Run(DropReasonName(static_cast<DropReason>(i)), drops_[i]));
  }
  LS_CHECK_OK(sql_.update_progress.Run(elapsed_ns_, sample_count_, samples_.width_ns()));
  if (end_) LS_CHECK_OK(WriteEnd(*end_));
  return {};
}

Status SqliteProfileWriter::WriteProcessesAndThreads() {
  for (ProcessId id : changed_processes_) {
    const ProcessRow& row = processes_[id];
    const std::string command = JsonList(row.info.command);
    const auto python_version = TextOrNull(row.info.python_version);
    LS_CHECK_OK(sql_.put_process.Run(id, row.info.pid, row.info.parent, command,
                                     row.info.executable, python_version, row.info.start_ns,
                                     row.end_ns, row.exit_code, row.term_signal));
  }
  for (ThreadId id : changed_threads_) {
    const ThreadRow& row = threads_[id];
    LS_CHECK_OK(sql_.put_thread.Run(id, row.info.process, row.info.tid, row.info.name,
                                    row.info.is_main, row.info.start_ns, row.end_ns));
  }
  return {};
}

Status SqliteProfileWriter::WriteIdentities() {
  FunctionId function = identities_.first_pending_function();
  for (const FunctionInfo& info : identities_.pending_functions())
    LS_CHECK_OK(sql_.add_function.Run(function++, info.file, info.name, info.qualified_name,
                                      info.first_line, info.in_project,
                                      FunctionKindName(info.kind)));
  const auto& frames = identities_.frames();
  for (FrameId id = identities_.first_pending_frame(); id < frames.size(); ++id) {
    const SourceRange& range = frames[id].range;
    std::optional<int64_t> line, end_line, column, end_column;
    if (range.line != kNoLine) line = range.line;
    if (range.has_columns()) {
      end_line = range.end_line;
      column = range.column;
      end_column = range.end_column;
    }
    LS_CHECK_OK(sql_.add_frame.Run(id, frames[id].function, line, end_line, column, end_column));
  }
  const auto& stacks = identities_.stacks();
  for (StackId id = identities_.first_pending_stack(); id < stacks.size(); ++id)
    LS_CHECK_OK(sql_.add_stack.Run(id, StackOrNull(stacks[id].parent), stacks[id].frame,
                                   stacks[id].depth, StackOrNull(stacks[id].project)));
  return {};
}

Status SqliteProfileWriter::WriteSources() {
  auto id = static_cast<SourceId>(source_count_ - pending_sources_.size());
  for (const SourceRow& row : pending_sources_) {
    const SourceSnapshot& snapshot = row.snapshot;
    std::optional<std::span<const uint8_t>> text;
    if (row.text) text = *row.text;
    LS_CHECK_OK(sql_.add_source.Run(id++, snapshot.path, snapshot.resolved_path,
                                    snapshot.kind == SourceKind::kNotebook ? "notebook" : "python",
                                    snapshot.in_project, text, row.text_bytes, row.sha256,
                                    snapshot.verified, snapshot.note));
  }
  return {};
}

// Of a program with many threads most are idle at any time: a row for each and each bucket would be
// most of what it costs to record them.
Status SqliteProfileWriter::WriteSamples() {
  std::vector<SampleRow> rows = samples_.Rows();
  std::vector<SampleRow> activity = WithoutStacks(rows);
  const int64_t width = samples_.width_ns();
  const int64_t block = std::max<int64_t>(1, kSteadyBlockNs / width);
  for (std::vector<SampleRow>* each : {&rows, &activity})
    JoinSteadyBlocks(*each, block, elapsed_ns_ / width);
  const SampleTable::Moment moment{
      .widening = samples_.width_ns() / stored_width_ns_,
      .last_bucket = samples_.last_bucket(),
      .parent_of = [&](StackId stack) { return identities_.stacks()[stack].parent; }};
  LS_CHECK_OK(activity_table_.Add(activity, moment));
  return sample_table_.Add(rows, moment);
}

void SqliteProfileWriter::ShrinkPending() {
  if (samples_.size() < shrink_at_) return;
  std::vector<SampleRow> rows = samples_.Rows();
  AddUpEqualRows(rows);
  JoinToFit(rows, limits_.sample_rows / 2, kStackPrecision, samples_.last_bucket());
  samples_.Replace(rows);
  shrink_at_ = std::max(static_cast<size_t>(limits_.sample_rows), 2 * rows.size());
}

void SqliteProfileWriter::NoteLimits() {
  const auto note = [&](bool holds, const char* level, const std::string& text) {
    if (holds && notes_.insert(text).second) pending_diagnostics_.push_back({level, text});
  };
  note(identities_.full(), "warning",
       fmt::format("there were more than {} different stacks: those that came later are cut off "
                   "where they differ from known ones, and count for their callers",
                   limits_.stacks));
  note(sample_table_.folded(), "warning",
       "samples of the rarest stacks count for their callers: there were too many different stacks "
       "on different threads to keep all");
  note(!more_threads_.empty(), "warning",
       fmt::format("there were more than {} threads: those that came later are together, as more "
                   "threads of their process",
                   limits_.threads));
  note(more_processes_.has_value(), "warning",
       fmt::format("there were more than {} processes: those that came later are together, as more "
                   "processes",
                   limits_.processes));
}

Status SqliteProfileWriter::WriteEnd(const RunEnd& end) {
  std::optional<uint64_t> ticks_due, ticks_taken;
  if (end.ticks_known) {
    ticks_due = end.ticks_due;
    ticks_taken = end.ticks_taken;
  }
  const auto error = TextOrNull(end.error);
  const auto consistency_used = TextOrNull(end.consistency_used);
  return sql_.update_end.Run(ProfileStateName(end.state), end.elapsed_ns, end.samples,
                             end.exit_code, end.term_signal, error, ticks_due, ticks_taken,
                             end.rate_reached_hz, consistency_used);
}

void SqliteProfileWriter::ForgetPending() {
  run_changed_ = false;
  changed_processes_.clear();
  changed_threads_.clear();
  identities_.MarkCommitted();
  pending_sources_.clear();
  pending_diagnostics_.clear();
  sample_table_.Committed();
  activity_table_.Committed();
  stored_width_ns_ = samples_.width_ns();
  samples_.Clear();
  shrink_at_ = static_cast<size_t>(limits_.sample_rows);
}

Status SqliteProfileWriter::Finish(const RunEnd& end) {
  end_ = end;
  LS_CHECK_OK(Commit());
  CloseStatements();
  Compact();
  // Brings the log into the file and removes it; fails while another connection is open.
  auto mode = database_->QueryText("PRAGMA journal_mode = DELETE");
  if (!mode || *mode != "delete") {
    std::string reason = mode ? "it is open in another program" : mode.error().what;
    database_.reset();
    return Fail(ErrorCode::kIo,
                "the profile {} is complete, but stays in two files with {}-wal: {}",
                file_.recording_path.string(), file_.recording_path.string(), reason);
  }
  if (!survives_crashes_) LS_CHECK_OK(database_->Sync());
  database_.reset();
  return file_.Publish();
}

// Gives back the pages that merged buckets left free. Not being able to is no failure.
void SqliteProfileWriter::Compact() {
  auto pages = database_->QueryInt("PRAGMA page_count");
  auto free_pages = database_->QueryInt("PRAGMA freelist_count");
  auto page_size = database_->QueryInt("PRAGMA page_size");
  if (!pages || !free_pages || !page_size) return;
  bool small = pages->value_or(0) * page_size->value_or(0) <= kVacuumLimitBytes;
  if (small && free_pages->value_or(0) * 5 > pages->value_or(0)) (void)database_->Execute("VACUUM");
}

}  // namespace

Result<std::unique_ptr<ProfileWriter>> ProfileWriter::Create(const std::filesystem::path& path,
                                                             const RunInfo& run,
                                                             const WriterLimits& limits) {
  LS_TRY(file, RecordingFile::Choose(path));
  LS_TRY(database, OpenForRecording(file, path.string()));
  auto writer = std::make_unique<SqliteProfileWriter>(std::move(file), path.string(),
                                                      std::move(database), run, limits);
  if (Status status = writer->Initialise(); !status) {
    writer->Discard();
    return std::unexpected(std::move(status).error());
  }
  return writer;
}

}  // namespace linescope
