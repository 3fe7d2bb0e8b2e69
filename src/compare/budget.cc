#include "compare/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "report/format.h"

namespace linescope {
namespace {

struct Unit {
  std::string_view name;
  double ns;
};
constexpr Unit kUnits[] = {{"ns", 1},  {"us", 1e3},   {"µs", 1e3}, {"ms", 1e6},
                           {"s", 1e9}, {"min", 6e10}, {"m", 6e10}, {"h", 3.6e12}};

struct Section {
  std::string_view prefix;
  BudgetScope scope;
};
constexpr Section kSections[] = {{"files.", BudgetScope::kFile},
                                 {"functions.", BudgetScope::kFunction},
                                 {"lines.", BudgetScope::kLine}};
constexpr Section kSingle[] = {{"time", BudgetScope::kTotal},
                               {"each.file", BudgetScope::kEachFile},
                               {"each.function", BudgetScope::kEachFunction},
                               {"each.line", BudgetScope::kEachLine}};

std::string_view Stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Whether a budget's `name` means the file: its place, or the end of it in whole parts.
bool MeansFile(std::string_view name, const RunFile& file) {
  for (const std::string* path : {&file.place, &file.path}) {
    if (*path == name) return true;
    if (path->size() > name.size() && path->ends_with(name) && !name.empty() &&
        (*path)[path->size() - name.size() - 1] == '/')
      return true;
  }
  return false;
}

class BudgetChecker {
 public:
  BudgetChecker(const RunData& run, const BudgetEntry& entry, BudgetResult& result)
      : run_(run), entry_(entry), result_(result) {}

  void Check() && {
    switch (entry_.scope) {
      case BudgetScope::kTotal:
        known_ = true;
        Add("", "", run_.total);
        break;
      case BudgetScope::kEachFile:
      case BudgetScope::kFile:
        CheckFiles();
        break;
      case BudgetScope::kEachFunction:
      case BudgetScope::kFunction:
        CheckFunctions();
        break;
      case BudgetScope::kEachLine:
      case BudgetScope::kLine:
        CheckLines();
        break;
    }
    if (!known_ && !entry_.name.empty()) {
      result_.warnings.push_back(
          fmt::format("the budget names the {} '{}', which is not in the profile",
                      ScopeName(entry_.scope), entry_.name));
    }
  }

 private:
  void Add(std::string place, std::string text, const RunCost& cost) {
    const double whole = static_cast<double>(run_.total.time_ns);
    const int64_t allowed =
        entry_.limit.time_ns ? *entry_.limit.time_ns : std::llround(*entry_.limit.share * whole);
    if (cost.time_ns <= allowed) return;
    result_.breaches.push_back(
        {entry_.scope, std::move(place), std::move(text), cost, allowed, LimitText(entry_.limit)});
  }

  void CheckFiles() {
    for (const RunFile& file : run_.files) {
      if (entry_.scope == BudgetScope::kFile && !MeansFile(entry_.name, file)) continue;
      known_ = true;
      Add(file.place, "", file.cost);
    }
  }

  void CheckFunctions() {
    const size_t colon = entry_.name.rfind(".py:");
    const std::string name =
        colon == std::string::npos ? entry_.name : entry_.name.substr(colon + 4);
    const std::string file_name =
        colon == std::string::npos ? "" : entry_.name.substr(0, colon + 3);
    for (const RunFunction& function : run_.functions) {
      const RunFile& file = run_.files[function.file];
      if (entry_.scope == BudgetScope::kFunction &&
          (function.name != name || (!file_name.empty() && !MeansFile(file_name, file))))
        continue;
      known_ = true;
      Add(fmt::format("{}:{}", file.place, function.line), function.name, function.cost);
    }
  }

  void CheckLines() {
    const size_t colon = entry_.name.rfind(':');
    const std::string file_name = entry_.name.substr(0, colon);
    uint32_t number = 0;
    if (entry_.scope == BudgetScope::kLine) {
      const std::string digits = colon == std::string::npos ? "" : entry_.name.substr(colon + 1);
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
    }
    for (const RunFile& file : run_.files) {
      const bool meant = entry_.scope == BudgetScope::kEachLine || MeansFile(file_name, file);
      if (!meant) continue;
      known_ |= number > 0 && (!file.has_source || number <= file.text.size());
      for (const RunLine& line : file.lines) {
        if (entry_.scope == BudgetScope::kLine && line.line != number) continue;
        known_ = true;
        const bool has_text = line.line >= 1 && line.line <= file.text.size();
        std::string text = has_text ? file.text[line.line - 1] : "";
        text.erase(0, std::min(text.find_first_not_of(" \t\f"), text.size()));
        Add(fmt::format("{}:{}", file.place, line.line), std::move(text), line.cost);
      }
    }
  }

