#pragma once
// The mappings of a process, from /proc/PID/maps.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/remote_memory.h"

namespace linescope {

// One line of /proc/PID/maps: the range [start, end) of addresses.
struct Mapping {
  Address start = 0;
  Address end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  uint64_t offset = 0;  // in the file
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;  // 0: not a file
  // As the kernel resolved it, in the process's mount namespace but cut at *our* root; empty for
  // anonymous memory, or
  // "[stack]" and the like. A newline in it arrives as \012; a backslash is not escaped, so a file
  // really called "\012" is decoded wrongly (whoever opens the file compares device and inode).
  std::string path;
  // The kernel appended " (deleted)", which is taken off `path`. A living file may be called so,
  // too.
  bool deleted = false;

  [[nodiscard]] uint64_t size() const { return end - start; }
  [[nodiscard]] bool is_file() const { return inode != 0 && path.starts_with('/'); }
  [[nodiscard]] bool Contains(Address address) const { return address >= start && address < end; }
};

// Mappings in ascending order of addresses. kCorrupt for a line that is not one of maps.
Result<std::vector<Mapping>> ParseMaps(std::string_view text);
// Fails with kGone, or with kDenied when the process may not be traced. Empty for zombies and
// kernel threads.
Result<std::vector<Mapping>> ReadMaps(int pid);

}  // namespace linescope
