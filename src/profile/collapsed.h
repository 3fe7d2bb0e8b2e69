#pragma once
// Export as collapsed (folded) stacks: one line a stack, `file:function:line;…;file:function:line
// count`, root first. Functions are qualified names and counts are samples. `;`, control characters
// and, in function names, `:` are replaced, so that every line can be split again. Lines of equal
// text are merged and sorted, so equal profiles give equal bytes.
#include <string>
#include <vector>

#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

// What stands before a stack's root frame.
enum class StackSplit : uint8_t {
  kAuto,     // as kThread where more than one process has threads, else as kNone
  kNone,     // nothing
  kProcess,  // `process PID (PROGRAM)`
  kThread,   // `thread NAME (TID)`; where more than one process has threads, ` of process PID`
};

// The text before the root frame for each thread; empty where there is none.
std::vector<std::string> SplitTitles(const ProfileReader& reader, StackSplit split);

// `titles` is SplitTitles, or empty for nothing before root frames. Stacks of zero samples (in mode
// cpu: threads that did not run) and of threads without Python frames are left out.
std::string CollapsedText(const Profile& profile, const std::vector<std::string>& titles);

}  // namespace linescope
