#include "cli/closing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/figures.h"
#include "report/format.h"

namespace linescope {
namespace {

// How the target ended, as far as that concerns the reader.
std::string Outcome(const ClosingFacts& facts, const RunEnd& end) {
  if (!end.error.empty()) return Printable(end.error);
  if (end.exit_code) return fmt::format("exit status {}", *end.exit_code);
  if (end.term_signal) return fmt::format("killed by signal {}", *end.term_signal);
  return facts.attached ? "still running" : "";
}

std::string DropReasons(const SessionResult& result) {
  std::string reasons;
  for (const auto& [reason, count] : result.drops) {
    if (count == 0 || reason == DropReason::kMissedTick) continue;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", DropReasonName(reason), count);
  }
  return reasons.empty() ? "" : " (" + reasons + ")";
}

}  // namespace

void PrintDiagnostics(const std::vector<Diagnostic>& diagnostics, bool verbose) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.level == "error") {
      PrintError(diagnostic.text);
    } else if (diagnostic.level == "warning") {
      PrintWarning(diagnostic.text);
    } else if (verbose) {
      PrintNote(diagnostic.text);
    }
  }
}

std::string ClosingBlock(const ClosingFacts& facts, const SessionResult& result,
                         const Terminal& terminal) {
  const char* bold = terminal.colour ? "\x1b[1m" : "";
  const char* red = terminal.colour ? "\x1b[1;31m" : "";
  const char* plain = terminal.colour ? "\x1b[0m" : "";
  std::string out = fmt::format("linescope: {}{}{}: {}", bold, Printable(facts.name), plain,
                                FormatDuration(result.end.elapsed_ns));
  const std::string outcome = Outcome(facts, result.end);
  const bool failed = !result.end.error.empty();
  if (!outcome.empty())
    out += fmt::format(", {}{}{}", failed ? red : "", outcome, failed ? plain : "");
  if (!result.python_versions.empty()) {
    out += fmt::format(", Python {}",
                       Printable(fmt::format("{}", fmt::join(result.python_versions, " and "))));
  }
  out += fmt::format("\n  samples: {}, missed: {}, dropped: {}{}\n", result.end.samples,
                     result.missed, result.dropped, DropReasons(result));
  out += fmt::format("  rate: {} of {} a second", FormatNumber(result.rate_reached_hz),
                     FormatNumber(facts.rate_asked_hz));
  if (!result.consistency_used.empty()) out += ", consistency: " + result.consistency_used;
  out += "\n";
  if (result.processes > 1) {
    out +=
        fmt::format("  processes: {}, of Python: {}\n", result.processes, result.python_processes);
  }
  for (const auto& [what, place] : facts.places)
    out += fmt::format("  {}: {}\n", what, Printable(place));
  return out;
}

}  // namespace linescope
