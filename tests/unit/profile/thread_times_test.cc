#include "profile/thread_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/writer.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;

class ThreadTimesTest : public ::testing::Test {
 protected:
  // Two processes: one with a GIL, in which a thread works and one sleeps, and one without.
  std::unique_ptr<ProfileReader> Record(const RunInfo& run) {
    const auto path = folder_.path() / "p.linescope";
    auto writer = ProfileWriter::Create(path, run).value();
    ProcessInfo process;
    process.pid = 10;
    process.python_version = "3.12.1";
    const ProcessId first = writer->AddProcess(process);
    const ProcessId second = writer->AddProcess({20, first, {}, "", "", 0});
    const ThreadId busy = writer->AddThread({.process = first, .tid = 10, .name = "busy"});
    const ThreadId idle = writer->AddThread({.process = first, .tid = 11, .name = "idle"});
    const ThreadId free = writer->AddThread({.process = second, .tid = 20, .name = "free"});
    const FunctionId function = writer->AddFunction({"a.py", "f", "f", 1, true});
    const StackId stack = writer->AddStack({kNoStack, function, {.line = 3}});
    auto add = [&](ThreadId thread, ThreadState state, uint64_t count, int64_t wall_ms,
                   int64_t cpu_ms) {
      const SampleCell cell{thread, stack, state, count, wall_ms * kMs, cpu_ms * kMs};
      writer->AddSamples(0, 100 * kMs, {&cell, 1});
    };
    add(busy, ThreadState::kRunningWithGil, 40, 40, 38);
    add(busy, ThreadState::kRunningWithoutGil, 10, 10, 10);
    add(busy, ThreadState::kCollecting, 5, 5, 5);
    add(busy, ThreadState::kWaitingWithGil, 5, 5, 0);
    add(busy, ThreadState::kWaiting, 20, 20, 0);
    add(busy, ThreadState::kGilWait, 20, 20, 0);
    add(idle, ThreadState::kIdle, 100, 100, 0);
    add(free, ThreadState::kRunning, 50, 50, 50);
    add(free, ThreadState::kStopped, 50, 50, 0);
    RunEnd end;
    end.elapsed_ns = 100 * kMs;
    end.samples = 300;
    EXPECT_TRUE(writer->Finish(end));
    writer.reset();
    return ProfileReader::Open(path).value();
  }
  TemporaryFolder folder_;
};

TEST_F(ThreadTimesTest, AddsUpStates) {
  const auto reader = Record({});
  const auto times = AddUpThreads(*reader);
  ASSERT_TRUE(times);
  const StateTimes& busy = times->threads[0];
  EXPECT_EQ(busy.total, (Cost{100, 100 * kMs, 53 * kMs}));
  EXPECT_EQ(busy.running_ns(), 55 * kMs);
  EXPECT_EQ(busy.holding_gil_ns(), 50 * kMs);
  EXPECT_EQ(busy.waiting_ns(), 25 * kMs);
  EXPECT_EQ(busy.In(ThreadState::kGilWait).wall_ns, 20 * kMs);
  EXPECT_DOUBLE_EQ(busy.Share(busy.running_ns()), 0.55);
  EXPECT_EQ(times->processes[0].total.samples, 200u);
  EXPECT_EQ(times->run.total.samples, 300u);
}

TEST_F(ThreadTimesTest, UnknownIsNotZero) {
  const auto reader = Record({});
  const auto times = AddUpThreads(*reader);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->threads[1].holding_gil_ns(), 0) << "measured: its process tells";
  EXPECT_EQ(times->threads[2].holding_gil_ns(), std::nullopt) << "there is no GIL";
}

TEST_F(ThreadTimesTest, ModesCountWhatTheySay) {
  struct Expected {
    std::string mode;
    bool idle;
    Cost total;
    int64_t time_ns;
  };
  const Expected rows[] = {
      {"wall", true, {300, 300 * kMs, 103 * kMs}, 300 * kMs},
      {"wall", false, {200, 200 * kMs, 103 * kMs}, 200 * kMs},
      {"cpu", true, {105, 105 * kMs, 103 * kMs}, 103 * kMs},
      {"gil", true, {50, 50 * kMs, 43 * kMs}, 50 * kMs},
  };
  for (const Expected& row : rows) {
    SCOPED_TRACE(row.mode + (row.idle ? "" : " without idle"));
    RunInfo run;
    run.mode = row.mode;
    run.idle = row.idle;
    const auto reader = Record(run);
    EXPECT_EQ(reader->run().idle, row.idle);
    const auto profile = reader->Load();
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->total, row.total);
    EXPECT_EQ(profile->Time(profile->total), row.time_ns);
    EXPECT_EQ(AddUpThreads(*reader)->run.total.samples, 300u) << "whatever the mode";
  }
}

TEST(ThreadState, EveryStateSaysSomethingThatFits) {
  for (size_t i = 0; i < kThreadStateCount; ++i) {
    EXPECT_STRNE(ThreadStateName(static_cast<ThreadState>(i)), "");
  }
  EXPECT_TRUE(IsOnCpu(ThreadState::kCollecting));
  EXPECT_FALSE(HoldsGil(ThreadState::kRunning).has_value());
  EXPECT_EQ(HoldsGil(ThreadState::kWaitingWithGil), true);
  EXPECT_EQ(HoldsGil(ThreadState::kGilWait), false);
}

}  // namespace
}  // namespace linescope
