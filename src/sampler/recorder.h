#pragma once
// The writer's side of a run: turns batches into rows of the profile.
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/writer.h"
#include "sampler/batch.h"
#include "sampler/session.h"

namespace linescope {

// One thread, the writer's. Batches must come in order.
class Recorder {
 public:
  Recorder(ProfileWriter* writer, const SessionOptions* options, int pid, int64_t run_start_ns);

  // Adds everything in the batch; does not commit.
  void Apply(const Batch& batch);
  // The process ended, or the run did. Adds the process also when no interpreter ever appeared in
  // it.
  void Finish(int64_t now_ns, std::optional<int> exit_code, std::optional<int> term_signal);

  [[nodiscard]] const SampleTotals& totals() const { return totals_; }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  void AddDiagnostic(const Diagnostic& diagnostic);
  [[nodiscard]] const std::string& python_version() const { return python_version_; }

 private:
  void StartProcess(const PythonFound* python, int64_t now_ns);
  FunctionId FunctionOf(const Code& code);
  bool InProject(const Code& code);
  [[nodiscard]] int64_t Since(int64_t at_ns) const {
    return std::max<int64_t>(0, at_ns - start_ns_);
  }

  ProfileWriter* writer_;
  const SessionOptions* options_;
  int pid_;
  int64_t start_ns_;
  int64_t process_start_unix_ns_ = 0;
  std::optional<ProcessId> process_;
  std::string python_version_;
  std::vector<FunctionId> functions_;  // by CodeId
  std::vector<StackId> stacks_;        // by NodeId
  std::vector<ThreadId> threads_;      // by the sampler's index
  std::unordered_map<std::string, bool> files_;
  std::vector<SampleCell> cells_;
  SampleTotals totals_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace linescope
