#include "process/maps.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace linescope {
namespace {

TEST(ParseMaps, ReadsEveryField) {
  const auto maps = ParseMaps(
      "7f0000001000-7f0000003000 r-xs 0001f000 103:0a 4711                       "
      "/usr/lib/libx.so.1\n");
  ASSERT_TRUE(maps) << maps.error().what;
  ASSERT_EQ(maps->size(), 1U);
  const Mapping& m = maps->front();
  EXPECT_EQ(m.start, 0x7f0000001000U);
  EXPECT_EQ(m.end, 0x7f0000003000U);
  EXPECT_TRUE(m.readable && !m.writable && m.executable && m.shared);
  EXPECT_EQ(m.offset, 0x1f000U);
  EXPECT_EQ(m.device_major, 0x103U);
  EXPECT_EQ(m.device_minor, 0x0aU);
  EXPECT_EQ(m.inode, 4711U);
  EXPECT_EQ(m.path, "/usr/lib/libx.so.1");
  EXPECT_FALSE(m.deleted);
  EXPECT_TRUE(m.is_file());
  EXPECT_EQ(m.size(), 0x2000U);
}

TEST(ParseMaps, ReadsOddNames) {
  struct Case {
    const char* line;
    const char* path;
    bool deleted;
    bool is_file;
  };
  const Case cases[] = {
      {"1000-2000 rw-p 00000000 00:00 0", "", false, false},
      {"1000-2000 rw-p 00000000 00:00 0 ", "", false, false},
      {"1000-2000 rw-p 00000000 00:00 0                          [stack]", "[stack]", false, false},
      {"1000-2000 rw-p 00000000 00:00 0                          [anon: a b]", "[anon: a b]", false,
       false},
      {"1000-2000 r--p 00000000 08:01 5                          /a b/c  d ", "/a b/c  d ", false,
       true},
      {"1000-2000 r--p 00000000 08:01 5                          /a\\012b\\012", "/a\nb\n", false,
       true},
      {"1000-2000 r--p 00000000 08:01 5                          /x.so (deleted)", "/x.so", true,
       true},
      {"1000-2000 rw-s 00000000 00:01 9                          /memfd:jit (deleted)",
       "/memfd:jit", true, true},
      {"1000-2000 rw-s 00000000 00:01 9                          anon_inode:[perf_event]",
       "anon_inode:[perf_event]", false, false},
      {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
       "[vsyscall]", false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    const auto maps = ParseMaps(c.line);
    ASSERT_TRUE(maps) << maps.error().what;
    ASSERT_EQ(maps->size(), 1U);
    EXPECT_EQ(maps->front().path, c.path);
    EXPECT_EQ(maps->front().deleted, c.deleted);
    EXPECT_EQ(maps->front().is_file(), c.is_file);
  }
}

TEST(ParseMaps, RefusesWhatIsNoMapsLine) {
  for (const char* text :
       {"x", "1000-2000", "1000-2000 rwxp", "2000-1000 r--p 0 8:1 5 /a",
        "1000-1000 r--p 0 8:1 5 /a", "1000-2000 r--p 0 8:1 5x /a", "1000-2000 r--p 0 8-1 5 /a",
        "10001000100010001-2 r--p 0 8:1 5 /a", "1000-2000 r--p 0 8:1 5 /a\n\n"}) {
    const auto maps = ParseMaps(text);
    ASSERT_FALSE(maps) << text;
    EXPECT_EQ(maps.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_THAT(ParseMaps("1000-2000 r--p 0 8:1 5 /a\nbad\n").error().what,
              ::testing::HasSubstr("line 2"));
  EXPECT_TRUE(ParseMaps("")->empty());
}

TEST(ReadMaps, ShowsOurOwnFileWithANewlineInItsName) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "maps test\nline two";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, 8192), 0);
  void* at = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
  ASSERT_NE(at, MAP_FAILED);
  const auto find = [&]() -> Mapping {
    const auto maps = ReadMaps(::getpid());
    EXPECT_TRUE(maps);
    const auto it = std::ranges::find(*maps, reinterpret_cast<Address>(at), &Mapping::start);
    return it == maps->end() ? Mapping{} : *it;
  };
  const std::string real = std::filesystem::canonical(path).string();
  EXPECT_EQ(find().path, real);
  EXPECT_EQ(find().offset, 4096U);
  std::filesystem::remove(path);
  EXPECT_EQ(find().path, real);
  EXPECT_TRUE(find().deleted);
  ::munmap(at, 4096);
  ::close(fd);
}

}  // namespace
}  // namespace linescope
