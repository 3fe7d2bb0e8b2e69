#include <simdjson.h>

#include "compare/budget.h"

namespace linescope {
namespace {

Status AddEntries(const simdjson::dom::object& object, const std::string& prefix,
                  std::vector<BudgetEntry>& budget) {
  for (const auto& [key, value] : object) {
    const std::string name = prefix + std::string(key);
    simdjson::dom::object inner;
    if (value.get(inner) == simdjson::SUCCESS) {
      LS_CHECK_OK(AddEntries(inner, name + ".", budget));
      continue;
    }
    std::string_view text;
    const bool is_text = value.get(text) == simdjson::SUCCESS;
    LS_TRY(entry, BudgetEntryOf(name, is_text ? std::string(text) : simdjson::minify(value)));
    budget.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

Result<std::vector<BudgetEntry>> BudgetFromJson(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS)
    return Fail(ErrorCode::kUsage, "it is not a JSON object");
  std::vector<BudgetEntry> budget;
  LS_CHECK_OK(AddEntries(root, "", budget));
  return budget;
}

}  // namespace linescope
