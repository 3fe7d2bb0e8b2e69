#include "sampler/run_summary.h"

#include <algorithm>

namespace linescope {

void RunSummary::Add(const Diagnostic& diagnostic) {
  if (std::ranges::find(diagnostics_, diagnostic.text, &Diagnostic::text) == diagnostics_.end())
    diagnostics_.push_back(diagnostic);
}

void RunSummary::Apply(const Batch& batch) {
  for (const ProcessNews& news : batch.processes) {
    if (news.kind == ProcessNews::Kind::kStarted) is_python_.push_back(false);
  }
  for (const PythonFound& python : batch.pythons) {
    is_python_[python.process] = true;
    if (std::ranges::find(versions_, python.version) == versions_.end())
      versions_.push_back(python.version);
    for (const std::string& warning : python.warnings) Add({"warning", warning});
  }
  for (const Diagnostic& diagnostic : batch.diagnostics) Add(diagnostic);
  totals_ = batch.totals;
}

size_t RunSummary::python_count() const {
  return static_cast<size_t>(std::ranges::count(is_python_, true));
}

}  // namespace linescope
