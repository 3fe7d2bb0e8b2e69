#pragma once
// One run: launch or attach, sample until the end, leave a complete profile.
//
//   RunSession ── sampler thread: tick → read → decide → intern, follows the tree of processes,
//   flushes counted cells a few times a second
//            └── writer thread (the caller of RunSession): resolves, stores, commits at least once
//            a second, waits for the
//                target's end, --duration or a stop signal
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

enum class Consistency : uint8_t { kAuto, kPinned, kFree, kStop };
enum class Mode : uint8_t { kWall, kCpu };

struct SessionOptions {
  // Exactly one of the two: `command` (resolved program first) is launched, or `pid` is attached
  // to.
  std::vector<std::string> command;
  std::optional<int> pid;

  bool subprocesses = false;  // whatever descends from it is profiled, too

  double rate_hz = 1000;
  Mode mode = Mode::kWall;
  Consistency consistency = Consistency::kAuto;
  std::optional<double> duration_s;  // detach (never kill) after this long
  double delay_s = 0;                // start sampling this long after the start

  std::filesystem::path profile_path;  // where the .linescope is recorded
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

// Blocks until the run has ended. SIGINT, SIGTERM and SIGHUP are handled inside (see signals.h):
// when attached they end the run; when launched they are passed on to the target unless it had them
// from the terminal itself. The target is never killed by us. Fails before anything was started
// when the program cannot be executed (kUsage), the process is gone (kGone), is not Python
// (kNotPython), is of an unsupported version (kUnsupported), or must not be read (kDenied).
Result<SessionResult> RunSession(const SessionOptions& options);

}  // namespace linescope
