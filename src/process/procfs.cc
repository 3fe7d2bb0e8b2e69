#include "process/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>

#include "process/proc_file.h"

namespace linescope {
namespace {

// Takes whitespace-separated numbers off the front of a text.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  std::string_view Word() {
    const size_t begin = std::min(text_.find_first_not_of(" \t\n"), text_.size());
    text_.remove_prefix(begin);
    const std::string_view word = text_.substr(0, text_.find_first_of(" \t\n"));
    text_.remove_prefix(word.size());
    return word;
  }
  void Skip(int words) {
    while (words-- > 0) Word();
  }
  template <class T>
  T Number(int base = 10) {
    const std::string_view word = Word();
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc() || end != word.data() + word.size()) ok_ = false;
    return value;
  }
  // False once anything expected to be a number was not one.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const {
    return text_.find_first_not_of(" \t\n") == std::string_view::npos;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

std::string TaskPath(int pid, int tid, std::string_view file) {
  return fmt::format("/proc/{}/task/{}/{}", pid, tid, file);
}

bool ParseId(const char* name, int* id) {
  const char* end = name + std::char_traits<char>::length(name);
  const auto [stop, error] = std::from_chars(name, end, *id);
  return error == std::errc() && stop == end;
}

Result<std::vector<int>> ListIds(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) return Fail(ProcErrorCode(errno), "cannot list {}: {}", folder, ErrnoText());
  std::vector<int> ids;
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    int id;
    if (ParseId(entry->d_name, &id)) ids.push_back(id);
    errno = 0;
  }
  if (errno != 0) return Fail(ProcErrorCode(errno), "cannot list {}: {}", folder, ErrnoText());
  std::ranges::sort(ids);
  return ids;
}

ProcStatus::Ids ParseIds(Fields& fields) {
  ProcStatus::Ids ids;
  ids.real = fields.Number<uint32_t>();
  ids.effective = fields.Number<uint32_t>();
  ids.saved = fields.Number<uint32_t>();
  ids.filesystem = fields.Number<uint32_t>();
  return ids;
}

// Reads a small file by a kept descriptor, without allocating. Empty when the thread has ended.
std::string_view Pread(int fd, std::span<char> buffer) {
  const ssize_t n = ::pread(fd, buffer.data(), buffer.size(), 0);
  return n > 0 ? std::string_view(buffer.data(), static_cast<size_t>(n)) : std::string_view();
}

// A link of the process's as the process itself would see it: what the kernel shows starts at our
// root, also where the process has another below it (chroot).
Result<std::string> ReadOwnPath(int pid, const char* link) {
  LS_TRY(path, ReadProcLink(fmt::format("/proc/{}/{}", pid, link)));
  const auto root = ReadProcLink(fmt::format("/proc/{}/root", pid));
  if (root && root->size() > 1 && path.starts_with(*root)) {
    if (path.size() == root->size()) return "/";
    if (path[root->size()] == '/') path.erase(0, root->size());
  }
  return path;
}

}  // namespace

