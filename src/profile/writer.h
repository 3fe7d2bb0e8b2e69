#pragma once
// Writes a profile while a run goes on. FORMAT.md describes the database. Not thread-safe: one
// thread owns a writer.
//
// What was committed survives the death of this process by any signal, and but for what came since
// the last commit also that of the machine. While recording, the data is at the path itself, or,
// where a profile is there already, at `<path>.partial`, which replaces it in Finish. A writer that
// is destroyed without Finish leaves a profile in state `recording`, which readers report as
// interrupted.
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "profile/model.h"

namespace linescope {

// What a thread did in so long, if that was one thing only, is written as one row, when it is added
// before a Commit. A multiple of the first width of the time buckets.
inline constexpr int64_t kSteadyBlockNs = 800'000'000;

// How large a profile may grow, and with it the writer's memory. The defaults are FORMAT.md's,
// which says what becomes of what is beyond them.
struct WriterLimits {
  // Rows of each of the two tables of samples, about 25 bytes each: they are joined in time to be
  // as few, but for one row of each thread, stack and state.
  int64_t sample_rows = 65'536;
  // Different stacks, and rows of samples that are left when all time is joined.
  int64_t stacks = 500'000;
  int64_t threads = 10'000;
  int64_t processes = 10'000;
};

class ProfileWriter {
 public:
  // Refused with kUsage when the place is impossible: no such folder, not writable, a folder, a
  // file that is not a profile, a profile that another process is recording.
  static Result<std::unique_ptr<ProfileWriter>> Create(const std::filesystem::path& path,
                                                       const RunInfo& run,
                                                       const WriterLimits& limits = {});
  virtual ~ProfileWriter() = default;

  // Of processes and threads beyond the limits all have one id, a process's threads one each.
  virtual ProcessId AddProcess(const ProcessInfo& info) = 0;
  // Replaces what is known of it: its interpreter was found, or it executed its program.
  virtual void SetProcess(ProcessId process, const ProcessInfo& info) = 0;
  virtual ThreadId AddThread(const ThreadInfo& info) = 0;
  virtual void SetThreadName(ThreadId thread, const std::string& name) = 0;
  virtual void EndThread(ThreadId thread, int64_t end_ns) = 0;
  virtual void EndProcess(ProcessId process, int64_t end_ns, std::optional<int> exit_code,
                          std::optional<int> term_signal) = 0;
  // Equal identities (file, qualified name, first line) give the same id; the first one's
  // `in_project` counts. An id is for AddStack only.
  virtual FunctionId AddFunction(const FunctionInfo& info) = 0;
  // Equal (parent, function, range) give the same id. Parents come before children. Beyond the
  // limit a new one is its parent.
  virtual StackId AddStack(const StackNode& node) = 0;
  // Equal (path, text) give the same id. An empty text with a note, unless verified, is stored as
  // unavailable.
  virtual SourceId AddSource(const SourceSnapshot& snapshot) = 0;
  virtual void AddDiagnostic(const Diagnostic& diagnostic) = 0;
  virtual void AddDrops(DropReason reason, uint64_t count) = 0;
  // Samples taken in [begin_ns, end_ns) since the start of the run; they are put into the time
  // bucket of begin_ns.
  virtual void AddSamples(int64_t begin_ns, int64_t end_ns, std::span<const SampleCell> cells) = 0;
  // Makes everything added so far durable. On a full disk it fails with kIo; what was committed
  // before stays readable, what was not is kept (merged: memory stays bounded) and tried again by
  // the next Commit.
  virtual Status Commit() = 0;
  // Updates title, scope or other facts of the run.
  virtual void UpdateRun(const RunInfo& run) = 0;
  // Commits, writes how the run ended, and closes into one file (no -wal or -shm beside it). After
  // a failure of the commit it may be called again; otherwise it is the last call.
  virtual Status Finish(const RunEnd& end) = 0;
};

}  // namespace linescope
