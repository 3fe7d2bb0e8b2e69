#pragma once
// A process has an id in its own pid namespace and in each above it. Ours must be one of those, and
// /proc must show ours.
#include <string>
#include <vector>

#include "base/result.h"

namespace linescope {

// Fails with kDenied, and says what to do, when /proc is not mounted or is that of another pid
// namespace: its numbers would then name other processes than system calls do.
Status CheckProc();

// The ids of `pid` from our namespace down to its own; just `pid` when it lives in ours, or cannot
// be asked.
std::vector<int> NamespacePids(int pid);

// "4711 (12 in its own pid namespace)" of what NamespacePids gives.
std::string DescribePid(int pid, const std::vector<int>& pids);

// For a message about an id that did not lead to the process that was meant: where a process that
// is called so in a namespace of its own is found here. Empty: there is none.
std::string WrongPidHint(int pid);

}  // namespace linescope
