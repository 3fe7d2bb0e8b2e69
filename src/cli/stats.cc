#include "profile/stats.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/figures.h"
#include "cli/hot_tables.h"
#include "cli/open_profile.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/stats_json.h"
#include "cli/terminal.h"
#include "cli/thread_tables.h"
#include "report/format.h"
#include "report/outcome.h"

namespace linescope {
namespace {

const HelpText kHelp = {
    "stats [options] PROFILE",
    R"(Shows the hottest lines and functions of a stored profile, and what its threads
did: their CPU time, and shares of the time that they were watched.

The time of a line is that of the line itself and of the library code it calls;
what it spends in other lines of your own code counts there. --by self leaves
library code out, --by total includes everything that is called.)",
    R"(Examples:
  linescope stats linescope-app.linescope --limit 20
  linescope stats linescope-app.linescope --json | jq '.lines[0]')"};

constexpr size_t kDefaultLimit = 10;
constexpr char kOptions[] = "Options";

struct StatsOptions {
  std::string profile;
  RankOptions rank;
  bool all = false;
  bool json = false;
};

void AddStatsOptions(CLI::App& app, StatsOptions* options) {
  app.add_option("PROFILE", options->profile, "a .linescope file")->required();
  AddValue(app,
           {"-n,--limit", "N",
            "how many lines, functions and threads (default 10; with --json all)", kOptions},
           [options](const std::string& text) -> std::string {
             const char* last = text.data() + text.size();
             const auto [end, error] = std::from_chars(text.data(), last, options->rank.limit);
             const bool number = error == std::errc() && end == last && options->rank.limit > 0;
             return number ? "" : "is not a number from 1 on";
           });
  AddChoice<RankBy>(
      app, {"--by", "", "what they are ranked by: time (the default), self or total", kOptions},
      {{"time", RankBy::kProject}, {"self", RankBy::kSelf}, {"total", RankBy::kInclusive}},
      &options->rank.by);
  AddFlag(app, {"-a,--all", "", "library code too, not only your own", kOptions}, &options->all);
  AddFlag(app, {"--json", "", "everything as JSON, for programs", kOptions}, &options->json);
  AddHelpOption(app);
}

const char* TimeText(const RunInfo& run) {
  switch (WeightOf(run)) {
    case Weight::kCpu:
      return "time on a CPU";
    case Weight::kGil:
      return "time holding the GIL";
    case Weight::kActive:
      return "wall time of all threads that are not idle";
    case Weight::kWall:
      break;
  }
  return "wall time of all threads";
}

std::string Table(OpenedProfile& opened, const ThreadTimes& times, const RankOptions& rank,
                  const Terminal& terminal) {
  const RunInfo& run = opened.reader->run();
  const RunEnd& end = opened.reader->end();
  ReportModel facts;
  DescribeOutcome(*opened.reader, facts);
  const char* bold = terminal.colour ? "\x1b[1m" : "";
  const char* plain = terminal.colour ? "\x1b[0m" : "";
  std::string out =
      fmt::format("{}{}{}  {}", bold, Printable(run.title), plain, FormatDuration(end.elapsed_ns));
  if (facts.python_version) out += ", Python " + Printable(*facts.python_version);
  out += fmt::format(", {} samples", FormatCount(end.samples));
  if (facts.rate_reached)
    out += fmt::format(", {} of {} a second", FormatNumber(*facts.rate_reached),
                       FormatNumber(run.rate_hz));
  out += fmt::format(", {}\n", TimeText(run));
  if (!facts.outcome_text.empty()) out += Printable(facts.outcome_text) + "\n";
  const std::string lines = HotLinesTable(*opened.reader, opened.profile, rank, terminal);
  if (lines.empty()) {
    return out +
           (rank.project_only
                ? "\nNo sample fell on a line of your own code; --all shows library code too.\n"
                : "\nThere are no samples with Python code.\n") +
           ThreadTables(*opened.reader, times, rank.limit, terminal);
  }
  out += fmt::format("\n{}Lines{}\n{}", bold, plain, lines);
  out += fmt::format("\n{}Functions{}\n{}", bold, plain,
                     HotFunctionsTable(run, opened.profile, rank, terminal));
  return out + ThreadTables(*opened.reader, times, rank.limit, terminal);
}

}  // namespace

int StatsMain(const Arguments& arguments) {
  StatsOptions options;
  CLI::App app("", "stats");
  AddStatsOptions(app, &options);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  options.rank.project_only = !options.all;
  if (!options.json && options.rank.limit == SIZE_MAX) options.rank.limit = kDefaultLimit;
  auto opened = OpenProfile(options.profile);
  if (!opened) {
    PrintError(opened.error().what);
    return ExitCodeFor(opened.error().code);
  }
  const auto times = AddUpThreads(*opened->reader);
  if (!times) {
    PrintError(times.error().what);
    return ExitCodeFor(times.error().code);
  }
  const std::string text =
      options.json ? StatsJson(*opened, *times, options.rank)
                   : Table(*opened, *times, options.rank, DescribeTerminal(STDOUT_FILENO));
  if (!WriteStdout(text)) {
    PrintError(fmt::format("cannot write to standard output: {}", ErrnoText()));
    return kExitFile;
  }
  return kExitOk;
}

}  // namespace linescope
