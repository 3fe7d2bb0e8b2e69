#pragma once
// The system call in which a thread is blocked.
#include <optional>
#include <string_view>

#include "process/remote_memory.h"

namespace linescope {

// What the thread sleeps on, when it sleeps on a word of its memory: a lock, a condition, a
// semaphore of the C library (futex(2)). nullopt: it runs, blocks in another system call, has
// ended, or the kernel does not tell (/proc/PID/task/TID/syscall needs the right to trace).
std::optional<Address> ReadFutexWait(int pid, int tid);

// Of that file's text. Pure.
std::optional<Address> ParseFutexWait(std::string_view text);

}  // namespace linescope
