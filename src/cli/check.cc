#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "base/unique_fd.h"
#include "cli/arguments.h"
#include "cli/budget_file.h"
#include "cli/commands.h"
#include "cli/compare_options.h"
#include "cli/compared_run.h"
#include "cli/exit_codes.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "compare/budget.h"
#include "compare/presentation.h"
#include "profile/atomic_file.h"
#include "report/format.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    "check [options] PROFILE",
    R"(A gate for continuous integration: ends with 1 when the profile is over a budget,
or slower than a baseline, and says which lines and functions are. PROFILE and
BASE are stored profiles, or reports that LineScope wrote.

A limit is a time (1.5, 500ms, "2 min") or a share of the run (10%). A change
against a baseline counts only when it is more than sampling alone may make.)",
    R"(A budget file is TOML (or JSON with the same names):
  time = "30 s"                     the whole run
  [each]                            every single
  line = "20%"                      line (or function, or file)
  [functions]
  "Reader.read" = "500 ms"          also "pkg/io.py:Reader.read"
  [lines]
  "pkg/io.py:84" = 0.2              seconds
  [files]
  "pkg/io.py" = "40%"

Examples:
  linescope check app.linescope --max-time 30s --max-line 20%
  linescope check app.linescope --budget budget.toml --markdown summary.md
  linescope check app.linescope --baseline main.linescope --fail-above 10%

Exit status: 0 all is well, 1 over; anything else as linescope --help says.)"};

constexpr char kLimits[] = "Limits";
constexpr char kResults[] = "Results";
constexpr size_t kRows = 50;
// Of the job that runs on GitHub: text appended to it is shown on the job's page.
constexpr char kSummaryVariable[] = "GITHUB_STEP_SUMMARY";

struct CheckOptions {
  std::string profile, budget_file, baseline, markdown;
  std::vector<BudgetEntry> budget;
  RegressionOptions regression;
  CompareOptions compare;
  bool regression_asked = false;
  bool summary = false, json = false, quiet = false;
};

void AddLimit(CLI::App& app, const char* name, const char* what, BudgetScope scope,
              CheckOptions* options) {
  AddValue(app, {name, "LIMIT", what, kLimits},
           [scope, options](const std::string& text) -> std::string {
             const std::optional<Limit> limit = ParseLimit(text);
             if (!limit) return "is no limit: give a time (1.5, 500ms, 2m) or a share (10%)";
             options->budget.push_back({scope, "", *limit});
             return "";
           });
}

void AddShare(CLI::App& app, const OptionText& text, double* share, bool* given) {
  AddValue(app, text, [share, given](const std::string& value) -> std::string {
    const std::optional<Limit> limit = ParseLimit(value);
    if (!limit || !limit->share) return "is no percentage: write 10%";
    *share = *limit->share;
    *given = true;
    return "";
  });
}

void AddCheckOptions(CLI::App& app, CheckOptions* options) {
  app.add_option("PROFILE", options->profile, "a .linescope file or a report")->required();
  AddText(app, {"--budget", "FILE", "limits from a file, see below", kLimits},
          &options->budget_file);
  AddLimit(app, "--max-time", "on the whole run", BudgetScope::kTotal, options);
  AddLimit(app, "--max-line", "on every line of the project", BudgetScope::kEachLine, options);
  AddLimit(app, "--max-function", "on every function", BudgetScope::kEachFunction, options);
  AddLimit(app, "--max-file", "on every file", BudgetScope::kEachFile, options);
  AddText(app, {"--baseline", "BASE", "compare with this run", kLimits}, &options->baseline);
  AddShare(app,
           {"--fail-above", "PERCENT",
            "with --baseline: how much slower the run, a function or a line may be (default 10%)",
            kLimits},
           &options->regression.fail_above, &options->regression_asked);
  AddShare(app,
           {"--ignore-below", "PERCENT",
            "with --baseline: changes smaller than this share of the whole base are let pass "
            "(default 1%)",
            kLimits},
           &options->regression.ignore_below, &options->regression_asked);
  AddScaleOption(app, kLimits, &options->compare.scaling);
  AddText(app, {"--markdown", "FILE", "write a summary for people there", kResults},
          &options->markdown);
  AddFlag(app,
          {"--github-summary", "",
           "append that summary to the page of the GitHub job ($GITHUB_STEP_SUMMARY)", kResults},
          &options->summary);
  AddFlag(app, {"--json", "", "the result as JSON, for programs", kResults}, &options->json);
  AddFlag(app, {"--quiet,-q", "", "say nothing when all is well", kResults}, &options->quiet);
  AddHelpOption(app);
}

