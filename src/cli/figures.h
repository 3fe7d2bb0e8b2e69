#pragma once
// Places and numbers as the terminal shows them; durations and shares are those of the report
// (report/format.h).
#include <string>
#include <vector>

#include "profile/model.h"

namespace linescope {

// A rate or another number without needless digits: "1000", "998.2".
std::string FormatNumber(double value);
// `name`, a file's, relative to the project's root, or to the run's working directory, where it
// lies below one of them.
std::string ShortPath(const std::string& name, const RunInfo& run);
// Words as a shell would read them, for one line.
std::string JoinCommand(const std::vector<std::string>& words);

}  // namespace linescope
