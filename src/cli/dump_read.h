#pragma once
// One look at all Python threads of a process.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "python/locals.h"

namespace linescope {

// Whether threads that run are stopped while they are read. One that sleeps all the time is read
// as exactly without.
enum class DumpConsistency : uint8_t {
  kAuto,  // where the system permits it
  kStop,  // or it is an error
  kFree,  // never
};

struct DumpOptions {
  int pid = 0;
  DumpConsistency consistency = DumpConsistency::kAuto;
  bool locals = false;
  bool native = false;  // native frames, too
};

struct DumpFrame {
  std::string function;  // co_qualname; of a native one its demangled name
  std::string name;      // co_name
  std::string file;      // co_filename; of a native one its source file, or its library
  int32_t first_line = 0;
  std::optional<int32_t> line;
  std::optional<FrameVariables> locals;
  bool native = false;
};

struct DumpThread {
  enum class State : uint8_t {
    kUnknown,
    kRunning,  // on a CPU, or runnable and waiting for one
    kWaiting,  // for a lock, for data, for time to pass
    kIdle,     // waiting, with no Python code to go on with
    kStopped,  // by job control or by a debugger
  };
  enum class Stack : uint8_t {
    kExact,    // the thread stood still while its frames were read
    kRunning,  // it may have run meanwhile: the frames are a probable moment
    kUnknown,  // no consistent stack could be read
  };
  int tid = 0;         // in our pid namespace
  uint64_t ident = 0;  // threading.get_ident()
  int64_t interpreter = 0;
  std::string name;
  bool is_main = false;
  State state = State::kUnknown;
  std::optional<bool> holds_gil;
  Stack stack = Stack::kUnknown;
  std::vector<DumpFrame> frames;  // newest call first
  // With native frames asked for: why some are missing. Empty: none is.
  std::string native_note;

  [[nodiscard]] bool runs_python() const {
    return std::ranges::any_of(frames, [](const DumpFrame& frame) { return !frame.native; });
  }
};

struct ProcessDump {
  int pid = 0;
  std::vector<int> namespace_pids;  // `pid` first, its id in its own pid namespace last
  std::vector<std::string> command;
  std::string executable, working_directory;
  std::string python_version, python_file;
  int64_t started_unix_ns = 0, taken_unix_ns = 0;
  std::optional<int64_t> stopped_ns;  // for how long threads were stopped; none: none was
  bool native = false;                // whether native frames were
  bool locals = false;                // whether variables were read
  std::vector<DumpThread> threads;    // the main thread first, then by id
  int other_threads = 0;              // that run no Python
  std::vector<std::string> warnings;
};

// kGone, kDenied, kNotPython, kUnsupported as reading the process comes out; kDenied also when the
// threads must be stopped and the system forbids that. On every way out the process goes on.
Result<ProcessDump> TakeDump(const DumpOptions& options);

const char* StateName(DumpThread::State state);

}  // namespace linescope
