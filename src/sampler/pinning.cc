#include "sampler/pinning.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace linescope {

Pinning::Pinning() {
  CPU_ZERO(&initial_);
  ::sched_getaffinity(0, sizeof initial_, &initial_);
}

bool Pinning::Allowed(int cpu) const {
  return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &initial_);
}

bool Pinning::PinTo(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  if (cpu == cpu_) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return false;
  cpu_ = cpu;
  return true;
}

void Pinning::Unpin() {
  if (cpu_ < 0) return;
  ::sched_setaffinity(0, sizeof initial_, &initial_);
  cpu_ = -1;
}

void PreferPromptWakeUps() {
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  // struct sched_attr of sched_setattr(2); for SCHED_OTHER sched_runtime is the requested slice
  // since Linux 6.12, ignored before.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes{};
  attributes.size = sizeof attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime = 100'000;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace linescope
