#include "compare/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace linescope {
namespace {

using ::testing::IsEmpty;
using Lines = std::vector<uint32_t>;

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  // From 0, less than `sides`.
  uint32_t Roll(uint32_t sides) { return static_cast<uint32_t>(engine_() % sides); }

 private:
  std::mt19937 engine_;
};

size_t LongestByTable(const Lines& a, const Lines& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;)
      best[i][j] = a[i] == b[j] ? best[i + 1][j + 1] + 1 : std::max(best[i + 1][j], best[i][j + 1]);
  }
  return best[0][0];
}

void ExpectCommon(const Lines& a, const Lines& b, const LinePairs& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_LT(pairs[i].first, a.size());
    ASSERT_LT(pairs[i].second, b.size());
    EXPECT_EQ(a[pairs[i].first], b[pairs[i].second]);
    if (i == 0) continue;
    EXPECT_LT(pairs[i - 1].first, pairs[i].first);
    EXPECT_LT(pairs[i - 1].second, pairs[i].second);
  }
}

TEST(CommonLinesTest, IsAsLongAsATableFinds) {
  Dice random(20261130);
  for (int round = 0; round < 20'000; ++round) {
    const uint32_t letters = 1 + random.Roll(6);
    Lines a(random.Roll(24)), b(random.Roll(24));
    for (uint32_t& line : a) line = random.Roll(letters);
    for (uint32_t& line : b) line = random.Roll(letters);
    const LinePairs pairs = CommonLines(a, b);
    ExpectCommon(a, b, pairs);
    ASSERT_EQ(pairs.size(), LongestByTable(a, b)) << "round " << round;
  }
}

TEST(CommonLinesTest, IsAsLongAsATableFindsForEditedTexts) {
  Dice random(7);
  for (int round = 0; round < 200; ++round) {
    Lines a(300);
    for (uint32_t& line : a) line = random.Roll(120);
    Lines b = a;
    for (int edit = 0; edit < 40; ++edit) {
      const auto at =
          static_cast<Lines::difference_type>(random.Roll(static_cast<uint32_t>(b.size())));
      switch (random.Roll(3)) {
        case 0:
          b.erase(b.begin() + at);
          break;
        case 1:
          b.insert(b.begin() + at, random.Roll(120));
          break;
        default:
          b[static_cast<size_t>(at)] = random.Roll(120);
      }
    }
    const LinePairs pairs = CommonLines(a, b);
    ExpectCommon(a, b, pairs);
    ASSERT_EQ(pairs.size(), LongestByTable(a, b)) << "round " << round;
  }
}

TEST(CommonLinesTest, WithoutEffortAnchorsOnLinesThatOccurOnce) {
  Dice random(3);
  for (int round = 0; round < 500; ++round) {
    Lines a(60), b;
    for (uint32_t i = 0; i < a.size(); ++i) a[i] = i;
    for (const uint32_t line : a) {
      if (random.Roll(4) != 0) b.push_back(line);
      if (random.Roll(4) == 0) b.push_back(1000 + random.Roll(100));
    }
    const LinePairs pairs = CommonLines(a, b, 0);
    ExpectCommon(a, b, pairs);
    EXPECT_EQ(pairs.size(), LongestByTable(a, b));
  }
}

TEST(CommonLinesTest, EndsOnLargeTextsThatHaveNothingInOrder) {
  Lines a(60'000), b;
  for (uint32_t i = 0; i < a.size(); ++i) a[i] = i;
  b.assign(a.rbegin(), a.rend());
  const LinePairs pairs = CommonLines(a, b, 1'000'000);
  ExpectCommon(a, b, pairs);
  EXPECT_EQ(pairs.size(), 1u);
}

class MovedRunsTest : public ::testing::Test {
 protected:
  std::vector<LineRun> Find(const Lines& base, const Lines& now,
                            std::vector<bool> base_taken = {}) {
    base_taken.resize(base.size());
    return MovedRuns(base, now, base_taken, std::vector<bool>(now.size()),
                     {.weight = weight_, .least = 30, .once = 10});
  }
  // Number 0 is the blank line; 1 to 9 weigh 12 each, 10 weighs 4.
  const Lines weight_ = {0, 12, 12, 12, 12, 12, 12, 12, 12, 12, 4};
};

TEST_F(MovedRunsTest, FindsABlockWhereverItWent) {
  const auto runs = Find({1, 2, 0, 3, 4, 5}, {4, 5, 1, 2, 0, 3});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].base, 0u);
  EXPECT_EQ(runs[0].now, 2u);
  EXPECT_EQ(runs[0].length, 4u);
  EXPECT_EQ(runs[1].base, 4u);
  EXPECT_EQ(runs[1].now, 0u);
  EXPECT_EQ(runs[1].length, 2u);
}

TEST_F(MovedRunsTest, OneCommonLineIsNoBlockUnlessItOccursOnce) {
  EXPECT_THAT(Find({1, 2, 1}, {3, 1, 4}), IsEmpty());
  EXPECT_EQ(Find({1, 2}, {3, 1, 4}).size(), 1u);
  EXPECT_THAT(Find({10, 2}, {3, 10, 4}), IsEmpty());
}

TEST_F(MovedRunsTest, LeavesWhatIsTakenAlone) {
  EXPECT_THAT(Find({1, 2, 3}, {1, 2, 3}, {true, true, true}), IsEmpty());
  const auto runs = Find({1, 2, 3, 4}, {1, 2, 3, 4}, {true, false, false, false});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].base, 1u);
  EXPECT_EQ(runs[0].length, 3u);
}

TEST_F(MovedRunsTest, NoLineIsInTwoRuns) {
  const auto runs = Find({1, 2, 3, 1, 2, 3}, {1, 2, 3});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].length, 3u);
}

}  // namespace
}  // namespace linescope
