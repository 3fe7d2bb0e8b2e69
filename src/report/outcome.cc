#include "report/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>

#include "base/signal_name.h"

namespace linescope {
namespace {

std::string EndText(const RunEnd& end) {
  if (!end.error.empty()) return end.error;
  if (end.term_signal) return "killed by " + SignalName(*end.term_signal);
  if (end.exit_code && *end.exit_code != 0) return fmt::format("exit status {}", *end.exit_code);
  return {};
}

std::string ScopeText(const RunInfo& run) {
  std::string text =
      run.project_root.empty()
          ? "no project root was found"
          : fmt::format(
                "Python files under {}, without the standard library and installed packages",
                run.project_root);
  if (!run.includes.empty()) text += fmt::format("; also {}", fmt::join(run.includes, ", "));
  if (!run.excludes.empty()) text += fmt::format("; but not {}", fmt::join(run.excludes, ", "));
  return text;
}

// The process that the others descend from.
const ProcessRecord* RootProcess(const std::vector<ProcessRecord>& processes) {
  const auto root = std::ranges::find_if(processes, [](const auto& p) { return !p.parent; });
  return root == processes.end() ? nullptr : &*root;
}

// The root may be a shell or a wrapper; then the first interpreter in its tree speaks for the run.
std::optional<std::string> PythonVersion(const std::vector<ProcessRecord>& processes) {
  if (const ProcessRecord* root = RootProcess(processes); root && !root->python_version.empty())
    return root->python_version;
  for (const ProcessRecord& process : processes) {
    if (!process.python_version.empty()) return process.python_version;
  }
  return std::nullopt;
}

}  // namespace

std::string DropReasonText(const std::string& reason) {
  if (reason == DropReasonName(DropReason::kMissedTick)) return "the sampler woke up too late";
  if (reason == DropReasonName(DropReason::kUnreadable)) return "the frames could not be read";
  if (reason == DropReasonName(DropReason::kTorn)) return "the stack changed while it was read";
  if (reason == DropReasonName(DropReason::kThreadEnded))
    return "the thread ended while it was read";
  if (reason == DropReasonName(DropReason::kStarting)) return "the interpreter was still starting";
  return reason;
}

void DescribeOutcome(const ProfileReader& reader, ReportModel& model) {
  const RunEnd& end = reader.end();
  model.outcome_text = EndText(end);
  if (end.state != ProfileState::kComplete) {
    model.outcome = RunOutcome::kInterrupted;
    if (model.outcome_text.empty())
      model.outcome_text =
          "the recording had not ended when this was written: it was going on still, or had been "
          "cut off; everything recorded until then is shown";
  } else {
    model.outcome = model.outcome_text.empty() ? RunOutcome::kSuccess : RunOutcome::kFailed;
  }
  model.python_version = PythonVersion(reader.processes());
  model.rate_reached = end.rate_reached_hz;
  if (end.ticks_known) {
    const uint64_t due = std::max(end.ticks_due, end.ticks_taken);
    model.ticks = {.due = due, .taken = end.ticks_taken, .missed = due - end.ticks_taken};
    if (!model.rate_reached && end.elapsed_ns > 0) {
      model.rate_reached =
          static_cast<double>(end.ticks_taken) * 1e9 / static_cast<double>(end.elapsed_ns);
    }
  }
  model.scope = ScopeText(reader.run());
  for (const DropCount& drop : reader.drops()) {
    // Missed ticks are the difference of due and taken; they are no samples.
    if (drop.count > 0 && drop.reason != DropReasonName(DropReason::kMissedTick))
      model.drops.push_back({drop.reason, DropReasonText(drop.reason), drop.count});
  }
  std::ranges::sort(model.drops, [](const ReportDrop& a, const ReportDrop& b) {
    return std::tie(b.count, a.reason) < std::tie(a.count, b.reason);
  });
}

}  // namespace linescope
