#include "process/process_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "process/permissions.h"
#include "process/procfs.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;
// A forked process executes its program soon, or never: so long it is looked at closely.
constexpr int64_t kYoungNs = 1000 * kMs;
constexpr int64_t kLookAtOldNs = 100 * kMs;
constexpr int64_t kUnseenNs = 10 * kMs;
// More numbers than that between two looks: listing all processes is cheaper than asking for each.
constexpr int kManyNew = 512;
// The kernel's event of an end may come so much later than the pidfd's.
constexpr int64_t kExitEventNs = 50 * kMs;

// PIDFD_GET_INFO of linux/pidfd.h, Linux 6.13; the status since 6.15, once the parent has taken it.
struct PidfdInfo {
  uint64_t mask = 0, cgroup = 0;
  uint32_t ids[11] = {};
  int32_t wait_status = 0;
};
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);
constexpr uint64_t kPidfdInfoExit = 1 << 3;

std::optional<int> ReapedStatus(int pidfd) {
  PidfdInfo info;
  info.mask = kPidfdInfoExit;
  if (pidfd < 0 || ::ioctl(pidfd, kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0)
    return std::nullopt;
  return info.wait_status;
}

// The kernel shows it to those who may trace the process, to others as 0.
bool MayKnowStatus(int pid) {
  struct stat info;
  return HaveSysPtrace() ||
         (::stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0 && info.st_uid == ::geteuid());
}

// How a process has ended, whether its parent has taken notice of it yet or not.
std::optional<int> EndStatus(int pid, int pidfd) {
  if (auto status = ReapedStatus(pidfd)) return status;
  if (MayKnowStatus(pid)) {
    const auto stat = ReadStat(pid);
    if (stat && stat->state == 'Z') return stat->wait_status;
  }
  return ReapedStatus(pidfd);  // it was taken meanwhile
}

UniqueFd OpenPidfd(int pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

ProcessTree::ProcessTree(int root, Source source, Root children)
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), look_at_all_(children == Root::kMayHaveChildren) {
  if (source == Source::kEvents) {
    if (auto events = ProcessEvents::Open()) events_ = std::move(*events);
  }
  if (events_) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = 0}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, events_->fd(), &event);
  } else {
    loadavg_.Reset(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
    newest_ = NewestPid().value_or(0);
  }
  std::vector<TreeEvent> ignored;
  const auto stat = ReadStat(root);
  Add(root, 0, stat ? &*stat : nullptr, true, 0, &ignored);
}

void ProcessTree::Add(int pid, int parent, const ProcStat* stat, bool found, int64_t at_ns,
                      std::vector<TreeEvent>* out) {
  Member member;
  member.pidfd = OpenPidfd(pid);
  if (member.pidfd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = pid}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, member.pidfd.get(), &event);
  }
  if (stat != nullptr) {
    member.start_ticks = stat->start_ticks;
    member.start_stack = stat->start_stack;
  }
  member.changed_ns = member.looked_ns = at_ns;
  members_.insert_or_assign(pid, std::move(member));
  out->push_back({.kind = TreeEvent::Kind::kStarted,
                  .pid = pid,
                  .parent = parent,
                  .found = found,
                  .at_ns = at_ns});
}

bool ProcessTree::HasEnded(int pid, const Member& member) const {
  if (member.pidfd) {
    pollfd event{member.pidfd.get(), POLLIN, 0};
    return ::poll(&event, 1, 0) > 0;
  }
  const auto stat = ReadStat(pid);
  return !stat || stat->state == 'Z' ||
         (member.start_ticks != 0 && stat->start_ticks != member.start_ticks);
}

void ProcessTree::End(int pid, std::optional<int> wait_status, int64_t at_ns,
                      std::vector<TreeEvent>* out) {
  members_.erase(pid);
  out->push_back(
      {.kind = TreeEvent::Kind::kEnded, .pid = pid, .at_ns = at_ns, .wait_status = wait_status});
}

void ProcessTree::Take(int64_t now_ns, std::vector<TreeEvent>* out) {
  // Asked first: all that a process did is among the events once its pidfd tells its end.
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  if (events_) TakeEvents(now_ns, out);
  for (int i = 0; i < count; ++i) {
    const auto found = members_.find(ready[static_cast<size_t>(i)].data.fd);
    if (found != members_.end()) OnPidfd(found->first, &found->second, now_ns, out);
  }
  std::erase_if(ending_, [&](int pid) {
    const auto found = members_.find(pid);
    if (found == members_.end() || !found->second.ended_ns) return true;
    if (now_ns - *found->second.ended_ns < kExitEventNs) return false;
    End(pid, std::nullopt, *found->second.ended_ns, out);
    return true;
  });
  if (!events_) {
    // After the ends: a number that is used again is new.
    LookForNew(now_ns, out);
    LookAtMembers(now_ns, out);
  }
  if (std::exchange(look_at_all_, false)) LookAtAll(now_ns, true, out);
}

// The process has ended.
void ProcessTree::OnPidfd(int pid, Member* member, int64_t now_ns, std::vector<TreeEvent>* out) {
  if (member->ended_ns) return;
  std::optional<int> status = EndStatus(pid, member->pidfd.get());
  if (!status) status = member->wait_status;
  if (status || !events_) {
    End(pid, status, now_ns, out);
    return;
  }
  // Its event tells, soon.
  member->ended_ns = now_ns;
  ending_.push_back(pid);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, member->pidfd.get(), nullptr);
}

