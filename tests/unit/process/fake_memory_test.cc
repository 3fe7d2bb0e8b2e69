#include "process/fake_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linescope {
namespace {

std::string ReadAll(FakeMemory& memory, const std::vector<RemoteRange>& ranges, ssize_t* result) {
  size_t size = 0;
  for (const RemoteRange& range : ranges) size += range.size;
  std::string out(size, '.');
  *result = memory.Read(ranges, out.data());
  return out;
}

TEST(FakeMemory, PacksRangesInOrder) {
  FakeMemory memory;
  memory.Write(0x1000, "abcdef");
  memory.Write(0x2000, "XYZ");
  ssize_t n;
  EXPECT_EQ(ReadAll(memory, {{0x2001, 2}, {0x1000, 3}, {0x1000, 0}, {0x1005, 1}}, &n), "YZabcf");
  EXPECT_EQ(n, 6);
  EXPECT_EQ(memory.calls(), 1U);
  EXPECT_EQ(memory.bytes(), 6U);
}

TEST(FakeMemory, ReadsAcrossAdjacentRegions) {
  FakeMemory memory;
  memory.Write(0x1000, "abc");
  memory.Write(0x1003, "def");
  std::string text;
  EXPECT_TRUE(memory.ReadString(0x1001, 4, &text));
  EXPECT_EQ(text, "bcde");
}

TEST(FakeMemory, StopsAtTheFirstUnmappedByte) {
  FakeMemory memory;
  memory.Write(0x1000, "abcdef");
  ssize_t n;
  EXPECT_EQ(ReadAll(memory, {{0x1004, 5}, {0x1000, 2}}, &n), "ef.....");
  EXPECT_EQ(n, 2);
  EXPECT_EQ(ReadAll(memory, {{0x0fff, 2}}, &n), "..");
  EXPECT_EQ(n, -EFAULT);
}

TEST(FakeMemory, LaterWritesWinAndUnmapCutsHoles) {
  FakeMemory memory;
  memory.Write(0x1000, "abcdefgh");
  memory.Write(0x1002, "XY");
  std::string text;
  ASSERT_TRUE(memory.ReadString(0x1000, 8, &text));
  EXPECT_EQ(text, "abXYefgh");
  memory.Unmap(0x1001, 2);
  ssize_t n;
  EXPECT_EQ(ReadAll(memory, {{0x1000, 8}}, &n).substr(0, 1), "a");
  EXPECT_EQ(n, 1);
  ASSERT_TRUE(memory.ReadString(0x1003, 5, &text));
  EXPECT_EQ(text, "Yefgh");
}

TEST(FakeMemory, FailsAsToldAndRecovers) {
  FakeMemory memory;
  memory.Put<uint32_t>(0x10, 0x01020304);
  uint32_t value = 0;
  memory.FailWith(ESRCH);
  const RemoteRange range{0x10, 4};
  EXPECT_EQ(memory.Read({&range, 1}, &value), -ESRCH);
  memory.FailWith(0);
  EXPECT_TRUE(memory.ReadValue(0x10, &value));
  EXPECT_EQ(value, 0x01020304U);
}

}  // namespace
}  // namespace linescope
