#pragma once
// `linescope top`: a run that is looked at instead of recorded.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/top_rank.h"
#include "source/scope.h"

namespace linescope {

struct TopRun {
  CollectOptions collect;
  std::vector<std::string> command;        // to launch; or
  std::optional<int> pid;                  // to attach to
  std::vector<std::string> shown_command;  // as the user would have typed it
  std::string title;                       // for people: "app.py", "pid 4711 (serve)"
  ScopeOptions scope;
  std::optional<std::string> code;  // the text of -c

  double interval_s = 1;
  TopTable table = TopTable::kLines;
  TopSort sort = TopSort::kTime;
  bool all_code = false;
  std::string output_file;  // for what the program prints; empty: kept until the view is left
  bool quiet = false;
  bool verbose = false;

  bool batch = false;  // plain text instead of a view
  uint64_t count = 0;  // of tables; 0: until the end
  size_t rows = 20;    // of a table
};

// Returns the exit status: for a launched program its own.
int WatchLive(const TopRun& run);

}  // namespace linescope
