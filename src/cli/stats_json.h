#pragma once
#include <string>

#include "cli/open_profile.h"
#include "profile/stats.h"
#include "profile/thread_times.h"

namespace linescope {

// What `stats --json` prints: one object on one line. Times are nanoseconds, shares 0 to 1,
// unavailable is null. Members are only ever added; "format" changes when one changes its meaning.
std::string StatsJson(OpenedProfile& opened, const ThreadTimes& times, const RankOptions& rank);

}  // namespace linescope
