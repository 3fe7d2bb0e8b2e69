#include "python/thread_ids.h"

#include <fmt/format.h>
#include <unistd.h>

#include "process/namespaces.h"
#include "process/procfs.h"
#include "python/target_words.h"

namespace linescope {
namespace {

// struct pthread of glibc on x86-64 has its tid here, and fork(3) sets it in the child. Elsewhere
// the word is another, and no thread of the process.
constexpr uint32_t kTidInPthread = 720;

bool IsThreadOf(int pid, int tid) {
  return tid > 0 && ::access(fmt::format("/proc/{}/task/{}", pid, tid).c_str(), F_OK) == 0;
}

}  // namespace

ThreadIds::ThreadIds(int pid, RemoteMemory* memory, const layout::Table* table)
    : pid_(pid), memory_(memory), table_(table), process_ids_(NamespacePids(pid)) {}

int ThreadIds::Outer(int inner) {
  if (process_ids_.size() == 1) return IsThreadOf(pid_, inner) ? inner : 0;
  if (const auto it = outer_.find(inner); it != outer_.end() && IsThreadOf(pid_, it->second)) {
    return it->second;
  }
  outer_.clear();
  const auto tids = ListThreads(pid_);
  if (!tids) return 0;
  for (const int tid : *tids) {
    const auto status = ReadThreadStatus(pid_, tid);
    if (status && !status->ns_pids.empty()) outer_.emplace(status->ns_pids.back(), tid);
  }
  const auto it = outer_.find(inner);
  return it == outer_.end() ? 0 : it->second;
}

int ThreadIds::Find(const PythonThread& thread, bool only) {
  if (const int tid = Outer(thread.native_id); tid != 0) return tid;
  int32_t own = 0;
  if (table_->thread.native_id != layout::kNone && PlausiblePointer(thread.pthread_id) &&
      memory_->ReadValue(thread.pthread_id + kTidInPthread, &own)) {
    if (const int tid = Outer(own); tid != 0) return tid;
  }
  if (!only) return 0;
  const auto tids = ListThreads(pid_);
  return tids && tids->size() == 1 ? tids->front() : 0;
}

}  // namespace linescope
