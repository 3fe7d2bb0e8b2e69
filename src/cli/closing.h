#pragma once
// The block that ends a run, on stderr. Programs read it too: `samples: N`, `missed: N` and
// `dropped: N` are plain digits.
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.h"
#include "sampler/session.h"

namespace linescope {

struct ClosingFacts {
  std::string name;  // what was profiled: "app.py", "pid 4711"
  bool attached = false;
  double rate_asked_hz = 0;
  std::vector<std::pair<std::string, std::string>> places;  // {"report", "linescope-app.html"}, …
};

// Warnings and errors on stderr; infos where `verbose`.
void PrintDiagnostics(const std::vector<Diagnostic>& diagnostics, bool verbose);

std::string ClosingBlock(const ClosingFacts& facts, const SessionResult& result,
                         const Terminal& terminal);

}  // namespace linescope
