#pragma once
// Where the profiled program imports its modules from, as far as a profile tells.
#include "profile/model.h"
#include "profile/profile.h"
#include "source/links.h"

namespace linescope {

ImportRoots ImportRootsOf(const Profile& profile, const RunInfo& run);

// A path as the interpreter has it, made absolute: scripts have that of the command line.
std::string AbsolutePath(const std::string& path, const RunInfo& run);

}  // namespace linescope
