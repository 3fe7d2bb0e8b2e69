#pragma once
// The outputs of a run that is still going on, each made by another LineScope process: the recorder
// has no time for it.
#include <vector>

#include "cli/outputs.h"

namespace linescope {

class ReportSoFar {
 public:
  // `ai` as in ReportOptions.
  ReportSoFar(const OutputPlan* plan, bool ai) : plan_(plan), ai_(ai) {}
  ReportSoFar(const ReportSoFar&) = delete;
  ReportSoFar& operator=(const ReportSoFar&) = delete;
  // Waits for those that are still at work: they would otherwise overwrite what the end of the run
  // writes.
  ~ReportSoFar() { Wait(); }

  // Begins to write all files of the plan from what the profile holds now. `pid` is the target's.
  // Says so on stderr, and why when it cannot.
  void Begin(int pid);
  void Wait();

 private:
  const OutputPlan* plan_;
  bool ai_;
  std::vector<int> writers_;  // processes
};

}  // namespace linescope
