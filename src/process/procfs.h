#pragma once
// What /proc says about processes and threads. Parsers are pure functions of the text, so that
// tests and fuzzers can feed them; readers open, read and close unless they are classes, which keep
// their descriptors.
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

// /proc/PID/stat or /proc/PID/task/TID/stat. Times are in clock ticks (TicksPerSecond), as the
// kernel gives them.
struct ProcStat {
  int pid = 0;
  std::string comm;  // any bytes, also ')' and newlines; at most 15 of them
  char state = '?';  // R running or runnable, S, D, Z, T stopped, t traced, I, X
  int parent = 0;
  int process_group = 0;
  int session = 0;
  int terminal = 0;                   // device number; 0: none
  int terminal_foreground_group = 0;  // -1: none
  uint64_t flags = 0;                 // PF_*
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  int threads = 0;
  uint64_t start_ticks = 0;  // since boot
  uint64_t resident_pages = 0;
  // Where the main thread's stack begins; an exec moves it, a fork does not. 0: hidden from us, a
  // zombie's, or that of an exec that is not done.
  uint64_t start_stack = 0;
  int processor = -1;  // field 39: the CPU last executed on
  // Of a zombie, as wait(2) gives it; 0 for all others, and for those hidden from us.
  int wait_status = 0;

  // Only its entry is left.
  [[nodiscard]] bool has_ended() const { return state == 'Z' || state == 'X'; }
  [[nodiscard]] bool is_kernel_thread() const { return (flags & 0x00200000) != 0; }  // PF_KTHREAD
};

Result<ProcStat> ParseStat(std::string_view text);
Result<ProcStat> ReadStat(int pid);
Result<ProcStat> ReadThreadStat(int pid, int tid);

// The lines of /proc/PID/status that LineScope uses.
struct ProcStatus {
  struct Ids {
    uint32_t real = 0, effective = 0, saved = 0, filesystem = 0;
  };
  Ids uid;
  Ids gid;
  int thread_group = 0;
  int tracer = 0;  // pid of the ptracer, 0: none
  std::vector<int>
      ns_pids;  // the pid in each nested pid namespace, ours first; empty before Linux 4.1
  uint64_t effective_caps = 0;                  // CapEff
  uint64_t permitted_caps = 0;                  // CapPrm
  int seccomp = 0;                              // 0 off, 1 strict, 2 filter
  std::optional<uint64_t> resident_bytes;       // VmRSS; none for zombies and kernel threads
  std::optional<uint64_t> peak_resident_bytes;  // VmHWM
};

Result<ProcStatus> ParseStatus(std::string_view text);
Result<ProcStatus> ReadStatus(int pid);
Result<ProcStatus> ReadThreadStatus(int pid, int tid);

// argv as the process sees it now (it may have overwritten it); empty for zombies and kernel
// threads.
Result<std::vector<std::string>> ReadCommandLine(int pid);
std::vector<std::string> ParseCommandLine(std::string_view text);
// The executable and the working directory, as paths in the process's own mount namespace. "
// (deleted)" is kept.
Result<std::string> ReadExe(int pid);
Result<std::string> ReadWorkingDirectory(int pid);
// A thread's name; the main thread's is the process's.
Result<std::string> ReadThreadName(int pid, int tid);

int64_t TicksPerSecond();
// When the process started, in nanoseconds since the epoch; exact to one clock tick (10 ms).
Result<int64_t> ProcessStartUnixNs(int pid);
int64_t StartUnixNs(const ProcStat& stat);

// Ids of all threads, ascending, the main thread's (= pid) first unless it has exited.
Result<std::vector<int>> ListThreads(int pid);
// Ids of all processes that /proc shows us, ascending.
Result<std::vector<int>> ListProcesses();
// Children of all threads of `pid`, ascending.
Result<std::vector<int>> ListChildren(int pid);
// `pid`, its parent, … up to the first process of the pid namespace.
Result<std::vector<int>> Ancestry(int pid);

// The stat files of one thread, held open: no allocation, one pread each. Reads fail once the
// thread has ended, also when its id is used again.
class ThreadStat {
 public:
  struct Sample {
    char state = '?';
    int processor = -1;
    uint64_t cpu_ticks = 0;  // user + system, in clock ticks
  };

  static Result<ThreadStat> Open(int pid, int tid);

  // False when the thread has ended (or its entry made no sense).
  bool Read(Sample* sample) const;
  // Nanoseconds on a CPU and waiting for one, since the thread began. They move at ticks and
  // switches only (4 ms at HZ=250): for a running thread they lag. False when the thread has ended
  // or the kernel keeps no schedstat.
  struct Sched {
    uint64_t on_cpu_ns = 0;
    uint64_t waiting_ns = 0;
    uint64_t switches_in = 0;  // how often it has got onto a CPU; exact
    bool operator==(const Sched&) const = default;
  };
  bool ReadSched(Sched* sched) const;

 private:
  UniqueFd stat_;
  UniqueFd schedstat_;  // absent without CONFIG_SCHED_INFO
};

}  // namespace linescope
