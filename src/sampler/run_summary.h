#pragma once
// What is told of a run at its end, whether it was recorded or only looked at.
#include <string>
#include <vector>

#include "profile/model.h"
#include "sampler/batch.h"

namespace linescope {

// Batches must come in order.
class RunSummary {
 public:
  void Apply(const Batch& batch);
  void Add(const Diagnostic& diagnostic);

  [[nodiscard]] const SampleTotals& totals() const { return totals_; }
  // Each text once.
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Of all processes, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& python_versions() const { return versions_; }
  [[nodiscard]] size_t process_count() const { return is_python_.size(); }
  [[nodiscard]] size_t python_count() const;

 private:
  SampleTotals totals_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<std::string> versions_;
  std::vector<bool> is_python_;  // by the sampler's number of the process
};

}  // namespace linescope
