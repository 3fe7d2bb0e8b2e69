#include "source/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/source/zip_builder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kLimit = 1'000'000;

Result<std::string> Read(const std::string& zip, const std::string& name, uint64_t limit = kLimit) {
  return ReadArchiveMember(ArchiveSpan(std::as_bytes(std::span(zip))), name, limit);
}

const std::string kText = "def f():\n    return 1\n";
std::string LongText() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  return text;
}

TEST(ReadArchiveMember, ReadsStoredAndCompressedMembers) {
  const std::string zip = BuildZip({{.name = "stored.py", .text = kText},
                                    {.name = "pkg/long.py", .text = LongText(), .compressed = true},
                                    {.name = "empty.py", .text = ""}});
  EXPECT_EQ(Read(zip, "stored.py"), kText);
  EXPECT_EQ(Read(zip, "pkg/long.py"), LongText());
  EXPECT_EQ(Read(zip, "empty.py"), "");
  EXPECT_THAT(Read(zip, "Stored.py").error().what, HasSubstr("no member"));
}

TEST(ReadArchiveMember, PassesOverWhatLiesBefore) {
  const std::string zip = "#!/usr/bin/env python3\n" + std::string(70'000, '\1') +
                          BuildZip({{.name = "__main__.py", .text = kText, .compressed = true}});
  EXPECT_EQ(Read(zip, "__main__.py"), kText);
}

TEST(ReadArchiveMember, SaysWhatIsWrong) {
  const struct {
    std::string zip;
    const char* what;
  } cases[] = {
      {"", "no zip archive"},
      {"PK", "no zip archive"},
      {std::string(1000, 'x'), "no zip archive"},
      {BuildZip({{.name = "m.py", .text = kText, .flags = 1}}), "encrypted"},
      {BuildZip({{.name = "m.py", .text = kText, .method = 99}}), "not read"},
      {BuildZip({{.name = "m.py", .text = kText, .wrong_checksum = true}}), "damaged"},
      {BuildZip({{.name = "m.py", .text = LongText(), .compressed = true}}), "more than 100"},
  };
  for (const auto& one : cases) {
    const auto read =
        Read(one.zip, "m.py", one.what == std::string("more than 100") ? 100 : kLimit);
    ASSERT_FALSE(read) << one.what;
    EXPECT_THAT(read.error().what, HasSubstr(one.what));
  }
}

// Whatever is cut off or changed, what is given is what was put in.
TEST(ReadArchiveMember, SurvivesDamage) {
  const std::string zip = BuildZip(
      {{.name = "a.py", .text = kText, .compressed = true}, {.name = "m.py", .text = kText}});
  constexpr size_t kEndRecord = 22;
  for (size_t size = 0; size < zip.size(); ++size) {
    const auto read = Read(zip.substr(0, size), "m.py");
    if (size < zip.size() - kEndRecord) {
      EXPECT_FALSE(read) << size;
    } else if (read) {
      EXPECT_EQ(*read, kText) << size;
    }
  }
  for (size_t at = 0; at < zip.size(); ++at) {
    std::string damaged = zip;
    damaged[at] = static_cast<char>(~damaged[at]);
    if (const auto read = Read(damaged, "m.py")) {
      EXPECT_EQ(*read, kText) << at;
    }
  }
}

}  // namespace
}  // namespace linescope
