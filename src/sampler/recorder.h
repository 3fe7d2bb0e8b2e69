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
  Recorder(ProfileWriter* writer, const SessionOptions* options, int64_t run_start_ns);

  // Adds everything in the batch; does not commit.
  void Apply(Batch& batch);
  void AddDiagnostic(const Diagnostic& diagnostic);
  // The first process has ended, at the latest by now. Its status, where the caller has it.
  void EndRoot(int64_t now_ns, std::optional<int> exit_code, std::optional<int> term_signal);

 private:
  struct Process {
    ProcessInfo info;
    ProcessId id = 0;
    int64_t start_unix_ns = 0;
    std::optional<int64_t> end_ns;
    std::optional<ThreadId> main_thread;
  };
  void Apply(const ProcessNews& news);
  void Apply(const PythonFound& python);
  ThreadId ThreadOf(const ThreadEvent& started);
  StackId StackOf(const StackTrie::Node& node);
  FunctionId FunctionOf(const CodeInfo& code);
  bool InProject(const CodeInfo& code);
  [[nodiscard]] int64_t Since(int64_t at_ns) const {
    return std::max<int64_t>(0, at_ns - start_ns_);
  }

  ProfileWriter* writer_;
  const SessionOptions* options_;
  int64_t start_ns_;
  std::vector<Process> processes_;     // by the sampler's number
  size_t root_ = 0;                    // the program that the first process runs now
  std::vector<FunctionId> functions_;  // by CodeId
  NativeNames names_;
  // By the registry's number, outermost first; empty: left out.
  std::vector<std::vector<std::pair<FunctionId, int32_t>>> native_;
  std::vector<StackId> stacks_;    // by NodeId
  std::vector<ThreadId> threads_;  // by the sampler's index
  std::unordered_map<std::string, bool> files_;
  std::vector<SampleCell> cells_;
  SampleTotals totals_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace linescope
