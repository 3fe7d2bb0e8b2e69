#pragma once
// Whether two counts of samples differ by more than chance makes them differ.
#include <cstdint>
#include <span>
#include <vector>

namespace linescope {

// The chance that two places of equal cost give counts at least as far apart: the exact conditional
// test of two Poisson rates (two-sided). `base_weight` and `now_weight` are what a sample stands
// for on each side, in the same unit. 1 when both counts are 0.
double ChanceOfDifference(uint64_t base, double base_weight, uint64_t now, double now_weight);

// By Benjamini and Hochberg: which of many chances may be called differences, when at most `rate`
// of those that are called so may be wrong on average.
std::vector<bool> Discoveries(std::span<const double> chances, double rate);

}  // namespace linescope