struct CheckResult {
  RunData run;
  BudgetResult budget;
  size_t limits = 0;
  std::optional<Comparison> comparison;
  std::vector<Regression> regressions;

  [[nodiscard]] bool over() const { return !budget.breaches.empty() || !regressions.empty(); }
};

std::string WhatIsOver(const CheckResult& result) {
  std::string what;
  const auto add = [&](size_t count, const char* one, const char* many) {
    if (count == 0) return;
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(result.budget.breaches.size(), "limit exceeded", "limits exceeded");
  add(result.regressions.size(), "regression", "regressions");
  return what;
}

std::string WhatHolds(const CheckResult& result) {
  std::string text =
      fmt::format("{} took {}", result.run.title, FormatDuration(result.run.total.time_ns));
  if (result.limits > 0)
    text +=
        fmt::format("; {} {}", result.limits, result.limits == 1 ? "limit holds" : "limits hold");
  if (result.comparison) {
    const Change& total = result.comparison->total;
    text += fmt::format("; {} ({}) against the baseline{}", FormatDelta(total.delta_ns),
                        FormatRelative(total), total.noise ? ", within noise" : "");
  }
  return text;
}

const char* Or(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text.c_str();
}

std::string CheckText(const CheckResult& result, const Terminal& terminal) {
  if (!result.over()) return "ok: " + Printable(WhatHolds(result)) + "\n";
  using Align = TextTable::Align;
  std::string out = "over: " + WhatIsOver(result) + "\n";
  if (!result.budget.breaches.empty()) {
    TextTable table({{"Time", Align::kRight},
                     {"Limit", Align::kRight},
                     {"", Align::kLeft},
                     {"Location", Align::kLeft},
                     {"", Align::kLeft}});
    for (const Breach& breach : result.budget.breaches)
      table.AddRow({FormatDuration(breach.measured.time_ns), breach.limit, ScopeName(breach.scope),
                    Or(breach.place, "(all)"), breach.text});
    out += "\n" + table.Format(terminal, 2);
  }
  if (!result.regressions.empty()) {
    TextTable table({{"Diff", Align::kRight},
                     {"Relative", Align::kRight},
                     {"Base", Align::kRight},
                     {"New", Align::kRight},
                     {"", Align::kLeft},
                     {"Location", Align::kLeft},
                     {"", Align::kLeft}});
    for (const Regression& regression : result.regressions)
      table.AddRow({"▲ " + FormatDelta(regression.change.delta_ns),
                    FormatRelative(regression.change),
                    FormatDuration(regression.change.base.time_ns),
                    FormatDuration(regression.change.now_scaled_ns), ScopeName(regression.scope),
                    Or(regression.place, "(all)"), regression.text});
    out += "\n" + table.Format(terminal, 2);
  }
  return out;
}

std::string CheckMarkdown(const CheckResult& result) {
  std::string out = fmt::format("## LineScope check: {}\n\n", result.over() ? "over" : "ok");
  out += result.over()
             ? fmt::format("**{}** in {}.\n", WhatIsOver(result), MarkdownText(result.run.title))
             : MarkdownText(WhatHolds(result)) + ".\n";
  if (!result.budget.breaches.empty()) {
    out += "\n| Time | Limit | | Location | |\n|---:|---:|---|---|---|\n";
    for (const Breach& breach : result.budget.breaches)
      out += fmt::format("| {} | {} | {} | {} | {} |\n", FormatDuration(breach.measured.time_ns),
                         breach.limit, ScopeName(breach.scope), MarkdownText(breach.place),
                         MarkdownCode(breach.text));
  }
  if (!result.regressions.empty()) {
    out += "\n| Diff | Relative | Base | New | | Location | |\n|---:|---:|---:|---:|---|---|---|\n";
    for (const Regression& regression : result.regressions)
      out += fmt::format(
          "| ▲ {} | {} | {} | {} | {} | {} | {} |\n", FormatDelta(regression.change.delta_ns),
          FormatRelative(regression.change), FormatDuration(regression.change.base.time_ns),
          FormatDuration(regression.change.now_scaled_ns), ScopeName(regression.scope),
          MarkdownText(regression.place), MarkdownCode(regression.text));
  }
  if (result.comparison) out += "\n" + ComparisonMarkdown(*result.comparison, kRows);
  return out;
}

std::string CheckJson(const CheckResult& result) {
  JsonWriter json;
  json.BeginObject().Field("format", 1).Field("linescope", kVersion);
  json.Field("ok", !result.over()).Field("title", result.run.title);
  json.Field("total_ns", result.run.total.time_ns).Field("limits", uint64_t{result.limits});
  json.Key("breaches").BeginArray();
  for (const Breach& breach : result.budget.breaches) {
    json.BeginObject().Field("scope", ScopeName(breach.scope)).Field("place", breach.place);
    json.Field("text", breach.text).Field("time_ns", breach.measured.time_ns);
    json.Field("samples", breach.measured.samples).Field("allowed_ns", breach.allowed_ns);
    json.Field("limit", breach.limit).EndObject();
  }
  json.EndArray().Key("regressions").BeginArray();
  for (const Regression& regression : result.regressions) {
    const Change& change = regression.change;
    json.BeginObject().Field("scope", ScopeName(regression.scope));
    json.Field("place", regression.place).Field("text", regression.text);
    json.Field("base_ns", change.base.time_ns).Field("new_ns", change.now.time_ns);
    json.Field("new_scaled_ns", change.now_scaled_ns).Field("delta_ns", change.delta_ns);
    json.Field("relative", change.relative()).Field("p", change.chance).EndObject();
  }
  json.EndArray().List("warnings", result.budget.warnings).EndObject();
  return std::move(json).Take() + "\n";
}

Status Append(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  while (file && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (file && text.empty()) return {};
  return Fail(ErrorCode::kIo, "cannot write the job's summary '{}': {}", Printable(path),
              ErrnoText());
}

Result<CheckResult> Check(CheckOptions& options) {
  if (!options.budget_file.empty()) {
    LS_TRY(entries, ReadBudgetFile(options.budget_file));
    options.budget.insert(options.budget.end(), entries.begin(), entries.end());
  }
  if (options.budget.empty() && options.baseline.empty())
    return Fail(ErrorCode::kUsage,
                "there is nothing to check against: give limits (--max-time, --max-line, …), a "
                "--budget file, or a --baseline");
  if (options.baseline.empty() && options.regression_asked)
    return Fail(ErrorCode::kUsage, "--fail-above and --ignore-below need a --baseline");
  LS_TRY(run, LoadComparedRun(options.profile));
  CheckResult result;
  result.limits = options.budget.size();
  result.budget = CheckBudget(run.data, options.budget);
  if (!options.baseline.empty()) {
    LS_TRY(base, LoadComparedRun(options.baseline));
    LS_TRY(comparison, Compare(std::move(base.data), run.data, options.compare));
    result.regressions = FindRegressions(comparison, options.regression);
    result.comparison = std::move(comparison);
  }
  result.run = std::move(run.data);
  return result;
}

Status Present(const CheckOptions& options, const CheckResult& result) {
  for (const std::string& warning : result.budget.warnings) PrintWarning(warning);
  if (!options.markdown.empty() || options.summary) {
    const std::string markdown = CheckMarkdown(result);
    if (!options.markdown.empty()) LS_CHECK_OK(WriteFileAtomically(options.markdown, markdown));
    if (options.summary) {
      const char* page = std::getenv(kSummaryVariable);
      if (page == nullptr || *page == '\0')
        return Fail(ErrorCode::kUsage,
                    "--github-summary: ${} is not set; on other systems write the summary with "
                    "--markdown FILE",
                    kSummaryVariable);
      LS_CHECK_OK(Append(page, markdown));
    }
  }
  if (options.quiet && !result.over() && !options.json) return {};
  if (!WriteStdout(options.json ? CheckJson(result)
                                : CheckText(result, DescribeTerminal(STDOUT_FILENO))))
    return Fail(ErrorCode::kIo, "cannot write to standard output: {}", ErrnoText());
  return {};
}

}  // namespace

int CheckMain(const Arguments& arguments) {
  CheckOptions options;
  CLI::App app("", "check");
  AddCheckOptions(app, &options);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  const auto fail = [](const Error& error) -> int {
    if (error.code == ErrorCode::kUsage) return ReportUsageError("check", error.what);
    PrintError(error.what);
    return ExitCodeFor(error.code);
  };
  const auto result = Check(options);
  if (!result) return fail(result.error());
  if (const Status presented = Present(options, *result); !presented)
    return fail(presented.error());
  return result->over() ? kExitOver : kExitOk;
}

}  // namespace linescope
