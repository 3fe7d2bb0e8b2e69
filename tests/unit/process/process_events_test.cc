#include "process/process_events.h"

#include <gtest/gtest.h>

#include <cstring>

namespace linescope {
namespace {

// As the kernel sends it: a netlink header (16 bytes), a connector header (20), what happened, the
// CPU, the time, and the words that go with the kind.
std::vector<std::byte> Datagram(uint32_t what, uint64_t at_ns, std::vector<uint32_t> words) {
  std::vector<std::byte> bytes(76);
  std::memcpy(&bytes[36], &what, 4);
  std::memcpy(&bytes[44], &at_ns, 8);
  for (size_t i = 0; i < words.size(); ++i) std::memcpy(&bytes[52 + 4 * i], &words[i], 4);
  return bytes;
}

constexpr uint32_t kFork = 1, kExec = 2, kUid = 4, kExit = 0x80000000;

TEST(ProcessEvents, ReadsForks) {
  const auto event = ParseProcessEvent(Datagram(kFork, 77, {12, 10, 20, 20}));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, ProcessEvent::Kind::kFork);
  EXPECT_EQ(event->pid, 20);
  EXPECT_EQ(event->parent, 10);  // the process, not the thread that forked
  EXPECT_EQ(event->at_ns, 77);
}

TEST(ProcessEvents, ReadsExecsAndEnds) {
  const auto exec = ParseProcessEvent(Datagram(kExec, 1, {20, 20}));
  ASSERT_TRUE(exec);
  EXPECT_EQ(exec->kind, ProcessEvent::Kind::kExec);
  EXPECT_EQ(exec->pid, 20);
  const auto exit = ParseProcessEvent(Datagram(kExit, 1, {20, 20, 7 << 8, 17}));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, ProcessEvent::Kind::kExit);
  EXPECT_EQ(exit->wait_status, 7 << 8);
}

TEST(ProcessEvents, LeavesOutThreadsAndWhatItDoesNotKnow) {
  EXPECT_FALSE(ParseProcessEvent(Datagram(kFork, 1, {10, 10, 21, 20})));
  EXPECT_FALSE(ParseProcessEvent(Datagram(kExit, 1, {21, 20, 0, 17})));
  EXPECT_FALSE(ParseProcessEvent(Datagram(kUid, 1, {20, 20, 0, 0})));
  auto cut = Datagram(kFork, 1, {10, 10, 20, 20});
  cut.resize(60);
  EXPECT_FALSE(ParseProcessEvent(cut));
  EXPECT_FALSE(ParseProcessEvent({}));
}

}  // namespace
}  // namespace linescope
