#pragma once
#include <memory>
#include <string>

#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

struct OpenedProfile {
  std::unique_ptr<ProfileReader> reader;
  Profile profile;
};

// For commands that show a stored profile. Says on stderr when it is not a finished one.
Result<OpenedProfile> OpenProfile(const std::string& path);

// What is said on stderr of a profile whose recording did not end.
void WarnUnfinished(const std::string& path);

}  // namespace linescope
