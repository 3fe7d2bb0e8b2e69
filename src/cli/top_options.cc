#include "cli/top_options.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/option_types.h"
#include "cli/top_live.h"

namespace linescope {
namespace {

constexpr double kShortestInterval = 0.1;
constexpr double kLargestCount = 1e9;
constexpr char kView[] = "View";

std::optional<uint64_t> ParseCount(const std::string& text) {
  const auto number = ParseNumber(text);
  if (!number || *number < 1 || *number > kLargestCount) return std::nullopt;
  const auto count = static_cast<uint64_t>(*number);
  return static_cast<double>(count) == *number ? std::optional(count) : std::nullopt;
}

}  // namespace

void AddViewOptions(CLI::App& app, TopRun* run) {
  AddValue(app, {"--interval", "TIME", "between two pictures (default 1; at least 0.1)", kView},
           [run](const std::string& text) -> std::string {
             const auto seconds = ParseSeconds(text);
             if (!seconds || *seconds < kShortestInterval)
               return "is not a time of at least 0.1: give seconds, or a number with ms, s, m or h";
             run->interval_s = *seconds;
             return "";
           });
  AddChoice<TopTable>(app, {"--by", "", "what to begin with (default line)", kView},
                      {{"line", TopTable::kLines},
                       {"function", TopTable::kFunctions},
                       {"thread", TopTable::kThreads},
                       {"process", TopTable::kProcesses}},
                      &run->table);
  AddChoice<TopSort>(app, {"--sort", "", "the order to begin with (default time)", kView},
                     {{"time", TopSort::kTime},
                      {"self", TopSort::kSelf},
                      {"total", TopSort::kTotal},
                      {"name", TopSort::kName}},
                     &run->sort);
  AddFlag(app, {"--all-code", "", "begin with all code, not only your own", kView}, &run->all_code);
  AddText(app,
          {"--output-of-program", "FILE",
           "what the program prints goes to this file, and is not printed again", kView},
          &run->output_file);
  AddFlag(app, {"--batch,-b", "", "plain text instead of the view", kView}, &run->batch);
  AddValue(app, {"--count,-n", "N", "with --batch: end after so many tables", kView},
           [run](const std::string& text) -> std::string {
             const auto count = ParseCount(text);
             run->count = count.value_or(0);
             return count ? "" : "is not a number of tables";
           });
  AddValue(app, {"--rows", "N", "with --batch: rows of a table (default 20)", kView},
           [run](const std::string& text) -> std::string {
             const auto rows = ParseCount(text);
             run->rows = rows.value_or(0);
             return rows ? "" : "is not a number of rows";
           });
}

}  // namespace linescope
