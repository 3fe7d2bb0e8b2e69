#pragma once
// Limits on a run's time, and what is over them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/comparison.h"
#include "compare/run_data.h"

namespace linescope {

// "500ms", "2 s", "1m", or "10%" of the run's time.
struct Limit {
  std::optional<int64_t> time_ns;
  std::optional<double> share;
};
// nullopt: neither of the two, or negative.
std::optional<Limit> ParseLimit(std::string_view text);
std::string LimitText(const Limit& limit);

enum class BudgetScope : uint8_t {
  kTotal,     // the whole run
  kEachFile,  // every single one of the project
  kEachFunction,
  kEachLine,
  kFile,  // those of a name
  kFunction,
  kLine,
};

struct BudgetEntry {
  BudgetScope scope = BudgetScope::kTotal;
  std::string name;  // "pkg/io.py", "Reader.read" or "pkg/io.py:Reader.read", "pkg/io.py:84"
  Limit limit;
};

// The entry that `key` of a budget file names: "time", "each.line", "lines.pkg/io.py:84", … Fails
// with kUsage, listing what there is.
Result<BudgetEntry> BudgetEntryOf(const std::string& key, std::string_view limit);

// The entries of a JSON object with the same names; numbers are seconds. Fails with kUsage.
Result<std::vector<BudgetEntry>> BudgetFromJson(const std::string& text);

// Something that is over its limit.
struct Breach {
  BudgetScope scope = BudgetScope::kTotal;
  std::string place;  // "pkg/io.py:84"; empty for the whole run
  std::string text;   // the line's source, the function's name
  RunCost measured;
  int64_t allowed_ns = 0;
  std::string limit;  // as it was given
};

struct BudgetResult {
  std::vector<Breach> breaches;       // most over its limit first
  std::vector<std::string> warnings;  // names that nothing in the profile has
};
BudgetResult CheckBudget(const RunData& run, const std::vector<BudgetEntry>& budget);

// Against a baseline.
struct RegressionOptions {
  double fail_above = 0.10;    // of the base's time there
  double ignore_below = 0.01;  // of the base's whole time: smaller changes are let pass
};
// What became slower by more than that, and by more than noise: the whole run, functions and lines
// that are in both runs. Code that is new is not slower than anything; it counts in what holds it.
struct Regression {
  BudgetScope scope = BudgetScope::kTotal;
  std::string place, text;
  Change change;
};
std::vector<Regression> FindRegressions(const Comparison& comparison,
                                        const RegressionOptions& options);

// "the run", "file", "function", "line".
const char* ScopeName(BudgetScope scope);

}  // namespace linescope
