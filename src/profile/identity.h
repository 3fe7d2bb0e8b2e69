#pragma once
// What the writer has given ids to: functions, frames and stacks, each stored once. Rows wait here
// until they are committed; the maps stay for the life of the writer (about 100 bytes a stack).
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/model.h"

namespace linescope {

using FrameId = uint32_t;  // row of `frame`: a place in a function
// What is given out for functions once there are enough: every stack with it is its caller's.
inline constexpr FunctionId kNoFunction = UINT32_MAX;

class Identities {
 public:
  struct Frame {
    FunctionId function = 0;
    SourceRange range;
    bool operator==(const Frame&) const = default;
  };
  struct Stack {
    StackId parent = kNoStack;
    FrameId frame = 0;
    uint32_t depth = 0;          // 0: a root
    StackId project = kNoStack;  // the innermost project frame at or above it
  };

  // No more functions than stacks, and no more stacks than `most_stacks` are kept.
  explicit Identities(int64_t most_stacks) : most_stacks_(static_cast<size_t>(most_stacks)) {}

  FunctionId AddFunction(const FunctionInfo& info);
  // `node.function` and `node.parent` were given out before. Where there are enough stacks, a new
  // one is what it was called by; roots have as much room again.
  StackId AddStack(const StackNode& node);
  // There were more than are kept.
  [[nodiscard]] bool full() const { return full_; }

  // Rows without a place in the database yet; ids count up from the first_pending_*.
  [[nodiscard]] const std::vector<FunctionInfo>& pending_functions() const {
    return pending_functions_;
  }
  [[nodiscard]] FunctionId first_pending_function() const {
    return static_cast<FunctionId>(in_project_.size() - pending_functions_.size());
  }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }
  [[nodiscard]] const std::vector<Stack>& stacks() const { return stacks_; }
  [[nodiscard]] FrameId first_pending_frame() const { return first_pending_frame_; }
  [[nodiscard]] StackId first_pending_stack() const { return first_pending_stack_; }
  [[nodiscard]] size_t function_count() const { return in_project_.size(); }
  // All of the above is in the database.
  void MarkCommitted();

 private:
  const size_t most_stacks_;
  bool full_ = false;
  std::unordered_map<std::string, FunctionId> function_ids_;  // by file, qualified name, first line
  std::vector<bool> in_project_;                              // by FunctionId
  std::vector<FunctionInfo> pending_functions_;
  [[nodiscard]] bool HasRoomFor(const StackNode& node) const;
  struct FrameHash {
    size_t operator()(const Frame& frame) const;
  };
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::vector<Frame> frames_;
  FrameId first_pending_frame_ = 0;
  std::unordered_map<uint64_t, StackId> stack_ids_;  // by (parent, frame)
  std::vector<Stack> stacks_;
  StackId first_pending_stack_ = 0;
};

}  // namespace linescope