void ProcessTree::TakeEvents(int64_t now_ns, std::vector<TreeEvent>* out) {
  taken_.clear();
  const bool complete = events_->Take(&taken_);
  for (const ProcessEvent& event : taken_) {
    const auto found = members_.find(event.pid);
    switch (event.kind) {
      case ProcessEvent::Kind::kFork:
        if (!members_.contains(event.parent)) break;
        // Looking was quicker.
        if (found != members_.end() && event.at_ns <= found->second.seen_ns) break;
        // The end of the one that had the number was among the events that were lost.
        if (found != members_.end()) End(event.pid, std::nullopt, event.at_ns, out);
        Add(event.pid, event.parent, nullptr, false, event.at_ns, out);
        break;
      case ProcessEvent::Kind::kExec:
        if (found == members_.end()) break;
        out->push_back(
            {.kind = TreeEvent::Kind::kExecuted, .pid = event.pid, .at_ns = event.at_ns});
        break;
      case ProcessEvent::Kind::kExit:
        if (found == members_.end()) break;
        if (HasEnded(event.pid, found->second)) {
          End(event.pid, event.wait_status, event.at_ns, out);
        } else {
          found->second.wait_status = event.wait_status;
        }
        break;
    }
  }
  if (!complete) LookAtAll(now_ns, false, out);
}

std::optional<int> ProcessTree::NewestPid() const {
  // "0.20 0.18 0.12 1/80 11206": the last number is the one given out last.
  std::array<char, 128> buffer;
  const ssize_t n = ::pread(loadavg_.get(), buffer.data(), buffer.size(), 0);
  if (n <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<size_t>(n));
  text.remove_prefix(text.rfind(' ') + 1);
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc() ? std::optional(pid) : std::nullopt;
}

void ProcessTree::LookForNew(int64_t now_ns, std::vector<TreeEvent>* out) {
  std::erase_if(unseen_, [&](const Unseen& unseen) {
    return LookAt(unseen.pid, now_ns, out) || now_ns >= unseen.until_ns;
  });
  const std::optional<int> newest = NewestPid();
  if (!newest) {
    LookAtAll(now_ns, false, out);
    return;
  }
  const int before = std::exchange(newest_, *newest);
  if (*newest < before || *newest - before > kManyNew) {
    LookAtAll(now_ns, false, out);
    return;
  }
  for (int pid = before + 1; pid <= *newest; ++pid) {
    if (!LookAt(pid, now_ns, out)) unseen_.push_back({pid, now_ns + kUnseenNs});
  }
}

// Whether anybody has that number.
bool ProcessTree::LookAt(int pid, int64_t now_ns, std::vector<TreeEvent>* out) {
  const auto stat = ReadStat(pid);
  if (!stat) return false;
  const auto known = members_.find(pid);
  if (known != members_.end()) {
    if (known->second.start_ticks == stat->start_ticks) return true;
    End(pid, EndStatus(pid, known->second.pidfd.get()), now_ns, out);
  }
  if (!members_.contains(stat->parent)) return true;
  // Threads have numbers, too; their parent is that of their process.
  const auto status = ReadStatus(pid);
  if (status && status->thread_group == pid) AddSeen(*stat, false, now_ns, out);
  return true;
}

// What was only seen now may have executed its program before.
void ProcessTree::AddSeen(const ProcStat& stat, bool found, int64_t now_ns,
                          std::vector<TreeEvent>* out) {
  Add(stat.pid, stat.parent, &stat, found, now_ns, out);
  members_.at(stat.pid).seen_ns = MonotonicNs();
  const auto parent = ReadStat(stat.parent);
  if (!found && (!parent || stat.start_stack == 0 || stat.start_stack != parent->start_stack)) {
    out->push_back({.kind = TreeEvent::Kind::kExecuted, .pid = stat.pid, .at_ns = now_ns});
  }
}

// For execs, and for ends where there is no pidfd.
void ProcessTree::LookAtMembers(int64_t now_ns, std::vector<TreeEvent>* out) {
  std::vector<int> gone;
  for (auto& [pid, member] : members_) {
    const bool young = now_ns - member.changed_ns < kYoungNs;
    if (!young && now_ns - member.looked_ns < kLookAtOldNs) continue;
    member.looked_ns = now_ns;
    const auto stat = ReadStat(pid);
    if (!stat || stat->state == 'Z' || stat->start_ticks != member.start_ticks) {
      if (!member.pidfd) gone.push_back(pid);
      continue;
    }
    if (stat->start_stack == 0 || stat->start_stack == member.start_stack) continue;
    member.start_stack = stat->start_stack;
    member.changed_ns = now_ns;
    out->push_back({.kind = TreeEvent::Kind::kExecuted, .pid = pid, .at_ns = now_ns});
  }
  for (const int pid : gone) End(pid, EndStatus(pid, -1), now_ns, out);
}

void ProcessTree::LookAtAll(int64_t now_ns, bool found, std::vector<TreeEvent>* out) {
  std::vector<ProcStat> others;
  for (const int pid : ListProcesses().value_or(std::vector<int>())) {
    if (members_.contains(pid)) continue;
    if (auto stat = ReadStat(pid)) others.push_back(*std::move(stat));
  }
  // A child's number may be smaller than its parent's.
  for (bool more = true; more;) {
    more = false;
    std::erase_if(others, [&](const ProcStat& stat) {
      if (!members_.contains(stat.parent)) return false;
      if (stat.state != 'Z') AddSeen(stat, found, now_ns, out);
      more = true;
      return true;
    });
  }
}

}  // namespace linescope