Result<ProcStat> ParseStat(std::string_view text) {
  // The name may hold anything, the fields after it are numbers and one letter: so the last ')'
  // ends it.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return Fail(ErrorCode::kCorrupt, "a stat line of /proc has no name in parentheses");
  }
  ProcStat stat;
  Fields head(text.substr(0, open));
  stat.pid = head.Number<int>();
  stat.comm = text.substr(open + 1, close - open - 1);
  Fields fields(text.substr(close + 1));
  const std::string_view state = fields.Word();
  stat.parent = fields.Number<int>();
  stat.process_group = fields.Number<int>();
  stat.session = fields.Number<int>();
  stat.terminal = fields.Number<int>();
  stat.terminal_foreground_group = fields.Number<int>();
  stat.flags = fields.Number<uint64_t>();
  fields.Skip(4);  // page faults
  stat.user_ticks = fields.Number<uint64_t>();
  stat.system_ticks = fields.Number<uint64_t>();
  fields.Skip(4);  // times of waited-for children, priority, nice
  stat.threads = fields.Number<int>();
  fields.Skip(1);  // itrealvalue
  stat.start_ticks = fields.Number<uint64_t>();
  fields.Skip(1);  // vsize
  stat.resident_pages = fields.Number<uint64_t>();
  fields.Skip(1);  // limit
  const auto start_code = fields.Number<uint64_t>();
  fields.Skip(1);  // end of the code
  const auto start_stack = fields.Number<uint64_t>();
  // The kernel names the code last (fs/binfmt_elf.c, load_elf_binary): until then the stack is that
  // of an exec on its way, and moves once more.
  stat.start_stack = start_code == 0 ? 0 : start_stack;
  fields.Skip(10);  // addresses, signals, exit signal
  stat.processor = fields.Number<int>();
  fields.Skip(12);  // priority, policy, delays, guest time, addresses
  if (!fields.at_end()) stat.wait_status = fields.Number<int>();
  if (state.size() != 1 || !head.ok() || !fields.ok()) {
    return Fail(ErrorCode::kCorrupt, "a stat line of /proc is too short or not numeric");
  }
  stat.state = state[0];
  return stat;
}

Result<ProcStat> ReadStat(int pid) {
  LS_TRY(text, ReadProcFile(fmt::format("/proc/{}/stat", pid)));
  return ParseStat(text);
}

Result<ProcStat> ReadThreadStat(int pid, int tid) {
  LS_TRY(text, ReadProcFile(TaskPath(pid, tid, "stat")));
  return ParseStat(text);
}

Result<ProcStatus> ParseStatus(std::string_view text) {
  ProcStatus status;
  bool ok = true;
  bool has_uid = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    Fields fields(line.substr(colon + 1));
    if (key == "Uid") {
      status.uid = ParseIds(fields);
      has_uid = true;
    } else if (key == "Gid") {
      status.gid = ParseIds(fields);
    } else if (key == "Tgid") {
      status.thread_group = fields.Number<int>();
    } else if (key == "TracerPid") {
      status.tracer = fields.Number<int>();
    } else if (key == "NSpid") {
      while (!fields.at_end() && fields.ok()) status.ns_pids.push_back(fields.Number<int>());
    } else if (key == "CapEff") {
      status.effective_caps = fields.Number<uint64_t>(16);
    } else if (key == "CapPrm") {
      status.permitted_caps = fields.Number<uint64_t>(16);
    } else if (key == "Seccomp") {
      status.seccomp = fields.Number<int>();
    } else if (key == "VmRSS") {
      status.resident_bytes = fields.Number<uint64_t>() * 1024;
    } else if (key == "VmHWM") {
      status.peak_resident_bytes = fields.Number<uint64_t>() * 1024;
    }
    ok = ok && fields.ok();
  }
  if (!ok || !has_uid) return Fail(ErrorCode::kCorrupt, "a status file of /proc makes no sense");
  return status;
}

Result<ProcStatus> ReadThreadStatus(int pid, int tid) {
  LS_TRY(text, ReadProcFile(fmt::format("/proc/{}/task/{}/status", pid, tid)));
  return ParseStatus(text);
}

Result<ProcStatus> ReadStatus(int pid) {
  LS_TRY(text, ReadProcFile(fmt::format("/proc/{}/status", pid)));
  return ParseStatus(text);
}

std::vector<std::string> ParseCommandLine(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::string_view argument = text.substr(0, text.find('\0'));
    arguments.emplace_back(argument);
    text.remove_prefix(std::min(argument.size() + 1, text.size()));
  }
  return arguments;
}

Result<std::vector<std::string>> ReadCommandLine(int pid) {
  LS_TRY(text, ReadProcFile(fmt::format("/proc/{}/cmdline", pid)));
  return ParseCommandLine(text);
}

Result<std::string> ReadExe(int pid) { return ReadOwnPath(pid, "exe"); }

