#include "compare/significance.h"

#include <math.h>  // lgamma_r

#include <algorithm>
#include <cmath>
#include <numeric>

namespace linescope {
namespace {

double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// The continued fraction of the incomplete beta function, by Lentz' method.
double BetaFraction(double a, double b, double x) {
  constexpr int kMostSteps = 100'000;
  constexpr double kTiny = 1e-300, kPrecision = 1e-14;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, b).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// P(X <= k) of a binomial distribution.
double AtMost(uint64_t k, uint64_t n, double p) {
  if (k >= n) return 1;
  return IncompleteBeta(static_cast<double>(n - k), static_cast<double>(k + 1), 1 - p);
}

}  // namespace

double ChanceOfDifference(uint64_t base, double base_weight, uint64_t now, double now_weight) {
  const uint64_t n = base + now;
  if (n == 0 || !(base_weight > 0) || !(now_weight > 0)) return 1;
  // Of places that cost the same, each side gets samples in inverse proportion to their weight.
  const double p = base_weight / (base_weight + now_weight);
  const double at_most = AtMost(now, n, p);
  const double at_least = now == 0 ? 1 : 1 - AtMost(now - 1, n, p);
  return std::clamp(2 * std::min(at_most, at_least), 0.0, 1.0);
}

std::vector<bool> Discoveries(std::span<const double> chances, double rate) {
  std::vector<size_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return chances[i]; });
  size_t found = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (chances[order[i]] <= rate * static_cast<double>(i + 1) / static_cast<double>(order.size()))
      found = i + 1;
  }
  std::vector<bool> out(chances.size());
  for (size_t i = 0; i < found; ++i) out[order[i]] = true;
  return out;
}

}  // namespace linescope
