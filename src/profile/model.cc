#include "profile/model.h"

#include <array>

namespace linescope {
namespace {

constexpr std::array<const char*, static_cast<size_t>(DropReason::kCount)> kDropReasons = {
    "missed tick", "unreadable", "torn", "thread ended", "starting"};
constexpr std::array<const char*, kThreadStateCount> kThreadStates = {
    "unknown",          "running", "waiting", "gil wait", "running with gil", "running without gil",
    "waiting with gil", "gc",      "idle",    "stopped"};
constexpr std::array<const char*, kFunctionKindCount> kFunctionKinds = {"python", "native", "task"};
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

bool IsOnCpu(ThreadState state) {
  switch (state) {
    case ThreadState::kRunning:
    case ThreadState::kRunningWithGil:
    case ThreadState::kRunningWithoutGil:
    case ThreadState::kCollecting:
      return true;
    default:
      return false;
  }
}

std::optional<bool> HoldsGil(ThreadState state) {
  switch (state) {
    case ThreadState::kRunningWithGil:
    case ThreadState::kWaitingWithGil:
    case ThreadState::kCollecting:
      return true;
    case ThreadState::kGilWait:
    case ThreadState::kRunningWithoutGil:
      return false;
    default:
      return std::nullopt;
  }
}

const char* FunctionKindName(FunctionKind kind) {
  return kFunctionKinds.at(static_cast<size_t>(kind));
}

std::optional<FunctionKind> FunctionKindFromName(std::string_view name) {
  for (size_t i = 0; i < kFunctionKinds.size(); ++i)
    if (name == kFunctionKinds[i]) return static_cast<FunctionKind>(i);
  return std::nullopt;
}

const char* ProfileStateName(ProfileState state) {
  return kProfileStates.at(static_cast<size_t>(state));
}

}  // namespace linescope
