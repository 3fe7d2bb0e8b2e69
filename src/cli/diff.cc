#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/compare_options.h"
#include "cli/compared_run.h"
#include "cli/exit_codes.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "compare/comparison.h"
#include "compare/presentation.h"
#include "profile/atomic_file.h"
#include "report/format.h"
#include "report/report_writer.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    "diff [options] BASE NEW",
    R"(Compares two runs of a program: which lines and functions got slower, and which
faster. BASE and NEW are stored profiles, or reports that LineScope wrote. Lines
are matched through edits between the two versions of the source; functions and
files also where they were moved or renamed.

Samples are counts, and counts vary: a change that sampling alone may well have
made is noise. It is left out here (--all shows it, in brackets), and has no
colour in a report.)",
    R"(Examples:
  linescope diff before.linescope after.linescope
  linescope diff before.linescope after.linescope -o diff.html
  linescope diff before.html after.linescope --json | jq '.lines[0]')"};

constexpr char kOptions[] = "Options";
constexpr size_t kDefaultLimit = 15;

enum class DiffFormat { kText, kJson, kMarkdown, kHtml };

struct DiffOptions {
  std::string base, now, output;
  std::optional<DiffFormat> format;
  CompareOptions compare;
  size_t limit = kDefaultLimit;
  bool all = false;
  bool ai = true;
};

void AddDiffOptions(CLI::App& app, DiffOptions* options) {
  app.add_option("BASE", options->base, "a .linescope file or a report")->required();
  app.add_option("NEW", options->now, "the same, of the run to judge")->required();
  AddText(
      app,
      {"-o,--output", "FILE",
       "write to this file: .html is the report of NEW with a Diff column, .json, .md", kOptions},
      &options->output);
  AddChoice<DiffFormat>(
      app, {"-f,--format", "", "default: what the output's ending says, else text", kOptions},
      {{"text", DiffFormat::kText},
       {"json", DiffFormat::kJson},
       {"markdown", DiffFormat::kMarkdown},
       {"html", DiffFormat::kHtml}},
      &options->format);
  app.add_flag_function(
         "--json", [options](int64_t) { options->format = DiffFormat::kJson; },
         "the same as --format json")
      ->group(kOptions);
  AddValue(app,
           {"-n,--limit", "N", "how many lines and functions (default 15; JSON has all)", kOptions},
           [options](const std::string& text) -> std::string {
             const char* last = text.data() + text.size();
             const auto [end, error] = std::from_chars(text.data(), last, options->limit);
             const bool number = error == std::errc() && end == last && options->limit > 0;
             return number ? "" : "is not a number from 1 on";
           });
  AddFlag(app, {"-a,--all", "", "changes that are noise, too", kOptions}, &options->all);
  AddScaleOption(app, kOptions, &options->compare.scaling);
  AddAiOption(app, kOptions, &options->ai);
  AddHelpOption(app);
}

Result<DiffFormat> FormatFor(const DiffOptions& options) {
  if (options.format) return *options.format;
  if (options.output.empty()) return DiffFormat::kText;
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (ending == ".html") return DiffFormat::kHtml;
  if (ending == ".json") return DiffFormat::kJson;
  if (ending == ".md") return DiffFormat::kMarkdown;
  if (ending == ".txt") return DiffFormat::kText;
  return Fail(ErrorCode::kUsage,
              "cannot tell what to write to '{}': its ending is none of .html, .json, .md, .txt; "
              "or say --format",
              Printable(options.output));
}

// Orange and blue, which every kind of sight tells apart; noise is dim.
const char* StyleOf(const Change& change) {
  if (change.noise) return "2m";
  return change.delta_ns > 0 ? "38;5;208m" : "38;5;39m";
}

std::string DiffCell(const Change& change) {
  if (change.noise) return "(" + FormatDelta(change.delta_ns) + ")";
  return (change.delta_ns > 0 ? "▲ " : "▼ ") + FormatDelta(change.delta_ns);
}

