#include "sampler/thread_state.h"

#include <gtest/gtest.h>

namespace linescope {
namespace {

using Cpu = OnCpu::State;

TEST(ThreadState, OnACpuByTheGil) {
  ThreadEvidence evidence{.cpu = Cpu::kOn, .has_frames = true};
  EXPECT_EQ(StateOf(evidence), ThreadState::kRunning) << "the GIL is not told, which is not zero";
  evidence.holds_gil = true;
  EXPECT_EQ(StateOf(evidence), ThreadState::kRunningWithGil);
  evidence.holds_gil = false;
  EXPECT_EQ(StateOf(evidence), ThreadState::kRunningWithoutGil);
  evidence.wants_gil = true;
  EXPECT_EQ(StateOf(evidence), ThreadState::kRunningWithoutGil) << "it does not wait yet";
}

TEST(ThreadState, OffTheCpuByTheGil) {
  ThreadEvidence evidence{.cpu = Cpu::kOff, .has_frames = true};
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaiting);
  evidence.holds_gil = false;
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaiting);
  evidence.wants_gil = true;
  EXPECT_EQ(StateOf(evidence), ThreadState::kGilWait);
  evidence.slept_long = true;
  EXPECT_EQ(StateOf(evidence), ThreadState::kGilWait) << "who wants something is not idle";
  evidence.holds_gil = true;
  evidence.wants_gil = false;
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaitingWithGil) << "nor is who keeps others waiting";
}

TEST(ThreadState, Idle) {
  EXPECT_EQ(StateOf({.cpu = Cpu::kOff, .has_frames = true, .slept_long = true}),
            ThreadState::kIdle);
  EXPECT_EQ(StateOf({.cpu = Cpu::kOff, .has_frames = false}), ThreadState::kIdle)
      << "no Python code to return to";
  EXPECT_EQ(StateOf({.cpu = Cpu::kOn, .has_frames = false, .slept_long = true}),
            ThreadState::kRunning);
}

TEST(ThreadState, PreemptedByUsItRuns) {
  ThreadEvidence evidence{.cpu = Cpu::kPreempted, .has_frames = true, .holds_gil = true};
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaitingWithGil);
  evidence.preempted_by_us = true;
  EXPECT_EQ(StateOf(evidence), ThreadState::kRunningWithGil);
  evidence = {.cpu = Cpu::kPreempted, .has_frames = true, .slept_long = true, .holds_gil = false};
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaiting) << "it wants a CPU: not idle";
}

TEST(ThreadState, CollectingOnlyOnACpu) {
  ThreadEvidence evidence{
      .cpu = Cpu::kOn, .has_frames = true, .holds_gil = true, .collecting = true};
  EXPECT_EQ(StateOf(evidence), ThreadState::kCollecting);
  evidence.cpu = Cpu::kOff;
  EXPECT_EQ(StateOf(evidence), ThreadState::kWaitingWithGil);
}

TEST(ThreadState, StoppedAndUnknown) {
  EXPECT_EQ(StateOf({.cpu = Cpu::kStopped, .has_frames = true, .holds_gil = true}),
            ThreadState::kStopped);
  EXPECT_EQ(StateOf({.cpu = Cpu::kUnknown, .has_frames = true, .holds_gil = true}),
            ThreadState::kUnknown);
}

}  // namespace
}  // namespace linescope
