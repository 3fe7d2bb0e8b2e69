#pragma once
#include <string>

#include "base/result.h"

namespace linescope {

// The one process that has the regular expression `pattern` in its command line, other than
// ourselves and what we were started by: a shell or sudo has the pattern in its own command line.
// kGone: there is none; kUsage: `pattern` is none, or there are several, which the message lists.
Result<int> FindProcessByName(const std::string& pattern);

// After an error about process `pid`: says where a container's process of that id is found here, if
// there is one.
void PrintPidHint(int pid);

}  // namespace linescope
