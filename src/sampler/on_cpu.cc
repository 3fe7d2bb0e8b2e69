#include "sampler/on_cpu.h"

#include "base/clock.h"

namespace linescope {

OnCpu::OnCpu(int pid, int tid) {
  opened_ns_ = MonotonicNs();
  if (auto ring = SwitchRing::Open(tid)) ring_ = std::move(*ring);
  if (auto stat = ThreadStat::Open(pid, tid)) stat_ = std::move(*stat);
  // After the ring was opened: any later change is recorded.
  Ask();
}

void OnCpu::Poll() {
  if (!ring_) return;
  ring_->Poll();
  if (ring_->history().lost() != lost_) {
    lost_ = ring_->history().lost();
    if (Uncertain()) Ask();
  }
}

bool OnCpu::Ask() { return stat_ && stat_->Read(&asked_); }

OnCpu::State OnCpu::state() const {
  if (!Uncertain()) {
    const SwitchHistory& history = ring_->history();
    if (history.state() == CpuState::kOn) return State::kOn;
    return history.preempted() ? State::kPreempted : State::kOff;
  }
  switch (asked_.state) {
    case 'R':
      return State::kOn;
    case '?':
      return State::kUnknown;
    default:
      return State::kOff;
  }
}

uint64_t OnCpu::switches() const {
  if (!ring_) return 0;
  const SwitchHistory& history = ring_->history();
  return history.switches_in() + history.switches_out() + history.lost();
}

int OnCpu::cpu() const {
  if (ring_ && ring_->history().cpu() >= 0) return ring_->history().cpu();
  return asked_.processor;
}

std::optional<int64_t> OnCpu::CpuTimeNs(int64_t now_ns) const {
  if (ring_ && ring_->history().lost() == 0) {
    const SwitchHistory& history = ring_->history();
    if (history.state() != CpuState::kUnknown) return history.OnCpuNs(now_ns);
    return asked_.state == 'R' ? now_ns - opened_ns_ : 0;
  }
  ThreadStat::Sched sched;
  if (stat_ && stat_->ReadSched(&sched)) return static_cast<int64_t>(sched.on_cpu_ns);
  return std::nullopt;
}

}  // namespace linescope
