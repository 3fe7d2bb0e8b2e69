#include "cli/budget_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/terminal.h"
#include "cli/toml.h"

namespace linescope {
namespace {

std::unexpected<Error> At(const std::string& place, const Error& error) {
  return std::unexpected(Error{error.code, place + ": " + error.what});
}

Result<std::vector<BudgetEntry>> ReadToml(const std::string& path, const std::string& text) {
  auto entries = ReadTomlTable(text, "");
  if (!entries)
    return At("'" + Printable(path) + "'", Error{ErrorCode::kUsage, entries.error().what});
  std::vector<BudgetEntry> budget;
  for (const TomlEntry& entry : *entries) {
    auto limit = BudgetEntryOf(entry.key, entry.value.text);
    if (!limit) return At(fmt::format("'{}', line {}", Printable(path), entry.line), limit.error());
    budget.push_back(*std::move(limit));
  }
  return budget;
}

Result<std::vector<BudgetEntry>> ReadJson(const std::string& path, const std::string& text) {
  auto budget = BudgetFromJson(text);
  if (!budget) return At("'" + Printable(path) + "'", budget.error());
  return budget;
}

}  // namespace

Result<std::vector<BudgetEntry>> ReadBudgetFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored))
    return Fail(ErrorCode::kIo, "cannot read the budget '{}': {}", Printable(path),
                file ? "it is a folder" : ErrnoText());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  LS_TRY(budget, std::filesystem::path(path).extension() == ".json" ? ReadJson(path, text)
                                                                    : ReadToml(path, text));
  if (budget.empty())
    return Fail(ErrorCode::kUsage, "the budget '{}' limits nothing", Printable(path));
  return budget;
}

}  // namespace linescope
