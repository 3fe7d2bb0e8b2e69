// Rows of samples, joined in time and folded into callers: nothing is lost, and what changes over
// time still shows.
#include "profile/sample_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace linescope {
namespace {

constexpr int64_t kLater = 1000;  // a last bucket after all others

SampleRow Row(int64_t bucket, uint64_t count, StackId stack = 0, ThreadId thread = 0) {
  const auto n = static_cast<int64_t>(count);
  return {bucket, {thread, stack, ThreadState::kRunning, count, n * 10, n * 9}};
}

// (bucket, buckets, count) of each row.
std::vector<std::tuple<int64_t, int64_t, uint64_t>> Spans(const std::vector<SampleRow>& rows) {
  std::vector<std::tuple<int64_t, int64_t, uint64_t>> spans;
  for (const SampleRow& row : rows) spans.emplace_back(row.bucket, row.buckets, row.cell.count);
  return spans;
}
using Span = std::tuple<int64_t, int64_t, uint64_t>;
using ::testing::ElementsAre;

TEST(ForEachBucketTest, ThePartsAddUp) {
  SampleRow row = Row(3, 10);
  row.buckets = 4;
  row.cell.wall_ns = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> buckets;
  std::vector<uint64_t> samples;
  Cost sum;
  ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
    buckets.push_back(bucket);
    samples.push_back(cost.samples);
    sum += cost;
  });
  EXPECT_THAT(buckets, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(samples, ElementsAre(2u, 3u, 2u, 3u));
  EXPECT_EQ(sum, (Cost{10, std::numeric_limits<int64_t>::max(), 90}));
}

TEST(AddUpEqualRowsTest, OnlyRowsOfOneKeyAndBucket) {
  std::vector<SampleRow> rows = {Row(1, 4), Row(0, 1), Row(1, 2), Row(1, 8, 1), Row(1, 16, 0, 1)};
  rows[2].buckets = 3;
  AddUpEqualRows(rows);
  EXPECT_THAT(Spans(rows),
              ElementsAre(Span(0, 1, 1), Span(1, 3, 6), Span(1, 1, 8), Span(1, 1, 16)));
  EXPECT_EQ(rows[1].cell.wall_ns, 60);
}

TEST(WidenTest, CoversAllThatItCovered) {
  SampleRow row = Row(3, 1);
  row.buckets = 4;
  Widen(row, 2);
  EXPECT_EQ(row.bucket, 1);
  EXPECT_EQ(row.buckets, 3);
  Widen(row, 4);
  EXPECT_EQ(row.bucket, 0);
  EXPECT_EQ(row.buckets, 1);
}

TEST(JoinInTimeTest, WhatIsSteadyIsOneRow) {
  std::vector<SampleRow> rows;
  for (int64_t i = 0; i < 300; ++i) rows.push_back(Row(i, 7));
  JoinInTime(rows, 1e9, kLater);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 300, 2100)));
}

TEST(JoinInTimeTest, WhatIsRareIsOneRowFromItsFirstToItsLast) {
  std::vector<SampleRow> rows = {Row(10, 1), Row(340, 2), Row(0, 100'000, 1)};
  JoinInTime(rows, 1 << 14, kLater);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(10, 331, 3), Span(0, 1, 100'000)));
}

// A phase begins and ends where it did, in the midst of a row of steady ones.
TEST(JoinInTimeTest, WhatChangesStays) {
  std::vector<SampleRow> rows;
  for (int64_t i = 0; i < 256; ++i) rows.push_back(Row(i, i >= 96 && i < 128 ? 900 : 100));
  JoinInTime(rows, 1 << 14, kLater);
  std::map<int64_t, uint64_t> seen;
  for (const SampleRow& row : rows) {
    ForEachBucket(row, [&](int64_t at, const Cost& cost) { seen[at] += cost.samples; });
  }
  EXPECT_LT(rows.size(), 8u);
  for (int64_t i = 0; i < 256; ++i) EXPECT_EQ(seen[i], i >= 96 && i < 128 ? 900u : 100u) << i;
}

TEST(JoinSteadyBlocksTest, WhatAThreadDoesAllTheTimeIsOneRow) {
  std::vector<SampleRow> rows;
  for (int64_t i = 0; i < 12; ++i) rows.push_back(Row(i, static_cast<uint64_t>(9 + i % 3)));
  JoinSteadyBlocks(rows, 4, 12);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 4, 39), Span(4, 4, 40), Span(8, 4, 41)));
}

TEST(JoinSteadyBlocksTest, AnotherStackOrStateInABlockKeepsItsBuckets) {
  std::vector<SampleRow> rows = {Row(0, 9), Row(1, 9), Row(1, 1, 5), Row(2, 9), Row(3, 9)};
  JoinSteadyBlocks(rows, 2, 4);
  EXPECT_THAT(Spans(rows),
              ElementsAre(Span(0, 1, 9), Span(1, 1, 9), Span(1, 1, 1), Span(2, 2, 18)));
  rows = {Row(0, 9), Row(1, 9)};
  rows[1].cell.state = ThreadState::kWaiting;
  JoinSteadyBlocks(rows, 2, 4);
  EXPECT_EQ(rows.size(), 2u);
}

TEST(JoinSteadyBlocksTest, ThreadsThatBeginAndEndInABlockCoverWhatTheyLived) {
  std::vector<SampleRow> rows = {Row(2, 9), Row(3, 9), Row(0, 9, 0, 1), Row(1, 4, 0, 1)};
  JoinSteadyBlocks(rows, 8, 8);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 2, 13), Span(2, 2, 18)));
}

