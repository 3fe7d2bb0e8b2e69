#include "profile/identity.h"

namespace linescope {
namespace {

uint64_t Pair(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

}  // namespace

FunctionId Identities::AddFunction(const FunctionInfo& info) {
  std::string key;
  key.reserve(info.file.size() + info.qualified_name.size() + 8);
  // The length keeps (a, bc) and (ab, c) apart whatever the names contain.
  key.append(std::to_string(info.first_line)).append(1, ':');
  key.append(std::to_string(info.file.size())).append(1, ':');
  key.append(info.file).append(info.qualified_name);
  auto id = static_cast<FunctionId>(in_project_.size());
  auto [at, added] = function_ids_.try_emplace(std::move(key), id);
  if (added) {
    in_project_.push_back(info.in_project);
    pending_functions_.push_back(info);
  }
  return at->second;
}

StackId Identities::AddStack(const StackNode& node) {
  auto frame_id = static_cast<FrameId>(frames_.size());
  auto [frame, new_frame] =
      frame_ids_.try_emplace(Pair(node.function, static_cast<uint32_t>(node.line)), frame_id);
  if (new_frame) frames_.push_back({node.function, node.line});

  auto id = static_cast<StackId>(stacks_.size());
  auto [at, added] = stack_ids_.try_emplace(Pair(node.parent, frame->second), id);
  if (!added) return at->second;
  Stack stack{.parent = node.parent, .frame = frame->second};
  if (node.parent != kNoStack) {
    stack.depth = stacks_.at(node.parent).depth + 1;
    stack.project = stacks_.at(node.parent).project;
  }
  if (in_project_.at(node.function)) stack.project = id;
  stacks_.push_back(stack);
  return id;
}

void Identities::MarkCommitted() {
  pending_functions_.clear();
  first_pending_frame_ = static_cast<FrameId>(frames_.size());
  first_pending_stack_ = static_cast<StackId>(stacks_.size());
}

}  // namespace linescope
