#pragma once
// One run: launch or attach, sample until the end, leave a complete profile.
//
//   RunSession ── sampler thread: tick → read → decide → intern, follows the tree of processes,
//   flushes counted cells a few times a second
//            └── writer thread (the caller of RunSession): resolves, stores, commits at least once
//            a second, waits for the
//                target's end, --duration or a stop signal
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/model.h"
#include "profile/writer.h"

namespace linescope {

struct Batch;
struct SampleTotals;

enum class Consistency : uint8_t { kAuto, kPinned, kFree, kStop };
enum class Mode : uint8_t { kWall, kCpu, kGil };

// Looks at a run while it goes on. Everything is called on the thread of RunSession.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  // The target is about to be sampled; a launched program has begun.
  virtual void OnStart(int pid, int64_t now_ns) = 0;
  virtual void OnBatch(const Batch& batch) = 0;
  // Readable when OnWake should be called early.
  [[nodiscard]] virtual int fd() const = 0;
  // Called ten times a second at least, also while a launched program is only waited for. False:
  // take no more samples.
  virtual bool OnWake(int64_t now_ns) = 0;
  // One of the signals that RunSession handles has come, from the terminal or from a process.
  virtual void OnSignal(int signal, bool from_terminal) = 0;
  // No more samples are taken; a launched program may still run.
  virtual void OnSamplingEnd() = 0;
};

struct SessionOptions {
  // Exactly one of the two: `command` (resolved program first) is launched, or `pid` is attached
  // to.
  std::vector<std::string> command;
  std::optional<int> pid;

  bool tasks = false;         // stacks of asyncio's tasks
  bool subprocesses = false;  // whatever descends from it is profiled, too

  double rate_hz = 1000;
  Mode mode = Mode::kWall;
  Consistency consistency = Consistency::kAuto;
  bool switch_records = true;  // see Sampler::Options
  bool gc = false;             // mark garbage collection
  bool native = false;  // native frames, too; threads that run are stopped for each sample then
  std::optional<double> duration_s;  // detach (never kill) after this long
  double delay_s = 0;                // start sampling this long after the start

  // Descriptors that become the standard streams of what is launched; -1: our own.
  std::array<int, 3> streams = {-1, -1, -1};
  SessionObserver* observer = nullptr;

  std::filesystem::path profile_path;  // where the .linescope is recorded; empty: nowhere
  RunInfo run;                         // what to store about the run

  // Decides whether a file belongs to the project, and takes its snapshot, when a function of it is
  // first seen. Called on the writer thread. `pid` is the process (its root and working directory
  // apply); `stdlib_dir` is the interpreter's library folder when known, else empty.
  struct FileRequest {
    int pid = 0;
    std::string file;  // co_filename
    std::string stdlib_dir;
    int64_t process_start_unix_ns = 0;
    // The code object by which the file was first met: evidence whether the file is still what was
    // loaded.
    std::string function_name;
    int32_t first_line = 0;
  };
  struct FileAnswer {
    bool in_project = false;
    std::optional<SourceSnapshot> snapshot;
  };
  std::function<FileAnswer(const FileRequest&)> on_file;

  // SIGUSR1: somebody wants to see what there is. Called on the writer thread once all of it is in
  // the profile, with the pid of the target. Has to be quick.
  std::function<void(int)> on_look;

  [[nodiscard]] bool stops_threads() const { return native || consistency == Consistency::kStop; }
};

struct SessionResult {
  RunEnd end;
  std::vector<std::pair<DropReason, uint64_t>> drops;
  uint64_t missed = 0;                       // ticks whose deadline had passed
  uint64_t dropped = 0;                      // due samples that could not be decided
  double rate_reached_hz = 0;                // ticks taken per second of sampled time
  std::string consistency_used;              // "pinned", "free", "pinned 97 %, free 3 %", …
  std::vector<std::string> python_versions;  // of all processes; empty: no interpreter was found
  size_t processes = 1;                      // seen; one that executes another program is another
  size_t python_processes = 0;
  std::vector<Diagnostic> diagnostics;
  Status store = {};  // failed: the profile could not be written to the end (disk full), what was
                      // kept is readable
};

// "pinned", "free", or how the samples of running threads divide; "idle": there were none. Empty:
// nothing was sampled.
std::string DescribeConsistency(Consistency asked, const SampleTotals& totals);

// Blocks until the run has ended. The signals of signals.h are handled inside: SIGUSR1 see on_look;
// when attached the others end the run, but SIGUSR2; when launched they are passed on to the target
// unless it had them from the terminal itself. The target is never killed by us. Fails before
// anything was started when the program cannot be executed (kUsage), the process is gone (kGone),
// is not Python (kNotPython), is of an unsupported version (kUnsupported), or must not be read
// (kDenied).
Result<SessionResult> RunSession(const SessionOptions& options);

}  // namespace linescope
