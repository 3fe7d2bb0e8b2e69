#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/budget.h"

namespace linescope {

// The limits in a budget file, TOML or JSON by its ending (docs/comparing.md). Errors name the file
// and, in TOML, the line.
Result<std::vector<BudgetEntry>> ReadBudgetFile(const std::string& path);

}  // namespace linescope
