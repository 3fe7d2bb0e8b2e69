#include "sampler/thread_state.h"

namespace linescope {

ThreadState StateOf(const ThreadEvidence& evidence) {
  switch (evidence.cpu) {
    case OnCpu::State::kUnknown:
      return ThreadState::kUnknown;
    case OnCpu::State::kStopped:
      return ThreadState::kStopped;
    case OnCpu::State::kOn:
      break;
    case OnCpu::State::kPreempted:
      if (evidence.preempted_by_us) break;
      [[fallthrough]];
    case OnCpu::State::kOff:
      if (evidence.holds_gil.value_or(false)) return ThreadState::kWaitingWithGil;
      if (evidence.wants_gil) return ThreadState::kGilWait;
      if (evidence.cpu == OnCpu::State::kPreempted) return ThreadState::kWaiting;
      return evidence.slept_long || !evidence.has_frames ? ThreadState::kIdle
                                                         : ThreadState::kWaiting;
  }
  if (evidence.collecting) return ThreadState::kCollecting;
  if (!evidence.holds_gil) return ThreadState::kRunning;
  return *evidence.holds_gil ? ThreadState::kRunningWithGil : ThreadState::kRunningWithoutGil;
}

}  // namespace linescope
