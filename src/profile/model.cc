#include "profile/model.h"

#include <array>

namespace linescope {
namespace {

constexpr std::array<const char*, static_cast<size_t>(DropReason::kCount)> kDropReasons = {
    "missed tick", "unreadable", "torn", "thread ended", "starting"};
constexpr std::array<const char*, kThreadStateCount> kThreadStates = {"unknown", "running",
                                                                      "waiting", "gil wait"};
constexpr std::array<const char*, 3> kProfileStates = {"recording", "complete", "interrupted"};

}  // namespace

const char* DropReasonName(DropReason reason) {
  return kDropReasons.at(static_cast<size_t>(reason));
}

std::optional<DropReason> DropReasonFromName(std::string_view name) {
  for (size_t i = 0; i < kDropReasons.size(); ++i)
    if (name == kDropReasons[i]) return static_cast<DropReason>(i);
  return std::nullopt;
}

const char* ThreadStateName(ThreadState state) {
  return kThreadStates.at(static_cast<size_t>(state));
}

const char* ProfileStateName(ProfileState state) {
  return kProfileStates.at(static_cast<size_t>(state));
}

}  // namespace linescope
