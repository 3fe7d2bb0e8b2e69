#pragma once
#include <string>

#include "base/result.h"
#include "cli/outputs.h"
#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

// Writes one file made from a profile: a report, an export. A regular file appears under its name
// when it is whole, or not at all.
Status WriteOutput(ProfileReader& reader, const Profile& profile, const std::string& path,
                   OutputFormat format);

}  // namespace linescope