TEST(JoinSteadyBlocksTest, BucketsWithoutASampleStayWithoutOne) {
  std::vector<SampleRow> rows = {Row(0, 9), Row(2, 9), Row(3, 9)};
  JoinSteadyBlocks(rows, 4, 4);
  EXPECT_EQ(rows.size(), 3u);
}

TEST(JoinSteadyBlocksTest, BlocksThatHaveNotEndedAreLeftAlone) {
  std::vector<SampleRow> rows = {Row(5, 9), Row(4, 9), Row(1, 9), Row(0, 9)};
  JoinSteadyBlocks(rows, 4, 7);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 2, 18), Span(4, 1, 9), Span(5, 1, 9)));
}

// As after a failed commit, or when buckets became wider.
TEST(JoinSteadyBlocksTest, RowsThatReachIntoTheNextBlockStay) {
  std::vector<SampleRow> rows = {Row(2, 9), Row(3, 20), Row(5, 9)};
  rows[1].buckets = 2;
  JoinSteadyBlocks(rows, 4, 8);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(2, 1, 9), Span(3, 2, 20), Span(5, 1, 9)));
}

TEST(JoinInTimeTest, TheLastBucketIsLeftAlone) {
  std::vector<SampleRow> rows = {Row(0, 7), Row(1, 7), Row(2, 7), Row(3, 3)};
  JoinInTime(rows, 1, 3);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 3, 21), Span(3, 1, 3)));
}

// That a thread has many samples does not make another one's coarse.
TEST(JoinInTimeTest, PrecisionIsThatOfTheThread) {
  std::vector<SampleRow> rows = {Row(0, 90), Row(1, 10), Row(0, 100'000'000, 0, 1),
                                 Row(1, 100'000'000, 0, 1)};
  JoinInTime(rows, 100, kLater);
  EXPECT_THAT(Spans(rows), ElementsAre(Span(0, 1, 90), Span(1, 1, 10), Span(0, 2, 200'000'000)));
}

struct Sums {
  std::map<std::tuple<ThreadId, StackId, ThreadState>, Cost> by_key;
  explicit Sums(const std::vector<SampleRow>& rows) {
    for (const SampleRow& row : rows) {
      const SampleCell& cell = row.cell;
      by_key[{cell.thread, cell.stack, cell.state}] += {cell.count, cell.wall_ns, cell.cpu_ns};
    }
  }
  bool operator==(const Sums&) const = default;
};

std::vector<SampleRow> RandomRows(std::mt19937& random, uint32_t stacks) {
  std::vector<SampleRow> rows;
  for (int i = 0; i < 5'000; ++i) {
    const auto rank = static_cast<uint32_t>(random() % stacks);
    rows.push_back(Row(static_cast<int64_t>(random() % 600), random() % 9 + 1,
                       static_cast<StackId>(random() % (rank + 1)),
                       static_cast<ThreadId>(random() % 3)));
  }
  AddUpEqualRows(rows);
  return rows;
}

class RandomRowsTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomRowsTest, JoinToFitKeepsTheSumsAndTheNumber) {
  std::mt19937 random(GetParam());
  std::vector<SampleRow> rows = RandomRows(random, 100);
  const Sums before(rows);
  for (const int64_t most : {2'000, 700, 1}) {
    const double precision = JoinToFit(rows, most, 1 << 14, kLater);
    EXPECT_TRUE(Sums(rows) == before);
    if (precision > 1) {
      EXPECT_LE(static_cast<int64_t>(rows.size()), most);
    } else {
      EXPECT_EQ(rows.size(), before.by_key.size());
    }
    for (const SampleRow& row : rows) {
      EXPECT_GE(row.buckets, 1);
      EXPECT_LE(row.bucket + row.buckets, 600);
    }
  }
}

// In a tree in which n was called by n / 2.
TEST_P(RandomRowsTest, FoldingGoesFromTheRarestToTheirCallers) {
  std::mt19937 random(GetParam());
  std::vector<SampleRow> rows = RandomRows(random, 1'000);
  JoinInTime(rows, 1, kLater);
  const auto parent_of = [](StackId stack) { return stack == 0 ? kNoStack : stack / 2; };
  const auto samples = [&] {
    uint64_t sum = 0;
    for (const SampleRow& row : rows) sum += row.cell.count;
    return sum;
  };
  const uint64_t whole = samples();
  FoldRareStacks(rows, 150, kLater, parent_of);
  EXPECT_LE(rows.size(), 150u);
  EXPECT_GT(rows.size(), 20u);
  EXPECT_EQ(samples(), whole);
  std::map<StackId, uint64_t> own;
  for (const SampleRow& row : rows) own[row.cell.stack] += row.cell.count;
  uint64_t rarest = whole;
  for (const auto& [stack, count] : own) {
    if (stack != 0) rarest = std::min(rarest, count);
  }
  EXPECT_GT(rarest, 9u);  // nothing that rare was left while other stacks were folded
  FoldRareStacks(rows, 0, kLater, parent_of);
  ASSERT_EQ(rows.size(), 3u);  // the root, on each thread
  EXPECT_EQ(samples(), whole);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRowsTest, ::testing::Range(1u, 9u));

TEST(FoldRareStacksTest, ThreadsWithoutFramesStayApart) {
  std::vector<SampleRow> rows = {Row(0, 1, kNoStack), Row(0, 1, 0), Row(0, 1, 1)};
  AddUpEqualRows(rows);
  FoldRareStacks(rows, 1, kLater, [](StackId stack) { return stack == 1 ? StackId{0} : kNoStack; });
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cell.stack, kNoStack);
  EXPECT_EQ(rows[0].cell.count, 1u);
  EXPECT_EQ(rows[1].cell.count, 2u);
}

}  // namespace
}  // namespace linescope
