#pragma once
// Makes SQLite's writes fail as on a full disk, and its shared memory as on some network file
// systems, by its own interface for replacing system calls.
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace linescope {

// nullptr restores it. Not every build of SQLite has every call.
inline void ReplaceSystemCall(const char* name, sqlite3_syscall_ptr function) {
  sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
  int code = vfs->xSetSystemCall(vfs, name, function);
  if (code != SQLITE_OK && code != SQLITE_NOTFOUND)
    throw std::runtime_error("cannot replace a system call");
}

// While one exists, SQLite may write `budget` more bytes; then every write gets ENOSPC.
class DiskBudget {
 public:
  explicit DiskBudget(int64_t budget) {
    budget_ = budget;
    ReplaceSystemCall("write", reinterpret_cast<sqlite3_syscall_ptr>(&Write));
    ReplaceSystemCall("pwrite", reinterpret_cast<sqlite3_syscall_ptr>(&PositionedWrite));
    ReplaceSystemCall("pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(&PositionedWrite));
  }
  DiskBudget(const DiskBudget&) = delete;
  DiskBudget& operator=(const DiskBudget&) = delete;
  ~DiskBudget() {
    for (const char* name : {"write", "pwrite", "pwrite64"}) ReplaceSystemCall(name, nullptr);
  }
  [[nodiscard]] int64_t left() const { return budget_; }

 private:
  static bool Spend(size_t size) {
    if (static_cast<int64_t>(size) > budget_) {
      errno = ENOSPC;
      return false;
    }
    budget_ -= static_cast<int64_t>(size);
    return true;
  }
  static ssize_t Write(int fd, const void* data, size_t size) {
    return Spend(size) ? ::write(fd, data, size) : -1;
  }
  static ssize_t PositionedWrite(int fd, const void* data, size_t size, off_t offset) {
    return Spend(size) ? ::pwrite(fd, data, size, offset) : -1;
  }

  static inline int64_t budget_ = 0;
};

// While one exists, SQLite cannot map files.
class NoSharedMemory {
 public:
  NoSharedMemory() { ReplaceSystemCall("mmap", reinterpret_cast<sqlite3_syscall_ptr>(&Map)); }
  NoSharedMemory(const NoSharedMemory&) = delete;
  NoSharedMemory& operator=(const NoSharedMemory&) = delete;
  ~NoSharedMemory() { ReplaceSystemCall("mmap", nullptr); }

 private:
  static void* Map(void*, size_t, int, int, int, off_t) {
    errno = ENODEV;
    return MAP_FAILED;
  }
};

}  // namespace linescope