  const RunData& run_;
  const BudgetEntry& entry_;
  BudgetResult& result_;
  bool known_ = false;
};

}  // namespace

std::optional<Limit> ParseLimit(std::string_view text) {
  text = Stripped(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = Stripped(text.substr(static_cast<size_t>(end - text.data())));
  if (unit == "%") return Limit{.time_ns = std::nullopt, .share = value / 100};
  for (const Unit& known : kUnits) {
    if (unit == known.name || (unit.empty() && known.name == "s")) {
      if (value * known.ns > 9e18) return std::nullopt;
      return Limit{.time_ns = std::llround(value * known.ns), .share = std::nullopt};
    }
  }
  return std::nullopt;
}

std::string LimitText(const Limit& limit) {
  return limit.time_ns ? FormatDuration(*limit.time_ns)
                       : fmt::format("{:.4g}% of the run", 100 * limit.share.value_or(0));
}

Result<BudgetEntry> BudgetEntryOf(const std::string& key, std::string_view text) {
  BudgetEntry entry;
  bool known = false;
  for (const Section& single : kSingle) {
    if (key != single.prefix) continue;
    entry.scope = single.scope;
    known = true;
  }
  for (const Section& section : kSections) {
    if (!key.starts_with(section.prefix) || key.size() == section.prefix.size()) continue;
    entry.scope = section.scope;
    entry.name = key.substr(section.prefix.size());
    known = true;
  }
  if (!known) {
    return Fail(ErrorCode::kUsage,
                "'{}' is nothing that a budget limits: there are time, each.file, each.function, "
                "each.line, and the tables files, functions and lines",
                key);
  }
  if (entry.scope == BudgetScope::kLine) {
    const size_t colon = entry.name.rfind(':');
    if (colon == std::string::npos || colon + 1 == entry.name.size() ||
        entry.name.find_first_not_of("0123456789", colon + 1) != std::string::npos)
      return Fail(ErrorCode::kUsage, "'{}' names no line: write \"file.py:84\"", entry.name);
  }
  const std::optional<Limit> limit = ParseLimit(text);
  if (!limit)
    return Fail(ErrorCode::kUsage,
                "{}: '{}' is no limit: give a time (1.5, \"500ms\", \"2 min\") or a share of the "
                "run (\"10%\")",
                key, text);
  entry.limit = *limit;
  return entry;
}

BudgetResult CheckBudget(const RunData& run, const std::vector<BudgetEntry>& budget) {
  BudgetResult result;
  for (const BudgetEntry& entry : budget) BudgetChecker(run, entry, result).Check();
  std::ranges::stable_sort(result.breaches, std::greater(), [](const Breach& breach) {
    return breach.measured.time_ns - breach.allowed_ns;
  });
  return result;
}

std::vector<Regression> FindRegressions(const Comparison& comparison,
                                        const RegressionOptions& options) {
  const double least = options.ignore_below * static_cast<double>(comparison.base.total.time_ns);
  const auto slower = [&](const Change& change) {
    return !change.noise && change.delta_ns > 0 && change.base.samples > 0 &&
           change.relative().value_or(0) > options.fail_above &&
           static_cast<double>(change.delta_ns) >= least;
  };
  std::vector<Regression> out;
  if (slower(comparison.total)) out.push_back({BudgetScope::kTotal, "", "", comparison.total});
  for (const FunctionChange& function : comparison.functions) {
    if (!function.base || !function.now || !slower(function.change)) continue;
    const RunFunction& now = comparison.now.functions[*function.now];
    out.push_back({BudgetScope::kFunction,
                   fmt::format("{}:{}", comparison.now.files[now.file].place, now.line),
                   NameOf(comparison, function), function.change});
  }
  for (const LineChange& line : comparison.lines) {
    if (!line.base_file || !line.now_file || !slower(line.change)) continue;
    out.push_back(
        {BudgetScope::kLine, PlaceOf(comparison, line), TextOf(comparison, line), line.change});
  }
  return out;
}

const char* ScopeName(BudgetScope scope) {
  switch (scope) {
    case BudgetScope::kTotal:
      return "run";
    case BudgetScope::kEachFile:
    case BudgetScope::kFile:
      return "file";
    case BudgetScope::kEachFunction:
    case BudgetScope::kFunction:
      return "function";
    case BudgetScope::kEachLine:
    case BudgetScope::kLine:
      return "line";
  }
  return "";
}

}  // namespace linescope
