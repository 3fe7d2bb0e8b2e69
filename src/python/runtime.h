#pragma once
// Finds the interpreter in a process: the address of `_PyRuntime`, its version, and the layout that
// goes with it. By symbol, by section, by a checked scan of writable memory. What a file is called
// only bridges the time until an interpreter before 3.11 has a `sys` that tells its version.
#include <string>
#include <vector>

#include "process/remote_memory.h"
#include "python/layout.h"

namespace linescope {

struct PythonRuntime {
  PythonVersion version;
  layout::Table table;
  Address address = 0;   // of _PyRuntime
  std::string file;      // the mapped file that holds it
  std::string found_by;  // "symbol", "section", "scan"
  bool debug = false;    // built --with-pydebug, as far as its symbols tell
  std::vector<std::string> warnings;
};

// The version with what is particular of the build: "3.13.5", "3.11.2 debug",
// "3.13.5 free-threaded, no GIL".
std::string DescribePython(RemoteMemory* memory, const PythonRuntime& runtime);

enum class RuntimeState : uint8_t {
  kStarting,  // no interpreter or no thread state yet
  kReady,
  kBad,  // what lies there is no runtime of this layout
};

// Follows interpreters.head -> first thread -> its interpreter. Before 3.11 also asks its
// sys.hexversion, by which alone those versions are told apart.
RuntimeState ProbeRuntime(RemoteMemory* memory, const layout::Table& table, Address runtime);

// Takes the form of `table` for builds that trace references when the runtime's objects show that
// it is one. Only they can tell before 3.13.
void FitObjectHead(RemoteMemory* memory, Address runtime, layout::Table* table);

// Once the runtime is ready: learns what can only be learnt then, before 3.11 the exact version and
// where the C library keeps threads' ids. FindRuntime does it for a runtime that it finds ready.
void CompleteRuntime(int pid, RemoteMemory* memory, PythonRuntime* runtime);

// Whether FindRuntime may also search writable memory, which can take some ten milliseconds.
enum class ScanMemory : bool { kNo, kYes };

// kNotPython: no mapped file holds an interpreter (the message lists what was tried); kUnsupported:
// it does, of a version or kind that we do not read; kGone, kDenied as they come.
Result<PythonRuntime> FindRuntime(int pid, RemoteMemory* memory,
                                  ScanMemory scan = ScanMemory::kYes);

}  // namespace linescope
