#pragma once
// Export as collapsed (folded) stacks: one line a stack, `file:function:line;…;file:function:line
// count`, root first. Functions are qualified names and counts are samples. `;`, control characters
// and, in function names, `:` are replaced, so that every line can be split again. Lines of equal
// text are merged and sorted, so equal profiles give equal bytes.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

struct CollapsedOptions {
  // Puts `thread NAME (TID)` before the root frame.
  bool threads = false;
};

// Stacks of zero samples (in mode cpu: threads that did not run) and of threads without Python
// frames are left out.
std::string CollapsedText(const Profile& profile, const std::vector<ThreadRecord>& threads,
                          const CollapsedOptions& options);

// Writes to a temporary name beside `path` and renames it, so that no half-written file is left.
Status WriteCollapsed(const Profile& profile, const std::vector<ThreadRecord>& threads,
                      const CollapsedOptions& options, const std::filesystem::path& path);

}  // namespace linescope
