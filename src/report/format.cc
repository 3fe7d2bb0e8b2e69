#include "report/format.h"

#include <fmt/format.h>

#include <cmath>

namespace linescope {
namespace {

struct Unit {
  double ns;
  const char* name;
};
// A value is given in the first unit in which it is less than `below`.
struct Step {
  Unit unit;
  double below;
};
constexpr Step kSteps[] = {
    {{1, "ns"}, 1e3}, {{1e3, "µs"}, 1e3}, {{1e6, "ms"}, 1e3}, {{1e9, "s"}, 100}};
constexpr Unit kMinutes = {60e9, "min"};

std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string FormatDuration(int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (std::abs(value) < 1e3) return fmt::format("{} ns", ns);
  for (const auto& [unit, below] : kSteps) {
    // What rounds up to the limit belongs to the next unit: 999.6 µs is 1.00 ms.
    const double in_unit = value / unit.ns;
    const double rounding = below >= 1e3 ? 0.5 : 0.05;
    if (std::abs(in_unit) < below - rounding)
      return fmt::format("{} {}", ThreeDigits(in_unit), unit.name);
  }
  return fmt::format("{} {}", ThreeDigits(value / kMinutes.ns), kMinutes.name);
}

std::string FormatCount(uint64_t count) {
  std::string text = fmt::format_int(count).str();
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string FormatShare(double part, double whole) {
  if (!(whole > 0)) return "–";
  return fmt::format("{:.1f}%", 100 * part / whole);
}

}  // namespace linescope
