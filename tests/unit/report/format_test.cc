#include "report/format.h"

#include <gtest/gtest.h>

namespace linescope {
namespace {

TEST(Format, DurationsHaveThreeDigitsInTheUnitThatFits) {
  const struct {
    int64_t ns;
    const char* text;
  } kCases[] = {
      {0, "0 ns"},
      {999, "999 ns"},
      {1000, "1.00 µs"},
      {12'345, "12.3 µs"},
      {999'499, "999 µs"},
      {999'500, "1.00 ms"},
      {9'994'000, "9.99 ms"},
      {9'996'000, "10.0 ms"},
      {99'960'000, "100 ms"},
      {1'500'000'000, "1.50 s"},
      {99'900'000'000, "99.9 s"},
      {99'960'000'000, "1.67 min"},
      {150'000'000'000, "2.50 min"},
      {6'000'000'000'000, "100 min"},
      {-2'500'000, "-2.50 ms"},
  };
  for (const auto& [ns, text] : kCases) EXPECT_EQ(FormatDuration(ns), text) << ns;
}

TEST(Format, CountsHaveSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(27'966'976), "27,966,976");
  EXPECT_EQ(FormatCount(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Format, ThereIsNoShareOfNothing) {
  EXPECT_EQ(FormatShare(1, 8), "12.5%");
  EXPECT_EQ(FormatShare(0, 8), "0.0%");
  EXPECT_EQ(FormatShare(0, 0), "–");
}

}  // namespace
}  // namespace linescope