template <class Rows, class Describe>
std::string Table(const char* heading, const char* what, const Rows& rows,
                  const DiffOptions& options, const Terminal& terminal, Describe describe) {
  using Align = TextTable::Align;
  TextTable table({{"Diff", Align::kRight},
                   {"Relative", Align::kRight},
                   {"Base", Align::kRight},
                   {"New", Align::kRight},
                   {"Location", Align::kLeft},
                   {what, Align::kLeft}});
  size_t shown = 0, noise = 0, more = 0;
  for (const auto& row : rows) {
    if (row.change.noise) ++noise;
    if (row.change.noise && !options.all) continue;
    if (shown == options.limit) {
      ++more;
      continue;
    }
    ++shown;
    const auto [place, text] = describe(row);
    table.AddRow(
        {DiffCell(row.change), FormatRelative(row.change), FormatDuration(row.change.base.time_ns),
         FormatDuration(row.change.now_scaled_ns), place, text},
        StyleOf(row.change));
  }
  std::string out = fmt::format("\n{}\n", heading);
  if (shown > 0) out += table.Format(terminal, 2);
  std::string rest;
  if (more > 0) rest = fmt::format("{} more", more);
  if (noise > 0 && !options.all)
    rest += fmt::format("{}{} within noise (--all)", rest.empty() ? "" : ", ", noise);
  if (shown == 0 && rest.empty()) rest = "no change";
  if (!rest.empty()) out += "  " + rest + "\n";
  return out;
}

std::string DiffText(const Comparison& comparison, const DiffOptions& options,
                     const Terminal& terminal) {
  const Change& total = comparison.total;
  std::string out =
      fmt::format("{} ({}) against {} ({})\n{} -> {}, {} ({}){}\n", Printable(comparison.now.title),
                  Printable(comparison.now.origin), Printable(comparison.base.title),
                  Printable(comparison.base.origin), FormatDuration(total.base.time_ns),
                  FormatDuration(total.now_scaled_ns), FormatDelta(total.delta_ns),
                  FormatRelative(total), total.noise ? ", within noise" : "");
  if (comparison.scaled) out += "Compared are " + ScaleText(comparison) + ".\n";
  for (const std::string& note : comparison.notes) out += "Note: " + Printable(note) + ".\n";
  out += Table("Lines", "Source", comparison.lines, options, terminal, [&](const LineChange& line) {
    const std::string history = HistoryOf(comparison, line);
    std::string place = PlaceOf(comparison, line);
    if (!history.empty()) place += " (" + history + ")";
    return std::pair(place, TextOf(comparison, line));
  });
  out += Table("Functions", "Function", comparison.functions, options, terminal,
               [&](const FunctionChange& function) {
                 const RunData& side = function.now ? comparison.now : comparison.base;
                 const RunFunction& shown =
                     side.functions[function.now ? *function.now : *function.base];
                 return std::pair(fmt::format("{}:{}", side.files[shown.file].place, shown.line),
                                  NameOf(comparison, function));
               });
  return out;
}

Status WriteDiffReport(ComparedRun& now, const Comparison& comparison, const std::string& path,
                       bool ai) {
  if (!now.model)
    return Fail(ErrorCode::kUsage,
                "a report can only be made from a profile, and '{}' is itself a report: name the "
                ".linescope file of the new run",
                Printable(comparison.now.origin));
  LS_CHECK_OK(CheckPlace(path, OutputFormat::kHtml));
  now.model->comparison = ComparisonColumn(comparison, *now.model);
  LS_TRY(html, ReportHtml(*now.model, {.ai = ai}));
  return WriteFileAtomically(path, html);
}

Status Run(const DiffOptions& options) {
  LS_TRY(format, FormatFor(options));
  if (format == DiffFormat::kHtml && options.output.empty())
    return Fail(ErrorCode::kUsage, "a report is a file: name it with --output");
  LS_TRY(base, LoadComparedRun(options.base));
  LS_TRY(now, LoadComparedRun(options.now));
  LS_TRY(comparison, Compare(std::move(base.data), std::move(now.data), options.compare));
  std::string text;
  switch (format) {
    case DiffFormat::kHtml:
      return WriteDiffReport(now, comparison, options.output, options.ai);
    case DiffFormat::kJson:
      text = ComparisonJson(comparison, kVersion);
      break;
    case DiffFormat::kMarkdown:
      text = ComparisonMarkdown(comparison, options.limit);
      break;
    case DiffFormat::kText:
      text = DiffText(comparison, options,
                      options.output.empty() ? DescribeTerminal(STDOUT_FILENO) : Terminal());
      break;
  }
  if (!options.output.empty()) return WriteFileAtomically(options.output, text);
  if (!WriteStdout(text))
    return Fail(ErrorCode::kIo, "cannot write to standard output: {}", ErrnoText());
  return {};
}

}  // namespace

int DiffMain(const Arguments& arguments) {
  DiffOptions options;
  CLI::App app("", "diff");
  AddDiffOptions(app, &options);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  const Status done = Run(options);
  if (done) return kExitOk;
  if (done.error().code == ErrorCode::kUsage) return ReportUsageError("diff", done.error().what);
  PrintError(done.error().what);
  return ExitCodeFor(done.error().code);
}

}  // namespace linescope
