#pragma once
// Distinct stacks as a tree of (parent, code, range), and the samples that fell on them since the
// last flush.
#include <cstdint>
#include <vector>

#include "base/source_range.h"
#include "profile/model.h"
#include "python/code_cache.h"

namespace linescope {

using NodeId = uint32_t;
// Of a node, the bit that tells a native location (see NativeRegistry) from a code object.
inline constexpr CodeId kNativeCode = CodeId{1} << 31;
inline constexpr NodeId kNoNode = UINT32_MAX;

// Grows with the number of distinct stacks, not with the number of samples. One thread.
class StackTrie {
 public:
  struct Node {
    NodeId parent = kNoNode;
    CodeId code = 0;
    SourceRange range;
    bool operator==(const Node&) const = default;
  };

  StackTrie();
  // The node of `code` at `range` called by `parent`; made when it is new. ~10 ns.
  NodeId Intern(NodeId parent, CodeId code, const SourceRange& range);
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  void Grow();
  std::vector<Node> nodes_;
  std::vector<NodeId> slots_;
  size_t mask_;
};

// Counts by (thread, stack, state). Flushing hands the cells over and starts anew.
class CellCounter {
 public:
  struct Cell {
    uint32_t thread = 0;  // index of the sampler's thread
    NodeId node = kNoNode;
    ThreadState state = ThreadState::kUnknown;
    uint64_t count = 0;
    int64_t wall_ns = 0, cpu_ns = 0;
  };

  CellCounter();
  void Add(uint32_t thread, NodeId node, ThreadState state, int64_t wall_ns, int64_t cpu_ns);
  [[nodiscard]] std::vector<Cell>& cells() { return cells_; }
  std::vector<Cell> Take();

 private:
  void Grow();
  std::vector<Cell> cells_;
  std::vector<uint32_t> slots_;  // index + 1
  size_t mask_;
};

}  // namespace linescope