Result<std::string> ReadWorkingDirectory(int pid) { return ReadOwnPath(pid, "cwd"); }

Result<std::string> ReadThreadName(int pid, int tid) {
  LS_TRY(name, ReadProcFile(TaskPath(pid, tid, "comm")));
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

int64_t TicksPerSecond() {
  static const int64_t ticks = ::sysconf(_SC_CLK_TCK);
  return ticks;
}

int64_t StartUnixNs(const ProcStat& stat) {
  // starttime counts on CLOCK_BOOTTIME of the reader's time namespace.
  timespec boot;
  timespec real;
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  ::clock_gettime(CLOCK_REALTIME, &real);
  const int64_t boot_unix_ns =
      (int64_t{real.tv_sec} - boot.tv_sec) * 1'000'000'000 + real.tv_nsec - boot.tv_nsec;
  return boot_unix_ns + static_cast<int64_t>(stat.start_ticks) * (1'000'000'000 / TicksPerSecond());
}

Result<int64_t> ProcessStartUnixNs(int pid) {
  LS_TRY(stat, ReadStat(pid));
  return StartUnixNs(stat);
}

Result<std::vector<int>> ListThreads(int pid) { return ListIds(fmt::format("/proc/{}/task", pid)); }

Result<std::vector<int>> ListProcesses() { return ListIds("/proc"); }

Result<std::vector<int>> ListChildren(int pid) {
  LS_TRY(threads, ListThreads(pid));
  std::vector<int> children;
  for (const int tid : threads) {
    const auto text = ReadProcFile(TaskPath(pid, tid, "children"));
    if (!text && text.error().code != ErrorCode::kGone) return std::unexpected(text.error());
    if (!text) continue;  // the thread has ended meanwhile
    Fields fields(*text);
    while (!fields.at_end() && fields.ok()) children.push_back(fields.Number<int>());
  }
  std::ranges::sort(children);
  return children;
}

Result<std::vector<int>> Ancestry(int pid) {
  std::vector<int> chain;
  // A parent may end and its id be used again between two reads, which could close a circle.
  while (pid > 0 && std::ranges::find(chain, pid) == chain.end()) {
    const auto stat = ReadStat(pid);
    if (!stat) {
      if (chain.empty()) return std::unexpected(stat.error());
      break;
    }
    chain.push_back(pid);
    pid = stat->parent;
  }
  return chain;
}

Result<ThreadStat> ThreadStat::Open(int pid, int tid) {
  ThreadStat result;
  const std::string path = TaskPath(pid, tid, "stat");
  result.stat_.Reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!result.stat_) return Fail(ProcErrorCode(errno), "cannot open {}: {}", path, ErrnoText());
  result.schedstat_.Reset(::open(TaskPath(pid, tid, "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
  return result;
}

bool ThreadStat::Read(Sample* sample) const {
  std::array<char, 1024>
      buffer;  // 52 numbers of at most 20 digits are the theoretical, ~330 bytes the usual size
  const std::string_view text = Pread(stat_.get(), buffer);
  const size_t close = text.rfind(')');
  if (close == std::string_view::npos) return false;
  Fields fields(text.substr(close + 1));
  const std::string_view state = fields.Word();
  fields.Skip(10);
  const auto user = fields.Number<uint64_t>();
  const auto system = fields.Number<uint64_t>();
  fields.Skip(23);
  sample->processor = fields.Number<int>();
  if (state.size() != 1 || !fields.ok()) return false;
  sample->state = state[0];
  sample->cpu_ticks = user + system;
  return true;
}

bool ThreadStat::ReadSched(Sched* sched) const {
  if (!schedstat_) return false;
  std::array<char, 96> buffer;
  Fields fields(Pread(schedstat_.get(), buffer));
  sched->on_cpu_ns = fields.Number<uint64_t>();
  sched->waiting_ns = fields.Number<uint64_t>();
  sched->switches_in = fields.Number<uint64_t>();
  return fields.ok();
}

}  // namespace linescope
