#include "process/page_cache.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "process/fake_memory.h"

namespace linescope {
namespace {

constexpr Address kPage = 0x20'000;

TEST(PageCache, ReadsAPageOnceUntilItIsCleared) {
  FakeMemory memory;
  memory.Zero(kPage, 8192);
  memory.Put(kPage + 4092, uint64_t{0x1122334455667788});
  PageCache pages(&memory);
  uint64_t word = 0;
  ASSERT_TRUE(pages.ReadValue(kPage + 4092, &word));  // on two pages
  EXPECT_EQ(word, 0x1122334455667788u);
  EXPECT_EQ(memory.calls(), 2u);
  memory.Put(kPage + 8, uint64_t{7});
  ASSERT_TRUE(pages.ReadValue(kPage + 8, &word));
  EXPECT_EQ(word, 0u);
  EXPECT_EQ(memory.calls(), 2u);
  pages.Clear();
  ASSERT_TRUE(pages.ReadValue(kPage + 8, &word));
  EXPECT_EQ(word, 7u);
}

TEST(PageCache, ReadsWhatIsMappedOfAPage) {
  FakeMemory memory;
  memory.Put(kPage + 100, uint64_t{5});
  PageCache pages(&memory);
  uint64_t word = 0;
  EXPECT_TRUE(pages.ReadValue(kPage + 100, &word));
  EXPECT_EQ(word, 5u);
  EXPECT_FALSE(pages.ReadValue(kPage + 200, &word));
  const RemoteRange ranges[] = {{kPage + 100, 8}, {kPage + 4096, 8}};
  std::byte bytes[16];
  EXPECT_EQ(pages.Read(ranges, bytes), 8);
  EXPECT_EQ(pages.Read(std::span(ranges).last(1), bytes), -EFAULT);
  EXPECT_FALSE(pages.ReadValue(UINT64_MAX - 3, &word));
}

TEST(PageCache, StaysSmall) {
  FakeMemory memory;
  memory.Zero(kPage, 4096 * 3000);
  PageCache pages(&memory);
  uint64_t word = 0;
  for (Address i = 0; i < 3000; ++i) ASSERT_TRUE(pages.ReadValue(kPage + i * 4096, &word));
  // The first ones are gone.
  const uint64_t calls = memory.calls();
  ASSERT_TRUE(pages.ReadValue(kPage, &word));
  EXPECT_EQ(memory.calls(), calls + 1);
}

}  // namespace
}  // namespace linescope
