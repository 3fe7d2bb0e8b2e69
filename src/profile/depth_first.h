#pragma once
// A walk over the stacks of a profile, each subtree in one piece.
#include <cstddef>
#include <utility>
#include <vector>

#include "profile/model.h"

namespace linescope {

// Visits a forest depth first, calling `enter` on the way down and `leave` on the way up. Without
// recursion: stacks are as deep as the target's. `parent`: of each node, kNoStack of a root; it has
// to outlive the walk.
class DepthFirst {
 public:
  explicit DepthFirst(const std::vector<StackId>& parent)
      : parent_(parent), first_child_(parent.size(), kNoStack), next_(parent.size(), kNoStack) {
    for (size_t i = parent.size(); i-- > 0;) {
      auto id = static_cast<StackId>(i);
      StackId& head = parent[i] == kNoStack ? first_root_ : first_child_[parent[i]];
      next_[i] = std::exchange(head, id);
    }
  }

  template <class Enter, class Leave>
  void Visit(Enter enter, Leave leave) const {
    StackId at = first_root_;
    while (at != kNoStack) {
      enter(at);
      if (first_child_[at] != kNoStack) {
        at = first_child_[at];
        continue;
      }
      leave(at);
      while (next_[at] == kNoStack && parent_[at] != kNoStack) {
        at = parent_[at];
        leave(at);
      }
      at = next_[at];
    }
  }

 private:
  const std::vector<StackId>& parent_;
  StackId first_root_ = kNoStack;
  std::vector<StackId> first_child_, next_;
};

}  // namespace linescope
