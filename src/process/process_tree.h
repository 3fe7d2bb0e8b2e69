#pragma once
// A process and all that descends from it: who begins, who executes another program, who ends and
// how. By the kernel's events where it tells them (process_events.h), else by looking at /proc.
// Nobody is traced, stopped or adopted for it.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "process/process_events.h"
#include "process/procfs.h"

namespace linescope {

struct TreeEvent {
  enum class Kind : uint8_t {
    kStarted,   // a copy of its parent as yet, unless it was there before the tree was watched
    kExecuted,  // runs another program now
    kEnded,
  } kind = Kind::kStarted;
  int pid = 0;
  int parent = 0;      // kStarted: a process of the tree
  bool found = false;  // kStarted: was there before the tree was watched
  int64_t at_ns = 0;   // CLOCK_MONOTONIC; where it was found by looking, the moment of the look
  std::optional<int> wait_status = std::nullopt;  // kEnded: as wait(2) gives it; none: not known
};

// Belongs to one thread. Holds a pidfd of each process, so that a number that is used again is
// another process.
class ProcessTree {
 public:
  enum class Source : uint8_t { kEvents, kLooking };

  // Everything below `root` from now on; those that are there already come with the first Take,
  // which looks at all processes for it, unless the caller knows that there are none.
  // Source::kEvents falls back to looking where the kernel tells no events.
  enum class Root : uint8_t { kMayHaveChildren, kHasNoChildren };
  explicit ProcessTree(int root, Source source = Source::kEvents,
                       Root children = Root::kMayHaveChildren);

  [[nodiscard]] Source source() const { return events_ ? Source::kEvents : Source::kLooking; }
  // Readable when Take has something to tell; never for a beginning or an exec that only looking
  // finds.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  // How often Take must be called to see processes that live for some ten milliseconds.
  static constexpr int64_t kLookEveryNs = 1'000'000;

  // Appends what has happened since the last call, in order. Cheap when nothing has: one or two
  // system calls.
  void Take(int64_t now_ns, std::vector<TreeEvent>* out);

 private:
  struct Member {
    UniqueFd pidfd;            // -1: before Linux 5.3, or out of descriptors
    uint64_t start_ticks = 0;  // tells processes with the same number apart; 0: not known
    uint64_t start_stack = 0;  // moves with each exec
    int64_t changed_ns = 0;    // of the beginning or the last exec
    int64_t looked_ns = 0;
    int64_t seen_ns = 0;  // when looking found it; 0: by its event
    std::optional<int64_t> ended_ns;
    std::optional<int> wait_status;  // of the first thread, which may end before the process
  };

  void TakeEvents(int64_t now_ns, std::vector<TreeEvent>* out);
  void LookForNew(int64_t now_ns, std::vector<TreeEvent>* out);
  void LookAtMembers(int64_t now_ns, std::vector<TreeEvent>* out);
  void LookAtAll(int64_t now_ns, bool found, std::vector<TreeEvent>* out);
  bool LookAt(int pid, int64_t now_ns, std::vector<TreeEvent>* out);
  void AddSeen(const ProcStat& stat, bool found, int64_t now_ns, std::vector<TreeEvent>* out);
  void Add(int pid, int parent, const ProcStat* stat, bool found, int64_t at_ns,
           std::vector<TreeEvent>* out);
  void OnPidfd(int pid, Member* member, int64_t now_ns, std::vector<TreeEvent>* out);
  bool HasEnded(int pid, const Member& member) const;
  void End(int pid, std::optional<int> wait_status, int64_t at_ns, std::vector<TreeEvent>* out);
  [[nodiscard]] std::optional<int> NewestPid() const;

  UniqueFd epoll_;
  std::optional<ProcessEvents> events_;
  std::unordered_map<int, Member> members_;
  bool look_at_all_;  // not done yet
  UniqueFd loadavg_;  // names the process or thread made last
  int newest_ = 0;
  // Numbers given out, by nobody held when last looked at: a process gets its number a moment
  // before /proc shows it.
  struct Unseen {
    int pid;
    int64_t until_ns;
  };
  std::vector<Unseen> unseen_;
  std::vector<int> ending_;  // whose event is still to come
  std::vector<ProcessEvent> taken_;
};

}  // namespace linescope
