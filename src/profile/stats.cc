#include "profile/stats.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace linescope {
namespace {

const Cost& Ranked(const Cost& self, const Cost& project, const Cost& inclusive, RankBy by) {
  switch (by) {
    case RankBy::kSelf:
      return self;
    case RankBy::kInclusive:
      return inclusive;
    case RankBy::kProject:
      break;
  }
  return project;
}

// `Row` is RankedLine or RankedFunction; `in_project` and `place` (what orders ties) see its stats.
template <class Row, class Stats, class InProject, class Place>
std::vector<Row> Rank(const Profile& profile, const std::vector<Stats>& all,
                      const RankOptions& options, InProject in_project, Place place) {
  std::vector<Row> rows;
  for (const Stats& stats : all) {
    const Cost& cost = Ranked(stats.self, stats.project, stats.inclusive, options.by);
    if (cost.samples == 0 || (options.project_only && !in_project(stats))) continue;
    rows.push_back({&stats, profile.Time(cost), cost.samples, ShareOfTotal(profile, cost)});
  }
  auto before = [&](const Row& a, const Row& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    if (a.samples != b.samples) return a.samples > b.samples;
    return place(*a.stats) < place(*b.stats);
  };
  auto middle = rows.begin() + static_cast<std::ptrdiff_t>(std::min(options.limit, rows.size()));
  std::partial_sort(rows.begin(), middle, rows.end(), before);
  rows.erase(middle, rows.end());
  return rows;
}

}  // namespace

double ShareOfTotal(const Profile& profile, const Cost& part) {
  int64_t total = profile.Time(profile.total);
  return total > 0 ? static_cast<double>(profile.Time(part)) / static_cast<double>(total) : 0;
}

std::vector<RankedLine> TopLines(const Profile& profile, const RankOptions& options) {
  return Rank<RankedLine>(
      profile, profile.lines, options, [](const LineStats& line) { return line.in_project; },
      [](const LineStats& line) { return std::tuple(line.file, line.line); });
}

std::vector<RankedFunction> TopFunctions(const Profile& profile, const RankOptions& options) {
  return Rank<RankedFunction>(
      profile, profile.function_stats, options,
      [&](const FunctionStats& stats) { return profile.functions[stats.function].in_project; },
      [&](const FunctionStats& stats) {
        const FunctionInfo& function = profile.functions[stats.function];
        return std::tuple(stats.file, function.first_line,
                          std::string_view(function.qualified_name));
      });
}

}  // namespace linescope
