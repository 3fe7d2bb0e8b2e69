#pragma once
// The native code of all processes of a run under one numbering, and its names.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "native/code_map.h"
#include "native/symbolizer.h"

namespace linescope {

// A file with code. It is opened while it is mapped: a process may end, and a file be deleted,
// before its names are asked for.
struct NativeModule {
  std::string path;
  UniqueFd file;  // none: it cannot be read
  int pid = 0;    // that showed it first
  bool interpreter = false;
};

// An address of code, in its file's own numbering.
struct NativeLocation {
  uint32_t module = 0;
  uint64_t address = 0;
};

// Where the evaluation loop is in an interpreter's file, in the file's own numbering.
std::vector<CodeRange> FindEvaluationLoop(int file);

// Opens the file of a module; where there is none any more, or never was one (vdso), what the
// process has of it in memory.
UniqueFd OpenCode(int pid, RemoteMemory* memory, const CodeModule& module);

// One numbering for the locations of all processes. Grows with the distinct instructions met. One
// thread, the sampler's.
class NativeRegistry {
 public:
  uint32_t ModuleOf(int pid, RemoteMemory* memory, const CodeModule& module, bool interpreter);
  uint32_t LocationOf(uint32_t module, uint64_t address);
  // The evaluation loop in that module's file.
  const std::vector<CodeRange>& LoopOf(int pid, RemoteMemory* memory, const CodeModule& module);

  // What is new since the last call; numbers go on from those of the call before.
  std::vector<NativeModule> TakeModules();
  std::vector<NativeLocation> TakeLocations();

 private:
  using FileId = std::tuple<uint32_t, uint32_t, uint64_t, std::string>;
  static FileId IdOf(const CodeModule& module);
  struct HashLocation {
    size_t operator()(const std::pair<uint32_t, uint64_t>& key) const {
      return (key.second ^ uint64_t{key.first} << 48) * 0x9e3779b97f4a7c15u >> 7;
    }
  };

  std::map<FileId, uint32_t> modules_;
  std::map<FileId, std::vector<CodeRange>> loops_;
  std::unordered_map<std::pair<uint32_t, uint64_t>, uint32_t, HashLocation> locations_;
  std::vector<NativeModule> new_modules_;
  std::vector<NativeLocation> new_locations_;
};

// Names of locations. The interpreter's own ways from one Python function to the next are left out,
// which each Python call would show, and those of its functions that have no name. One thread, not
// the sampler's: reading debug information can take a second.
class NativeNames {
 public:
  void Add(NativeModule module);
  // Outermost first; empty: only what is left out.
  std::vector<NativeFunction> At(const NativeLocation& location);

  // Whether a function of the interpreter does nothing but call.
  static bool IsCallMachinery(std::string_view function);

 private:
  struct Module {
    NativeModule info;
    std::unique_ptr<SymbolFile> symbols;
    bool asked = false;
  };
  std::vector<Module> modules_;
};

}  // namespace linescope
