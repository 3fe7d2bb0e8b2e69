#pragma once
// Ranked views of a profile for `linescope stats` and the report. Pure functions of the profile.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace linescope {

enum class RankBy : uint8_t { kProject, kSelf, kInclusive };

struct RankOptions {
  RankBy by = RankBy::kProject;
  size_t limit = SIZE_MAX;
  // Leaves out lines and functions that are not the project's.
  bool project_only = true;
};

struct RankedLine {
  const LineStats* stats = nullptr;  // into the profile
  int64_t time_ns = 0;
  uint64_t samples = 0;
  double share = 0;  // of the profile's total Time, 0 to 1; 0 when the total is 0
};

struct RankedFunction {
  const FunctionStats* stats = nullptr;
  int64_t time_ns = 0;
  uint64_t samples = 0;
  double share = 0;
};

// Most time first; ties by samples, then path and line. Rows without a sample are left out.
std::vector<RankedLine> TopLines(const Profile& profile, const RankOptions& options);
std::vector<RankedFunction> TopFunctions(const Profile& profile, const RankOptions& options);

// `part` of the profile's total Time, 0 to 1.
double ShareOfTotal(const Profile& profile, const Cost& part);

}  // namespace linescope
