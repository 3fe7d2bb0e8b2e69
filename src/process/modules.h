#pragma once
// The files mapped into a process, and how to open exactly those: also when they were deleted or
// replaced on disk, and when the process lives in another mount namespace.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/elf.h"
#include "process/maps.h"

namespace linescope {

// One mapped instance of a file: its mappings from the lowest on. A file loaded twice (dlmopen)
// makes two modules.
struct Module {
  std::string path;  // as in Mapping
  bool deleted = false;
  std::vector<Mapping> mappings;

  [[nodiscard]] Address base() const { return mappings.front().start; }
  [[nodiscard]] Address end() const { return mappings.back().end; }
  [[nodiscard]] uint64_t inode() const { return mappings.front().inode; }
  // Data files mapped by the program are modules as well; only with executable pages can one be
  // code.
  [[nodiscard]] bool has_code() const;
};

// In ascending order of addresses. Pure.
std::vector<Module> GroupModules(std::span<const Mapping> mappings);

// Opens the very file that is mapped, for reading. Tries /proc/PID/map_files (exact, needs
// CAP_CHECKPOINT_RESTORE), /proc/PID/exe (exact, if it is the executable), the path below
// /proc/PID/root, the path as we see it; and accepts a candidate only when it is a regular file
// with the mapping's device and inode. kGone: no way led to it.
Result<UniqueFd> OpenMappedFile(int pid, const Mapping& mapping);

// OpenMappedFile and ElfFile::Open in one. Where no way leads to the file (it was deleted or
// replaced, and we may not use map_files), what `memory` has of it is read instead: enough for
// dynamic symbols.
Result<ElfFile> OpenModule(int pid, const Module& module, RemoteMemory* memory);

// The bytes of a mapped file at the offsets of the file, as far as they are mapped. `memory` must
// outlive the source.
std::unique_ptr<ElfSource> ElfSourceFromMemory(RemoteMemory* memory,
                                               std::span<const Mapping> mappings);

// Modules of `pid` with executable pages. What they are must be asked of their contents: a name
// says nothing about whether a file is Python.
Result<std::vector<Module>> ListCodeModules(int pid);

}  // namespace linescope
