#pragma once
// Which of the kernel's threads is behind a Python thread, by its id in our own pid namespace.
#include <unordered_map>
#include <vector>

#include "process/remote_memory.h"
#include "python/thread_list.h"

namespace linescope {

// A Python thread knows the id that the kernel told it when it began. That is not the one we need
// in two cases: the process lives in a pid namespace of its own; or it was forked by a program that
// did not tell its interpreter (uWSGI's workers), which then still has its parent's ids.
class ThreadIds {
 public:
  // `memory` and `table` must outlive it.
  ThreadIds(int pid, RemoteMemory* memory, const layout::Table* table);

  // The id of the thread that has this state; 0 when the process has no such thread (any more).
  // `only`: the interpreter has no other thread state. No system call beyond one for a thread that
  // is what it says, as nearly all are.
  int Find(const PythonThread& thread, bool only);

  // The process's ids from our pid namespace down to its own.
  [[nodiscard]] const std::vector<int>& process_ids() const { return process_ids_; }

 private:
  int Outer(int inner);

  const int pid_;
  RemoteMemory* memory_;
  const layout::Table* table_;
  std::vector<int> process_ids_;
  std::unordered_map<int, int> outer_;  // by the ids in the process's own namespace
};

}  // namespace linescope
