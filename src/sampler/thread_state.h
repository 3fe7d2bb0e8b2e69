#pragma once
// What a thread is doing, from what the kernel and the interpreter say of it. Pure.
#include <optional>

#include "profile/model.h"
#include "sampler/on_cpu.h"

namespace linescope {

struct ThreadEvidence {
  OnCpu::State cpu = OnCpu::State::kUnknown;
  // Pushed off its CPU by the sampler itself: but for that it would run.
  bool preempted_by_us = false;
  bool has_frames = false;             // of Python code
  bool slept_long = false;             // OnCpu::kLongSleepNs
  std::optional<bool> holds_gil = {};  // nullopt: there is none, or it cannot be told
  bool wants_gil = false;
  bool collecting = false;  // its interpreter collects garbage, and it holds the GIL
};

ThreadState StateOf(const ThreadEvidence& evidence);

}  // namespace linescope
