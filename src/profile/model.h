#pragma once
// The words of a profile, shared by the writer, the reader and everything that presents one. All
// times are nanoseconds; all ids are dense and start at 0 within one profile. "Unavailable" is
// std::nullopt here and NULL in the database, never 0.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source_range.h"

namespace linescope {

using ProcessId = uint32_t;   // row of `process`, not the kernel's pid
using ThreadId = uint32_t;    // row of `thread`, not the kernel's tid
using FunctionId = uint32_t;  // one code object's identity: file, qualified name, first line
using StackId = uint32_t;     // node of the stack tree
using SourceId = uint32_t;
// Parent of a root; stack of a thread without Python frames.
inline constexpr StackId kNoStack = UINT32_MAX;

// What a thread was doing at the moment of a sample. Those without a word on the GIL are of a build
// that has none, or of an interpreter of which it cannot be told.
enum class ThreadState : uint8_t {
  kUnknown = 0,            // could not be told
  kRunning = 1,            // on a CPU
  kWaiting = 2,            // off the CPU, without the GIL: in a system call, on a lock, asleep
  kGilWait = 3,            // off the CPU, wanting the GIL
  kRunningWithGil = 4,     // on a CPU, holding the GIL: runs Python code, or C code that keeps it
  kRunningWithoutGil = 5,  // on a CPU, in code that has released the GIL
  kWaitingWithGil = 6,     // off the CPU, holding the GIL: no other thread can run Python code
  kCollecting = 7,         // on a CPU, in the garbage collector
  kIdle = 8,               // asleep for a second or more, or without any Python code to return to
  kStopped = 9,            // by a signal of job control, or a debugger
};
inline constexpr size_t kThreadStateCount = 10;
// "unknown", "running", "waiting", "gil wait", "running with gil", "running without gil",
// "waiting with gil", "gc", "idle", "stopped".
const char* ThreadStateName(ThreadState state);
bool IsOnCpu(ThreadState state);
// nullopt: the state does not say.
std::optional<bool> HoldsGil(ThreadState state);

enum class ProfileState : uint8_t { kRecording, kComplete, kInterrupted };
// "recording", "complete", "interrupted".
const char* ProfileStateName(ProfileState state);

enum class SourceKind : uint8_t { kPython, kNotebook };

// Why a due sample is not in the profile. Names are stable: they are stored as text
// (DropReasonName).
enum class DropReason : uint8_t {
  kMissedTick,   // the deadline had passed before the sampler woke up
  kUnreadable,   // the thread state or its frames could not be read
  kTorn,         // no consistent stack could be decided from the image
  kThreadEnded,  // the thread ended between listing and reading
  kStarting,     // the interpreter was not initialised yet
  kCount
};
const char* DropReasonName(DropReason reason);
// nullopt: a reason of a later version of LineScope.
std::optional<DropReason> DropReasonFromName(std::string_view name);

struct RunInfo {
  std::string title;
  std::vector<std::string> command;  // as typed, without LineScope's own options
  std::string working_directory;
  std::string host;
  std::string linescope_version;
  std::string collector = "sampler";
  std::string method = "Sampling";
  std::string mode = "wall";         // wall, cpu, gil
  bool idle = true;                  // mode wall: samples in state idle count, too
  std::string consistency = "auto";  // as asked
  double rate_hz = 0;                // as asked
  int64_t started_unix_ns = 0;       // CLOCK_REALTIME
  bool attached = false;
  std::string project_root;  // scope, as decided
  std::vector<std::string> includes, excludes;
  std::vector<std::pair<std::string, std::string>> labels;
};

struct ProcessInfo {
  int pid = 0;
  std::optional<ProcessId> parent;
  std::vector<std::string> command;
  std::string executable;
  std::string python_version;  // "3.13.0"; empty: not Python
  int64_t start_ns = 0;        // since the start of the run
};

struct ThreadInfo {
  ProcessId process = 0;
  int tid = 0;
  std::string name;  // Python's name, else the kernel's comm
  bool is_main = false;
  int64_t start_ns = 0;
};

// What a frame of a stack stands for. Names are stable: they are stored as text.
enum class FunctionKind : uint8_t {
  kPython,  // a code object
  kNative,  // a function of machine code
  kTask,    // an asynchronous task, by its name
};
inline constexpr size_t kFunctionKindCount = 3;
// "python", "native", "task".
const char* FunctionKindName(FunctionKind kind);
// nullopt: a kind of a later version of LineScope.
std::optional<FunctionKind> FunctionKindFromName(std::string_view name);

struct FunctionInfo {
  std::string file;  // co_filename as the interpreter has it
  std::string name, qualified_name;
  int32_t first_line = 0;
  bool in_project = false;  // decided when first seen
  FunctionKind kind = FunctionKind::kPython;
};

// As people know it: qualified, where that is known.
inline const std::string& DisplayName(const FunctionInfo& function) {
  return function.qualified_name.empty() ? function.name : function.qualified_name;
}

// One stack node: the place `range` of `function`, called by `parent`. Line 0: unknown.
struct StackNode {
  StackId parent = kNoStack;
  FunctionId function = 0;
  SourceRange range = {};
};

// Samples of one thread with the same stack and state since the previous flush.
struct SampleCell {
  ThreadId thread = 0;
  StackId stack = kNoStack;
  ThreadState state = ThreadState::kUnknown;
  uint64_t count = 0;
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;  // 0 for states off the CPU
};

struct SourceSnapshot {
  std::string path;           // as in FunctionInfo::file
  std::string resolved_path;  // where it was read from
  std::string text;           // bytes as on disk; empty with a note and not verified: unavailable
  SourceKind kind = SourceKind::kPython;
  bool in_project = false;
  std::optional<bool> verified;  // false: changed after it was loaded
  std::string note;              // why unavailable or unverified, for the reader
};

struct RunEnd {
  ProfileState state = ProfileState::kComplete;
  int64_t elapsed_ns = 0;
  std::optional<int> exit_code;  // of the root process
  std::optional<int> term_signal;
  std::string error;  // "killed by SIGSEGV", "exit status 7"; empty when all is well
  uint64_t ticks_due = 0, ticks_taken = 0;
  uint64_t samples = 0;
  // False only in what a reader returns for a profile whose recorder was killed: then ticks_due and
  // ticks_taken were never written.
  bool ticks_known = true;
  std::optional<double> rate_reached_hz;  // ticks taken per second of sampled time
  std::string consistency_used;           // "pinned", "pinned 97 %, free 3 %"; empty: not known
};

// Level: "info", "warning", "error". Shown in the report, in this order.
struct Diagnostic {
  std::string level, text;
};

}  // namespace linescope
