#include "compare/significance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace linescope {
namespace {

using ::testing::ElementsAre;

// The same by adding up the binomial distribution.
double BySum(uint64_t base, uint64_t now, double p) {
  const uint64_t n = base + now;
  double at_most = 0, at_least = 0;
  for (uint64_t k = 0; k <= n; ++k) {
    const auto number = static_cast<double>(k), all = static_cast<double>(n);
    const double chance =
        std::exp(std::lgamma(all + 1) - std::lgamma(number + 1) - std::lgamma(all - number + 1) +
                 number * std::log(p) + (all - number) * std::log1p(-p));
    if (k <= now) at_most += chance;
    if (k >= now) at_least += chance;
  }
  return std::min(1.0, 2 * std::min(at_most, at_least));
}

TEST(ChanceOfDifferenceTest, IsTheBinomialTest) {
  for (const auto& [base, now] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 1}, {1, 0}, {5, 5}, {10, 0}, {0, 10}, {6, 11}, {100, 140}, {1000, 1001}, {3, 400}}) {
    for (const double weight : {0.5, 1.0, 3.0}) {
      EXPECT_NEAR(ChanceOfDifference(base, 1, now, weight), BySum(base, now, 1 / (1 + weight)),
                  1e-9)
          << base << " " << now << " " << weight;
    }
  }
}

TEST(ChanceOfDifferenceTest, KnownValues) {
  EXPECT_DOUBLE_EQ(ChanceOfDifference(0, 1, 0, 1), 1);
  EXPECT_NEAR(ChanceOfDifference(10, 1, 0, 1), 2.0 / 1024, 1e-12);
  EXPECT_NEAR(ChanceOfDifference(5, 1, 5, 1), 1, 1e-12);
  // Twice the rate gives twice the samples: no difference.
  EXPECT_GT(ChanceOfDifference(1000, 1e6, 2000, 0.5e6), 0.9);
  EXPECT_LT(ChanceOfDifference(1000, 1e6, 2000, 1e6), 1e-20);
  // Weights that are not known say nothing.
  EXPECT_DOUBLE_EQ(ChanceOfDifference(10, 0, 0, 1), 1);
  EXPECT_GE(ChanceOfDifference(1'000'000'000, 1, 1'000'100'000, 1), 0);
}

TEST(ChanceOfDifferenceTest, EqualRatesRarelyLookDifferent) {
  std::mt19937 random(5);
  int called = 0;
  constexpr int kRounds = 20'000;
  for (int i = 0; i < kRounds; ++i) {
    std::poisson_distribution<uint64_t> base(30), now(60);
    called += ChanceOfDifference(base(random), 2, now(random), 1) < 0.05 ? 1 : 0;
  }
  EXPECT_LT(called, kRounds * 0.05);
  EXPECT_GT(called, kRounds * 0.02);
}

TEST(DiscoveriesTest, JudgesChancesTogether) {
  EXPECT_THAT(Discoveries(std::vector<double>{}, 0.1), ElementsAre());
  // 0.04 is above 0.05 · 1/4, but 0.03 and 0.04 are not above 0.05 · 3/4.
  EXPECT_THAT(Discoveries(std::vector<double>{0.9, 0.03, 0.001, 0.035}, 0.05),
              ElementsAre(false, true, true, true));
  EXPECT_THAT(Discoveries(std::vector<double>{0.04, 0.9, 0.9, 0.9}, 0.05),
              ElementsAre(false, false, false, false));
}

}  // namespace
}  // namespace linescope
