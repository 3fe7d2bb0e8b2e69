// Time buckets: in memory, and merged in the database.
#include "profile/sample_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/reader.h"
#include "profile/sample_rows.h"
#include "profile/writer.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

SampleCell Cell(StackId stack, uint64_t count, ThreadState state = ThreadState::kRunning) {
  return {0, stack, state, count, static_cast<int64_t>(count) * 10, static_cast<int64_t>(count)};
}

TEST(SampleBufferTest, MergesEqualKeysOfABucket) {
  SampleBuffer buffer;
  const SampleCell cells[] = {Cell(1, 2), Cell(2, 3), Cell(1, 4, ThreadState::kWaiting)};
  buffer.Add(0, cells);
  buffer.Add(99'999'999, cells);
  buffer.Add(100'000'000, {cells, 1});
  auto rows = buffer.Rows();
  SortByTime(rows);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].cell.count, 4u);
  EXPECT_EQ(rows[0].cell.wall_ns, 40);
  EXPECT_EQ(rows[0].cell.cpu_ns, 4);
  EXPECT_EQ(rows[1].cell.state, ThreadState::kWaiting);
  EXPECT_EQ(rows[3].bucket, 1);
  EXPECT_EQ(rows[3].cell.count, 2u);
}

TEST(SampleBufferTest, WidensOnlyWhenThereWouldBeTooManyBuckets) {
  SampleBuffer buffer;
  SampleCell cell = Cell(0, 1);
  for (int64_t i = 0; i < SampleBuffer::kMaxBuckets; ++i)
    buffer.Add(i * SampleBuffer::kFirstWidthNs, {&cell, 1});
  EXPECT_EQ(buffer.width_ns(), SampleBuffer::kFirstWidthNs);
  EXPECT_EQ(buffer.size(), 600u);
  buffer.Add(60 * kSecond, {&cell, 1});
  EXPECT_EQ(buffer.width_ns(), 2 * SampleBuffer::kFirstWidthNs);
  EXPECT_EQ(buffer.size(), 301u);
  EXPECT_EQ(buffer.last_bucket(), 300);
}

TEST(SampleBufferTest, AWeekStaysSmall) {
  SampleBuffer buffer;
  SampleCell cell = Cell(0, 1);
  for (int64_t second = 0; second < 7 * 24 * 3600; second += 7)
    buffer.Add(second * kSecond, {&cell, 1});
  EXPECT_LE(buffer.size(), 600u);
  EXPECT_GT(buffer.size(), 280u);
  uint64_t total = 0;
  for (const SampleRow& row : buffer.Rows()) total += row.cell.count;
  EXPECT_EQ(total, 7u * 24 * 3600 / 7);
}

TEST(SampleBufferTest, ATimeBeforeTheStartIsTheStart) {
  SampleBuffer buffer;
  SampleCell cell = Cell(kNoStack, 1);
  buffer.Add(-5, {&cell, 1});
  EXPECT_EQ(buffer.Rows()[0].bucket, 0);
}

// Commits while the run goes on, through several doublings: every bucket holds exactly the samples
// of its time.
TEST(BucketsTest, StoredBucketsAreMergedPairwise) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun());
  ASSERT_TRUE(writer);
  (*writer)->AddThread({(*writer)->AddProcess({}), 1, "t", true, 0});
  FunctionId function = (*writer)->AddFunction({"/p/a.py", "f", "f", 1, true});
  StackId stacks[] = {(*writer)->AddStack({kNoStack, function, {.line = 1}}),
                      (*writer)->AddStack({kNoStack, function, {.line = 2}})};
  std::map<int64_t, uint64_t> by_second[2];
  for (int64_t second = 0; second < 400; ++second) {
    for (int64_t tenth = 0; tenth < 10; ++tenth) {
      auto which = static_cast<size_t>((second / 50 + tenth) % 2);
      SampleCell cell = Cell(stacks[which], static_cast<uint64_t>(second % 7 + 1));
      (*writer)->AddSamples(second * kSecond + tenth * kSecond / 10,
                            second * kSecond + (tenth + 1) * kSecond / 10, {&cell, 1});
      by_second[which][second] += cell.count;
    }
    if (second % 3 == 0) {
      ASSERT_TRUE((*writer)->Commit());
    }
  }
  ASSERT_TRUE((*writer)->Finish(FixtureEnd()));

  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader);
  ASSERT_EQ((*reader)->bucket_width_ns(), 800'000'000);
  std::map<int64_t, uint64_t> expected[2], seen[2];
  // Four seconds are five buckets: compare at that grain.
  for (size_t which : {0, 1})
    for (const auto& [second, count] : by_second[which]) expected[which][second / 4] += count;
  size_t rows = 0;
  Status status = (*reader)->ForEachSample([&](const SampleRow& row) {
    ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
      seen[row.cell.stack][bucket / 5] += cost.samples;
    });
    EXPECT_EQ(row.cell.wall_ns, static_cast<int64_t>(row.cell.count) * 10);
    ++rows;
  });
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(seen[0], expected[0]);
  EXPECT_EQ(seen[1], expected[1]);
  EXPECT_LE(rows, 1000u);
}

}  // namespace
}  // namespace linescope
