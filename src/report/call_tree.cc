#include "report/call_tree.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace linescope {
namespace {

// Dense numbers for pairs, by first use.
class PairNumbers {
 public:
  // The pair's number, and whether it is new.
  std::pair<uint32_t, bool> Of(uint32_t first, uint32_t second) {
    const auto [at, added] = numbers_.try_emplace(uint64_t{first} << 32 | second,
                                                  static_cast<uint32_t>(numbers_.size()));
    return {at->second, added};
  }

 private:
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

auto OrderOf(const CallCell& cell) {
  // No node wraps to 0 and comes first.
  return std::tuple(cell.bucket, cell.thread, cell.node + 1, cell.state);
}

// Adds up cells of one place, so that each occurs once, in order.
void SortAndJoin(std::vector<CallCell>& cells) {
  std::ranges::sort(cells, {}, OrderOf);
  size_t kept = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (kept > 0 && OrderOf(cells[kept - 1]) == OrderOf(cells[i])) {
      cells[kept - 1].cost += cells[i].cost;
    } else {
      cells[kept++] = cells[i];
    }
  }
  cells.resize(kept);
}

}  // namespace

CallTreeBuilder::CallTreeBuilder(const Profile& profile) {
  tree_.bucket_width_ns = profile.bucket_width_ns;
  AddNodes(profile);
}

void CallTreeBuilder::AddNodes(const Profile& profile) {
  const StackTree& stacks = profile.stacks;
  // First the tree as the profile has it, with frames as (function, line) and equal ones joined.
  struct Node {
    uint32_t first_child = kNoCallNode, last_child = kNoCallNode, next = kNoCallNode;
    uint32_t parent = kNoCallNode;
    FunctionId function = 0;
    uint32_t line = 0;
  };
  std::vector<Node> joined;
  std::vector<uint32_t> joined_of(stacks.size());
  Node top;  // above the roots
  PairNumbers places, calls;
  for (size_t id = 0; id < stacks.size(); ++id) {
    const uint32_t parent =
        stacks.parent[id] == kNoStack ? kNoCallNode : joined_of[stacks.parent[id]];
    const auto line = static_cast<uint32_t>(std::max(stacks.range[id].line, 0));
    const uint32_t place = places.Of(stacks.function[id], line).first;
    const auto [number, added] = calls.Of(parent, place);
    joined_of[id] = number;
    if (!added) continue;
    joined.push_back({.parent = parent, .function = stacks.function[id], .line = line});
    Node& above = parent == kNoCallNode ? top : joined[parent];
    if (above.last_child == kNoCallNode) {
      above.first_child = number;
    } else {
      joined[above.last_child].next = number;
    }
    above.last_child = number;
  }

  // Then in preorder. Without recursion: stacks are as deep as the target's.
  std::vector<uint32_t> preorder_of(joined.size());
  std::vector<uint32_t> function_number(profile.functions.size(), kNoCallNode);
  PairNumbers frames;
  uint32_t depth = 0;
  for (uint32_t at = top.first_child; at != kNoCallNode;) {
    const Node& node = joined[at];
    uint32_t& function = function_number[node.function];
    if (function == kNoCallNode) {
      function = static_cast<uint32_t>(tree_.functions.size());
      const FunctionInfo& info = profile.functions[node.function];
      tree_.functions.push_back({.id = node.function,
                                 .name = DisplayName(info),
                                 .path = info.file,
                                 .kind = info.kind,
                                 .in_project = info.in_project,
                                 .file = {},
                                 .row = {}});
    }
    const auto [frame, added] = frames.Of(function, node.line);
    if (added) tree_.frames.push_back({function, node.line});
    preorder_of[at] = static_cast<uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back({depth, frame});

    if (node.first_child != kNoCallNode) {
      at = node.first_child;
      ++depth;
      continue;
    }
    while (joined[at].next == kNoCallNode && joined[at].parent != kNoCallNode) {
      at = joined[at].parent;
      --depth;
    }
    at = joined[at].next;
  }
  node_of_.resize(stacks.size());
  for (size_t id = 0; id < stacks.size(); ++id) node_of_[id] = preorder_of[joined_of[id]];
}

size_t CallTreeBuilder::CountCells(uint32_t joined) const {
  size_t count = 0;
  for (const SampleRow& row : rows_) {
    const int64_t last = row.bucket + row.buckets - 1;
    count += static_cast<size_t>(last / joined - row.bucket / joined + 1);
  }
  return count;
}

void CallTreeBuilder::AddCells(const SampleRow& row) {
  constexpr int64_t kLastBucket = std::numeric_limits<uint32_t>::max();
  const SampleCell& from = row.cell;
  CallCell cell{.thread = from.thread,
                .node = from.stack == kNoStack ? kNoCallNode : node_of_[from.stack],
                .state = from.state,
                .cost = {}};
  const auto push = [&] {
    if (cell.cost != Cost{}) tree_.cells.push_back(cell);
    cell.cost = {};
  };
  ForEachBucket(row, [&](int64_t at, const Cost& cost) {
    const auto bucket =
        static_cast<uint32_t>(std::clamp<int64_t>(at / tree_.joined_buckets, 0, kLastBucket));
    if (bucket != cell.bucket) push();
    cell.bucket = bucket;
    cell.cost += cost;
  });
  push();
}

CallTree CallTreeBuilder::Finish(size_t most_cells) {
  const auto can_join = [&] {
    return tree_.bucket_width_ns <= std::numeric_limits<int64_t>::max() / 2 &&
           tree_.joined_buckets <= std::numeric_limits<uint32_t>::max() / 2;
  };
  const auto join = [&] {
    tree_.bucket_width_ns *= 2;
    tree_.joined_buckets *= 2;
  };
  while (can_join()) {
    const size_t count = CountCells(tree_.joined_buckets);
    if (count <= most_cells || count == rows_.size()) break;
    join();
  }
  for (const SampleRow& row : rows_) AddCells(row);
  rows_ = {};
  SortAndJoin(tree_.cells);
  while (tree_.cells.size() > most_cells && can_join() &&
         tree_.cells.front().bucket != tree_.cells.back().bucket) {
    for (CallCell& cell : tree_.cells) cell.bucket /= 2;
    join();
    SortAndJoin(tree_.cells);
  }
  return std::move(tree_);
}

}  // namespace linescope
