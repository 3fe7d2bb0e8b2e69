#include "sampler/on_cpu.h"

#include <algorithm>

#include "base/clock.h"

namespace linescope {
namespace {

// Without records the end of a long sleep may be noticed late by so small a part of it, and at most
// by this; at once by the GIL that the thread takes. 500 threads that sleep are a third of the
// sampler's time at 100 Hz with a 32nd part and 250 ms.
constexpr int64_t kPartOfSleep = 16, kLatestLookNs = 1'000'000'000;

OnCpu::State OfLetter(char letter) {
  switch (letter) {
    case 'R':
      return OnCpu::State::kOn;
    case 'T':
    case 't':
      return OnCpu::State::kStopped;
    case '?':
      return OnCpu::State::kUnknown;
    default:
      return OnCpu::State::kOff;
  }
}

}  // namespace

OnCpu::OnCpu(int pid, int tid, bool records) {
  opened_ns_ = changed_ns_ = MonotonicNs();
  if (records) {
    if (auto ring = SwitchRing::Open(tid)) ring_ = std::move(*ring);
  }
  if (auto stat = ThreadStat::Open(pid, tid)) stat_ = std::move(*stat);
  has_sched_ = stat_ && stat_->ReadSched(&sched_);
  opened_cpu_ns_ = sched_.on_cpu_ns;
  // After the ring was opened: any later change is recorded.
  Ask();
}

void OnCpu::Poll(int64_t now_ns) {
  if (ring_) {
    PollRing();
    return;
  }
  if (!settled_ || now_ns < next_look_ns_) return;
  ThreadStat::Sched sched;
  if (!stat_->ReadSched(&sched) || sched != sched_) {
    settled_ = false;
  } else if (now_ns - changed_ns_ > kLongSleepNs) {
    next_look_ns_ = now_ns + std::min((now_ns - changed_ns_) / kPartOfSleep, kLatestLookNs);
  }
}

void OnCpu::Look(int64_t now_ns) {
  if (ring_) {
    PollRing();
    return;
  }
  if (settled_) {
    Poll(now_ns);
    if (settled_) return;
  }
  next_look_ns_ = 0;
  const bool was_off = IsOff();
  ThreadStat::Sched sched;
  const bool ran = !stat_ || !stat_->ReadSched(&sched) || sched != sched_;
  Ask();
  // The letter says "sleeping" a little early: a thread that is about to sleep may yet go on, in
  // the same run. The second look finds whether it did.
  // And one that was asleep and has not run since is only ready to.
  ready_ = !ran && was_off && OfLetter(asked_.state) == State::kOn;
  settled_ = !ran && was_off && IsOff();
  if (ran || IsOff() != was_off) {
    ++runs_;
    changed_ns_ = now_ns;
  }
  sched_ = sched;
}

void OnCpu::PollRing() {
  ring_->Poll();
  if (ring_->history().gaps() != gaps_) {
    gaps_ = ring_->history().gaps();
    if (Uncertain()) Ask();
  }
}

bool OnCpu::Ask() {
  if (!stat_) return false;
  if (stat_->Read(&asked_)) return true;
  asked_.state = 'X';
  return false;
}

bool OnCpu::ended() const {
  return ring_ ? ring_->history().ended() : asked_.state == 'X' || asked_.state == 'Z';
}

void OnCpu::LookForStop() {
  if (!ring_ || state() != State::kOff || !Ask()) return;
  if (OfLetter(asked_.state) == State::kStopped) stopped_at_ = switches();
}

OnCpu::State OnCpu::state() const {
  if (ready_) return State::kPreempted;
  if (Uncertain()) return OfLetter(asked_.state);
  const SwitchHistory& history = ring_->history();
  if (history.state() == CpuState::kOn) return State::kOn;
  if (stopped_at_ == switches()) return State::kStopped;
  return history.preempted() ? State::kPreempted : State::kOff;
}

uint64_t OnCpu::switches() const {
  if (!ring_) return runs_;
  const SwitchHistory& history = ring_->history();
  return history.switches_in() + history.switches_out() + history.gaps();
}

int64_t OnCpu::changed_ns() const {
  return ring_ ? ring_->history().last_change_ns() : changed_ns_;
}

int OnCpu::cpu() const {
  if (ring_ && ring_->history().cpu() >= 0) return ring_->history().cpu();
  return asked_.processor;
}

std::optional<int64_t> OnCpu::CpuTimeNs(int64_t now_ns) const {
  if (ring_ && ring_->history().gaps() == 0) {
    const SwitchHistory& history = ring_->history();
    if (history.state() != CpuState::kUnknown) return history.OnCpuNs(now_ns);
    return asked_.state == 'R' ? now_ns - opened_ns_ : 0;
  }
  if (!has_sched_) return std::nullopt;
  ThreadStat::Sched sched = sched_;
  // What is asleep has not run since the last look, nor has what has ended.
  const bool fresh = !ring_ && settled_;
  ThreadStat::Sched now;
  if (!fresh && stat_->ReadSched(&now)) sched = now;
  return static_cast<int64_t>(sched.on_cpu_ns - opened_cpu_ns_);
}

}  // namespace linescope
