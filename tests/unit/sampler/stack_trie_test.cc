#include "sampler/stack_trie.h"

#include <gtest/gtest.h>

#include <map>

namespace linescope {
namespace {

TEST(StackTrie, EqualPathsShareNodes) {
  StackTrie trie;
  const NodeId root = trie.Intern(kNoNode, 1, {.line = 10});
  const NodeId leaf = trie.Intern(root, 2, {.line = 20});
  EXPECT_EQ(trie.Intern(kNoNode, 1, {.line = 10}), root);
  EXPECT_EQ(trie.Intern(root, 2, {.line = 20}), leaf);
  EXPECT_NE(trie.Intern(root, 2, {.line = 21}), leaf);
  EXPECT_NE(trie.Intern(kNoNode, 2, {.line = 20}), leaf);
  const NodeId piece = trie.Intern(root, 2, {20, 20, 4, 9});
  EXPECT_NE(piece, leaf);
  EXPECT_EQ(trie.Intern(root, 2, {20, 20, 4, 9}), piece);
  EXPECT_NE(trie.Intern(root, 2, {20, 20, 4, 8}), piece);
  EXPECT_NE(trie.Intern(root, 2, {20, 21, 4, 9}), piece);
  EXPECT_EQ(trie.nodes().size(), 7u);
  EXPECT_EQ(trie.nodes()[leaf].parent, root);
}

TEST(StackTrie, KeepsIdsWhileGrowing) {
  StackTrie trie;
  std::map<int, NodeId> ids;
  NodeId parent = kNoNode;
  for (int i = 0; i < 50'000; ++i) {
    const NodeId id = trie.Intern(parent, static_cast<CodeId>(i), {.line = i});
    ids[i] = id;
    if (i % 3 == 0) parent = id;
  }
  parent = kNoNode;
  for (int i = 0; i < 50'000; ++i) {
    const NodeId id = trie.Intern(parent, static_cast<CodeId>(i), {.line = i});
    ASSERT_EQ(id, ids[i]);
    if (i % 3 == 0) parent = id;
  }
  EXPECT_EQ(trie.nodes().size(), 50'000u);
}

TEST(CellCounter, AddsUpByThreadNodeAndState) {
  CellCounter cells;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t node = 0; node < 5000; ++node) {
      cells.Add(node % 3, node, ThreadState::kRunning, 10, 7);
    }
    cells.Add(0, 0, ThreadState::kWaiting, 5, 0);
  }
  const auto taken = cells.Take();
  ASSERT_EQ(taken.size(), 5001u);
  for (const auto& cell : taken) {
    EXPECT_EQ(cell.count, 3u);
    EXPECT_EQ(cell.wall_ns, cell.state == ThreadState::kRunning ? 30 : 15);
    EXPECT_EQ(cell.cpu_ns, cell.state == ThreadState::kRunning ? 21 : 0);
    EXPECT_EQ(cell.thread, cell.node % 3);
  }
}

TEST(CellCounter, TakeStartsAnew) {
  CellCounter cells;
  cells.Add(1, kNoNode, ThreadState::kUnknown, 1, 0);
  EXPECT_EQ(cells.Take().size(), 1u);
  EXPECT_TRUE(cells.Take().empty());
  cells.Add(1, kNoNode, ThreadState::kUnknown, 1, 0);
  EXPECT_EQ(cells.Take().front().count, 1u);
}

}  // namespace
}  // namespace linescope
