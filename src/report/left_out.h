#pragma once
// The code that ran but is not shown line by line, grouped by what it is part of: libraries, the
// standard library, what --exclude names. A profile holds the decision, not its reason, so the
// reason is read off the path.
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace linescope {

enum class LeftOutReason : uint8_t {
  kExcluded,         // --exclude names it
  kInstalled,        // in site-packages or dist-packages
  kStandardLibrary,  // in the interpreter's library folder
  kNoFile,           // "<frozen …>", "<string>"
  kNative,           // machine code
  kTask,             // the name of a task that frames stand on
  kOutside,          // somewhere else
  kRest,             // all groups that are not listed
};

struct LeftOut {
  std::string name = {};  // of the package, module, library or folder; empty: there is none
  LeftOutReason reason = LeftOutReason::kOutside;
  uint32_t files = 0;
  // While its own code ran. The project line that called it has this time, too.
  Cost cost = {};
};

// At most `most` groups by falling time, and after them one for all the rest.
std::vector<LeftOut> LeftOutCode(const Profile& profile, const RunInfo& run, size_t most = 40);

}  // namespace linescope
