#include "sampler/stack_trie.h"

#include <algorithm>
#include <utility>

namespace linescope {
namespace {

size_t Mix(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u ^ (b + 0x632be59bd9b4e019u) * 0xbf58476d1ce4e5b9u;
  z ^= z >> 29;
  return static_cast<size_t>(z * 0x94d049bb133111ebu >> 16);
}

size_t HashNode(const StackTrie::Node& node) {
  const SourceRange& range = node.range;
  const auto low =
      static_cast<uint32_t>(range.column) << 16 ^ static_cast<uint32_t>(range.end_column);
  const uint64_t place = uint64_t{static_cast<uint32_t>(range.line)} << 32 |
                         (low ^ static_cast<uint32_t>(range.end_line - range.line) << 8);
  return Mix(uint64_t{node.parent} << 32 | node.code, place);
}

size_t HashCell(uint32_t thread, NodeId node, ThreadState state) {
  return Mix(uint64_t{thread} << 32 | node, static_cast<uint64_t>(state));
}

constexpr size_t kFirstSlots = 1024;

}  // namespace

StackTrie::StackTrie() : slots_(kFirstSlots, kNoNode), mask_(kFirstSlots - 1) {}

NodeId StackTrie::Intern(NodeId parent, CodeId code, const SourceRange& range) {
  const Node wanted{parent, code, range};
  const size_t hash = HashNode(wanted);
  for (size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
    const NodeId id = slots_[slot];
    if (id == kNoNode) break;
    if (nodes_[id] == wanted) return id;
  }
  if ((nodes_.size() + 1) * 2 > slots_.size()) Grow();
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(wanted);
  size_t slot = hash & mask_;
  while (slots_[slot] != kNoNode) slot = (slot + 1) & mask_;
  slots_[slot] = id;
  return id;
}

void StackTrie::Grow() {
  slots_.assign(slots_.size() * 2, kNoNode);
  mask_ = slots_.size() - 1;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    size_t slot = HashNode(nodes_[id]) & mask_;
    while (slots_[slot] != kNoNode) slot = (slot + 1) & mask_;
    slots_[slot] = id;
  }
}

CellCounter::CellCounter() : slots_(kFirstSlots, 0), mask_(kFirstSlots - 1) {}

void CellCounter::Add(uint32_t thread, NodeId node, ThreadState state, int64_t wall_ns,
                      int64_t cpu_ns) {
  size_t slot = HashCell(thread, node, state) & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    Cell& cell = cells_[slots_[slot] - 1];
    if (cell.node == node && cell.thread == thread && cell.state == state) {
      ++cell.count;
      cell.wall_ns += wall_ns;
      cell.cpu_ns += cpu_ns;
      return;
    }
  }
  cells_.push_back({thread, node, state, 1, wall_ns, cpu_ns});
  slots_[slot] = static_cast<uint32_t>(cells_.size());
  if (cells_.size() * 2 > slots_.size()) Grow();
}

void CellCounter::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  mask_ = slots_.size() - 1;
  for (size_t i = 0; i < cells_.size(); ++i) {
    size_t slot = HashCell(cells_[i].thread, cells_[i].node, cells_[i].state) & mask_;
    while (slots_[slot] != 0) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<uint32_t>(i + 1);
  }
}

std::vector<CellCounter::Cell> CellCounter::Take() {
  std::fill(slots_.begin(), slots_.end(), 0);
  return std::exchange(cells_, {});
}

}  // namespace linescope
