#pragma once
// The code of a process as its memory has it: which file's code lies where, how to unwind it, and
// its bytes, which do not change. Read from memory and not from the files, so that deleted ones,
// those of another mount namespace and the kernel's vdso are as good as any.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "process/maps.h"
#include "process/modules.h"
#include "process/remote_memory.h"

namespace linescope {

// The table of unwinding information that the linker sorted (.eh_frame_hdr).
struct UnwindTable {
  Address header = 0;   // what its entries are relative to
  Address entries = 0;  // pairs of 32-bit words: a function's start, and where its information is
  uint64_t count = 0;
  [[nodiscard]] bool empty() const { return count == 0; }
};

// One mapped instance of a file with code.
struct CodeModule {
  size_t number = 0;  // in its map, until the next Refresh that says that something changed
  Module file;        // "[vdso]" has a path, and no inode
  Address begin = 0, end = 0;
  uint64_t bias = 0;  // add it to the file's addresses (modulo 2^64)
  UnwindTable unwind;
};

// What the program headers of a mapped file say. nullopt: it is no ELF file of ours. `begin` is
// where its first page lies.
struct ElfImage {
  uint64_t bias = 0;
  UnwindTable unwind;
  uint64_t file_bytes = 0;  // end of the last loaded segment in the file
  struct Segment {
    uint64_t address = 0, offset = 0, file_size = 0;
  };
  std::vector<Segment> segments;
};
std::optional<ElfImage> ReadElfImage(RemoteMemory* memory, Address begin);

// What the process has in memory of a module's file, as a file. None: it cannot be read.
UniqueFd CopyElfImage(RemoteMemory* memory, const CodeModule& module);

// Belongs to one thread. Pointers to modules are valid until the next Refresh.
class CodeMap {
 public:
  // `memory` must outlive the map. Nothing is known before the first Refresh.
  CodeMap(int pid, RemoteMemory* memory) : pid_(pid), memory_(memory) {}

  // Reads the mappings again. True when code came or went: then whatever was learnt of addresses
  // before is to be forgotten.
  bool Refresh();
  // The same with mappings that the caller has.
  bool Use(std::vector<Mapping> mappings);

  // The module whose code `address` is; nullptr: none, such as what a just-in-time compiler made.
  [[nodiscard]] const CodeModule* Find(Address address) const;
  [[nodiscard]] std::vector<const CodeModule*> modules() const;
  // The end of the mapping that holds the stack pointer `stack`; 0: none.
  [[nodiscard]] Address StackEnd(Address stack) const;
  // Bytes of a module that the program cannot change. False: these are none.
  bool ReadConstant(Address address, void* out, size_t size);
  // Variables of a module as they are now. False: these are none.
  bool ReadVariable(Address address, void* out, size_t size);

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] RemoteMemory* memory() const { return memory_; }
  // Moves with each change of the code.
  [[nodiscard]] uint64_t generation() const { return generation_; }

 private:
  static constexpr size_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;
  struct Range {
    Address begin = 0, end = 0;
    size_t module = 0;
    bool operator==(const Range&) const = default;
  };
  const std::byte* PageAt(Address address);

  int pid_;
  RemoteMemory* memory_;
  uint64_t generation_ = 0;
  std::vector<Mapping> mappings_;
  std::vector<std::unique_ptr<CodeModule>> modules_;
  std::vector<Range> code_, constant_, variable_;  // by address
  std::unordered_map<Address, std::unique_ptr<Page>> pages_;
  Address last_page_ = 1;
  const std::byte* last_bytes_ = nullptr;
};

}  // namespace linescope
