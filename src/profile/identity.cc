#include "profile/identity.h"

namespace linescope {
namespace {

uint64_t Pair(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

}  // namespace

FunctionId Identities::AddFunction(const FunctionInfo& info) {
  std::string key;
  key.reserve(info.file.size() + info.qualified_name.size() + 8);
  key.append(1, static_cast<char>('0' + static_cast<int>(info.kind)));
  // The length keeps (a, bc) and (ab, c) apart whatever the names contain.
  key.append(std::to_string(info.first_line)).append(1, ':');
  key.append(std::to_string(info.file.size())).append(1, ':');
  key.append(info.file).append(info.qualified_name);
  if (in_project_.size() >= most_stacks_) {
    const auto known = function_ids_.find(key);
    if (known != function_ids_.end()) return known->second;
    full_ = true;
    return kNoFunction;
  }
  auto id = static_cast<FunctionId>(in_project_.size());
  auto [at, added] = function_ids_.try_emplace(std::move(key), id);
  if (added) {
    in_project_.push_back(info.in_project);
    pending_functions_.push_back(info);
  }
  return at->second;
}

bool Identities::HasRoomFor(const StackNode& node) const {
  return stacks_.size() < (node.parent == kNoStack ? 2 * most_stacks_ : most_stacks_);
}

StackId Identities::AddStack(const StackNode& node) {
  if (node.function == kNoFunction) return node.parent;
  if (!HasRoomFor(node)) {
    const auto frame = frame_ids_.find({node.function, node.range});
    const auto known = frame == frame_ids_.end()
                           ? stack_ids_.end()
                           : stack_ids_.find(Pair(node.parent, frame->second));
    if (known != stack_ids_.end()) return known->second;
    full_ = true;
    return node.parent;
  }
  auto frame_id = static_cast<FrameId>(frames_.size());
  auto [frame, new_frame] = frame_ids_.try_emplace({node.function, node.range}, frame_id);
  if (new_frame) frames_.push_back({node.function, node.range});

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

size_t Identities::FrameHash::operator()(const Frame& frame) const {
  const SourceRange& range = frame.range;
  uint64_t hash = Pair(frame.function, static_cast<uint32_t>(range.line));
  for (const int32_t part : {range.end_line, range.column, range.end_column}) {
    hash = (hash ^ hash >> 29 ^ static_cast<uint32_t>(part)) * 0x9e3779b97f4a7c15u;
  }
  return static_cast<size_t>(hash ^ hash >> 32);
}

void Identities::MarkCommitted() {
  pending_functions_.clear();
  first_pending_frame_ = static_cast<FrameId>(frames_.size());
  first_pending_stack_ = static_cast<StackId>(stacks_.size());
}

}  // namespace linescope
