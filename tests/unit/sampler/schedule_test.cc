#include "sampler/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace linescope {
namespace {

TEST(Schedule, IntervalsAreUniformAroundTheMean) {
  Schedule schedule(1000, 0, 7);
  int64_t last = 0;
  double sum = 0, square = 0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const int64_t deadline = schedule.deadline_ns();
    const auto interval = static_cast<double>(deadline - last);
    ASSERT_GE(interval, 499'999);
    ASSERT_LE(interval, 1'500'001);
    sum += interval;
    square += interval * interval;
    last = deadline;
    EXPECT_EQ(schedule.Advance(deadline), 0u);
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 1e6, 1e4);
  // The standard deviation of U(0.5, 1.5) ms is 1 / sqrt(12) ms: neither fixed nor exponential.
  EXPECT_NEAR(std::sqrt(square / kCount - mean * mean), 1e6 / std::sqrt(12.0), 1e4);
  EXPECT_EQ(schedule.due(), static_cast<uint64_t>(kCount));
}

TEST(Schedule, PassedDeadlinesAreSkippedAndCounted) {
  Schedule schedule(1000, 0, 7);
  const int64_t late = schedule.deadline_ns() + 10'000'000;
  const uint64_t missed = schedule.Advance(late);
  EXPECT_GE(missed, 6u);
  EXPECT_LE(missed, 20u);
  EXPECT_GT(schedule.deadline_ns(), late);
  EXPECT_LE(schedule.deadline_ns(), late + 1'500'001);
  EXPECT_EQ(schedule.due(), 1 + missed);
}

TEST(Schedule, LongGapsCountByTheMeanWithoutStepping) {
  Schedule schedule(1'000'000, 0, 7);
  const int64_t hour = 3'600'000'000'000;
  const uint64_t missed = schedule.Advance(hour);
  EXPECT_NEAR(static_cast<double>(missed), 3.6e9, 1e6);
  EXPECT_GT(schedule.deadline_ns(), hour);
}

TEST(Schedule, RestartOwesNothing) {
  Schedule schedule(1000, 0, 7);
  schedule.Restart(50'000'000);
  EXPECT_GT(schedule.deadline_ns(), 50'000'000);
  EXPECT_EQ(schedule.due(), 0u);
}

TEST(Schedule, DifferentSeedsDiffer) {
  Schedule a(1000, 0, 1), b(1000, 0, 3);
  EXPECT_NE(a.deadline_ns(), b.deadline_ns());
}

}  // namespace
}  // namespace linescope
