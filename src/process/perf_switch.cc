#include "process/perf_switch.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.h"
#include "process/proc_file.h"

namespace linescope {
namespace {

// 32 bytes a record: a thousand switches between two polls. Locked memory is limited
// (perf_event_mlock_kb), so not more.
constexpr size_t kDataPages = 8;

// What sample_id_all appends to every record for PERF_SAMPLE_TID | TIME | CPU.
struct SampleId {
  uint32_t pid, tid;
  uint64_t time;
  uint32_t cpu, reserved;
};
static_assert(sizeof(SampleId) == 24);

struct LostBody {
  uint64_t id, lost;
};

struct TaskBody {
  uint32_t pid, ppid, tid, ptid;
  uint64_t time;
};

// Longer records are none that we asked for, but may be passed over.
constexpr size_t kMaxKnownRecord = 128;

template <class T>
T Load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Copies out of a ring, over its end if need be.
void CopyFromRing(std::span<const std::byte> data, uint64_t at, std::byte* out, size_t size) {
  const size_t begin = at & (data.size() - 1);
  const size_t first = std::min(size, data.size() - begin);
  std::memcpy(out, data.data() + begin, first);
  std::memcpy(out + first, data.data(), size - first);
}

std::string ParanoidText() {
  const auto text = ReadProcFile("/proc/sys/kernel/perf_event_paranoid");
  if (!text) return "unknown";
  return text->substr(0, text->find('\n'));
}

std::unexpected<Error> OpenError(int tid, int error) {
  switch (error) {
    case ESRCH:
      return Fail(ErrorCode::kGone, "thread {} has ended", tid);
    case EACCES:
    case EPERM:
      return Fail(ErrorCode::kDenied,
                  "context switches of thread {} may not be recorded: kernel.perf_event_paranoid "
                  "is {}, or a seccomp filter "
                  "or missing rights over the process forbid it; sudo sysctl "
                  "kernel.perf_event_paranoid=2 or CAP_PERFMON helps",
                  tid, ParanoidText());
    case ENOSYS:
      return Fail(ErrorCode::kUnsupported, "this kernel or container has no perf events");
    case EINVAL:
    case E2BIG:
    case ENOENT:
    case EOPNOTSUPP:
      return Fail(ErrorCode::kUnsupported,
                  "this kernel cannot record context switches (needs Linux 4.3)");
    case EMFILE:
    case ENFILE:
      return Fail(
          ErrorCode::kIo,
          "too many open files to record context switches of thread {}; raise it with: ulimit -n",
          tid);
    default:
      return Fail(ErrorCode::kIo, "cannot record context switches of thread {}: {}", tid,
                  ErrnoText(error));
  }
}

}  // namespace

void SwitchHistory::Switch(bool off, bool preempted, int64_t time_ns, int cpu) {
  // A switch off the CPU ends a time on it; two of one kind in a row mean that one between them was
  // lost unnoticed.
  const int64_t elapsed = time_ns - last_change_ns_;
  const CpuState before = off ? CpuState::kOn : CpuState::kOff;
  if (elapsed > 0) {
    if (forgotten_ || (state_ != CpuState::kUnknown && state_ != before)) {
      unknown_ns_ += elapsed;
    } else {
      (off ? on_cpu_ns_ : off_cpu_ns_) += elapsed;
    }
    last_change_ns_ = time_ns;
  }
  forgotten_ = false;
  state_ = off ? CpuState::kOff : CpuState::kOn;
  cpu_ = cpu;
  if (off) {
    ++switches_out_;
    preempted_ = preempted;
    preemptions_ += preempted ? 1 : 0;
  } else {
    ++switches_in_;
  }
}

bool SwitchHistory::Consume(std::span<const std::byte> record) {
  if (record.size() < sizeof(perf_event_header)) return false;
  const auto header = Load<perf_event_header>(record, 0);
  if (header.size != record.size()) return false;
  const size_t body = sizeof header;
  switch (header.type) {
    case PERF_RECORD_SWITCH: {
      if (record.size() < body + sizeof(SampleId)) return false;
      const auto id = Load<SampleId>(record, record.size() - sizeof(SampleId));
      if (id.time > INT64_MAX || id.cpu > INT32_MAX) return false;
      Switch((header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
             (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
             static_cast<int64_t>(id.time), static_cast<int>(id.cpu));
      return true;
    }
    case PERF_RECORD_EXIT: {
      // Its last switch off the CPU is not recorded any more.
      if (record.size() < body + sizeof(TaskBody) + sizeof(SampleId)) return false;
      const auto id = Load<SampleId>(record, record.size() - sizeof(SampleId));
      if (id.time > INT64_MAX || id.cpu > INT32_MAX) return false;
      Switch(true, false, static_cast<int64_t>(id.time), static_cast<int>(id.cpu));
      ended_ = true;
      return true;
    }
    case PERF_RECORD_LOST:
      if (record.size() < body + sizeof(LostBody)) return false;
      lost_ += Load<LostBody>(record, body).lost;
      Forget();
      return true;
    default:
      return true;
  }
}

uint64_t ConsumeRing(std::span<const std::byte> data, uint64_t head, uint64_t tail,
                     SwitchHistory* history) {
  if (head - tail > data.size()) {
    history->Forget();
    return head;
  }
  std::array<std::byte, kMaxKnownRecord> copy;
  while (tail != head) {
    perf_event_header header;
    if (head - tail < sizeof header) break;
    CopyFromRing(data, tail, reinterpret_cast<std::byte*>(&header), sizeof header);
    if (header.size < sizeof header || header.size > head - tail) break;
    if (header.size <= copy.size()) {
      CopyFromRing(data, tail, copy.data(), header.size);
      if (!history->Consume({copy.data(), header.size})) break;
    }
    tail += header.size;
  }
  if (tail != head) history->Forget();
  return head;
}

void SwitchRing::Unmap::operator()(void* pages) const { ::munmap(pages, size); }

SwitchRing::SwitchRing(UniqueFd fd, std::unique_ptr<void, Unmap> pages, int64_t start_ns)
    : fd_(std::move(fd)), pages_(std::move(pages)), history_(start_ns) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  data_ = {static_cast<const std::byte*>(pages_.get()) + page, kDataPages * page};
}

Result<SwitchRing> SwitchRing::Open(int tid) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.sample_id_all = 1;
  attr.context_switch = 1;
  attr.task = 1;  // its end
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_hv = 1;
  attr.exclude_kernel = 1;  // what perf_event_paranoid 2 demands of the unprivileged; switches are
                            // recorded all the same
  const auto open = [&] {
    return UniqueFd(
        static_cast<int>(::syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  };
  // Before the call: switches that happen while it is under way would else precede the start.
  const int64_t before_ns = MonotonicNs();
  UniqueFd fd = open();
  if (!fd) return OpenError(tid, errno);
  const size_t size = (1 + kDataPages) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (pages == MAP_FAILED) {
    if (errno == EPERM) {
      return Fail(ErrorCode::kDenied,
                  "the rings for context switches need more locked memory than allowed; raise "
                  "kernel.perf_event_mlock_kb or "
                  "ulimit -l");
    }
    return Fail(ErrorCode::kIo, "cannot map the ring for context switches: {}", ErrnoText());
  }
  return SwitchRing(std::move(fd), std::unique_ptr<void, Unmap>(pages, Unmap{size}), before_ns);
}

void SwitchRing::Poll() {
  auto* page = static_cast<perf_event_mmap_page*>(pages_.get());
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  const uint64_t tail = page->data_tail;  // only we write it
  if (head == tail) return;
  ConsumeRing(data_, head, tail, &history_);
  // A ring without room for one more switch may have lost some, which the kernel tells only with
  // the next record.
  if (data_.size() - (head - tail) < 2 * sizeof(perf_event_header) + sizeof(SampleId))
    history_.Forget();
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

}  // namespace linescope
