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

size_t HashNode(NodeId parent, CodeId code, int32_t line) {
  return Mix(uint64_t{parent} << 32 | code, static_cast<uint32_t>(line));
}

size_t HashCell(uint32_t thread, NodeId node, ThreadState state) {
  return Mix(uint64_t{thread} << 32 | node, static_cast<uint64_t>(state));
}

constexpr size_t kFirstSlots = 1024;

}  // namespace

StackTrie::StackTrie() : slots_(kFirstSlots, kNoNode), mask_(kFirstSlots - 1) {}

NodeId StackTrie::Intern(NodeId parent, CodeId code, int32_t line) {
  for (size_t slot = HashNode(parent, code, line) & mask_;; slot = (slot + 1) & mask_) {
    const NodeId id = slots_[slot];
    if (id == kNoNode) break;
    const Node& node = nodes_[id];
    if (node.parent == parent && node.code == code && node.line == line) return id;
  }
  if ((nodes_.size() + 1) * 2 > slots_.size()) Grow();
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({parent, code, line});
  size_t slot = HashNode(parent, code, line) & mask_;
  while (slots_[slot] != kNoNode) slot = (slot + 1) & mask_;
  slots_[slot] = id;
  return id;
}

void StackTrie::Grow() {
  slots_.assign(slots_.size() * 2, kNoNode);
  mask_ = slots_.size() - 1;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    size_t slot = HashNode(node.parent, node.code, node.line) & mask_;
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
