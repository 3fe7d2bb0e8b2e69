#include "report/encoding.h"

#include <gtest/gtest.h>

#include <random>

namespace linescope {
namespace {

std::string RandomBytes(size_t size) {
  std::mt19937 random(size);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Base64, GivesTheVectorsOfRfc4648) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xfb\xff\xbf"), "+/+/");
}

TEST(Base91, GivesWhatTheFormatSays) {
  EXPECT_EQ(Base91(""), "");
  EXPECT_EQ(Base91(std::string(1, '\0')), "!!");
  EXPECT_EQ(Base91("\x5a"), "~!");        // 90
  EXPECT_EQ(Base91("\x5b"), "!\"");       // 91
  EXPECT_EQ(Base91("\xff\xff"), "\"~)");  // 8191 = 1 + 90 * 91, then 7
  EXPECT_EQ(Base91(std::string(13, '\0')), "!!!!!!!!!!!!!!!!");
}

TEST(Base91, IsReadBackAndNeedsNoEscapes) {
  for (size_t size = 0; size < 300; ++size) {
    const std::string text = Base91(RandomBytes(size));
    EXPECT_EQ(text.find_first_of("<&\\ \n"), std::string::npos);
    EXPECT_EQ(FromBase91(text).value(), RandomBytes(size));
  }
  const size_t size = 1'300'000;
  EXPECT_EQ(Base91(RandomBytes(size)).size(), size * 16 / 13);
}

// What is read back and written again is the same text: no two texts say the same.
TEST(Base91, RefusesWhatItDoesNotWrite) {
  for (const char* text : {"!", "!\xff", "! ", "~~", "!!<", "!!\n", "a\\", "~!~", "!!!!!!"}) {
    const auto bytes = FromBase91(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, ErrorCode::kCorrupt);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 6, '!');
    for (char& c : text) c = static_cast<char>('!' + random() % 94);
    const auto bytes = FromBase91(text);
    if (bytes) {
      EXPECT_EQ(Base91(*bytes), text);
    }
  }
}

TEST(Gzip, IsReadBackAndHasNoTimeInIt) {
  for (const size_t size : {0, 1, 1000, 300'000}) {
    const std::string zipped = Gzip(RandomBytes(size));
    EXPECT_EQ(zipped.substr(0, 4), "\x1f\x8b\x08" + std::string(1, '\0'));
    EXPECT_EQ(zipped.substr(4, 4), std::string(4, '\0'));  // modification time
    EXPECT_EQ(Gunzip(zipped, size).value(), RandomBytes(size));
  }
  EXPECT_EQ(Gunzip(Gzip(std::string(5'000'000, 'x')), 5'000'000).value().size(), 5'000'000u);
}

TEST(Gzip, RefusesDamage) {
  const std::string whole = Gzip(RandomBytes(1000));
  std::string flipped = whole;
  flipped[500] = static_cast<char>(flipped[500] ^ 1);
  for (const std::string& bytes : {std::string(), whole.substr(0, 500), flipped, whole + "x"}) {
    const auto result = Gunzip(bytes, 1 << 20);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  }
}

TEST(Gzip, StopsAtTheLimit) {
  const std::string bomb = Gzip(std::string(1 << 20, 'x'));
  EXPECT_TRUE(Gunzip(bomb, 1 << 20));
  EXPECT_FALSE(Gunzip(bomb, (1 << 20) - 1));
}

TEST(CspHash, IsWhatBrowsersCompute) {
  // The example of the Content Security Policy specification.
  EXPECT_EQ(CspHash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
}

}  // namespace
}  // namespace linescope
