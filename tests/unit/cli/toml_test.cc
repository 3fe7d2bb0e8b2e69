#include "cli/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "key=text" of each entry, "key=[a|b]" of an array.
std::vector<std::string> Read(std::string_view document,
                              std::string_view table = "tool.linescope") {
  const auto entries = ReadTomlTable(document, table);
  if (!entries) return {"error: " + entries.error().what};
  std::vector<std::string> out;
  for (const TomlEntry& entry : *entries) {
    std::string text = entry.value.text;
    if (entry.value.kind == TomlValue::Kind::kArray) {
      for (const TomlValue& item : entry.value.items)
        text += (text.empty() ? "[" : "|") + item.text;
      text += "]";
    }
    out.push_back(entry.key + "=" + text);
  }
  return out;
}

TEST(Toml, FindsTheTableHoweverItIsWritten) {
  EXPECT_THAT(Read("[tool.linescope]\nrate = 5\n[tool.other]\nrate = 6\n"), ElementsAre("rate=5"));
  EXPECT_THAT(Read("[tool]\nlinescope.rate = 5\nother.rate = 6\n"), ElementsAre("rate=5"));
  EXPECT_THAT(Read("tool.linescope.rate = 5\n"), ElementsAre("rate=5"));
  EXPECT_THAT(Read("[tool]\nlinescope = { rate = 5, mode = 'cpu' }\n"),
              ElementsAre("rate=5", "mode=cpu"));
  EXPECT_THAT(Read("[ tool . \"linescope\" ]\nrate = 5\n"), ElementsAre("rate=5"));
  EXPECT_THAT(Read("rate = 5\n[table]\nrate = 6\n", ""), ElementsAre("rate=5", "table.rate=6"));
}

TEST(Toml, DoesNotFindItInsideOtherValues) {
  EXPECT_THAT(Read("a = '''\n[tool.linescope]\nrate = 5\n'''\n"), IsEmpty());
  EXPECT_THAT(Read("a = \"\"\"\n[tool.linescope]\nrate = 5\n\"\"\"\n"), IsEmpty());
  EXPECT_THAT(
      Read("a = [\n  '[tool.linescope]', # [tool.linescope]\n]\n# [tool.linescope]\nrate = 5\n"),
      IsEmpty());
  EXPECT_THAT(Read("[tool.linescopes]\nrate = 5\n"), IsEmpty());
}

TEST(Toml, ReadsValuesOfEveryKind) {
  EXPECT_THAT(Read("a = \"x\\ty\\u00e4\\\\\\\"\"\nb = 'C:\\new'\nc = 1_000\nd = -2.5e3\ne = true\n"
                   "f = 1979-05-27 07:32:00\ng = 0xff\nh = inf\n",
                   ""),
              ElementsAre("a=x\tyä\\\"", "b=C:\\new", "c=1000", "d=-2.5e3", "e=true",
                          "f=1979-05-27 07:32:00", "g=0xff", "h=inf"));
  EXPECT_THAT(Read("a = [\"x\", # why\n  'y',\n]\nb = []\n", ""), ElementsAre("a=[x|y]", "b=]"));
  EXPECT_THAT(Read("a = \"\"\"\none \\\n   two\"\"\"\n", ""), ElementsAre("a=one two"));
  EXPECT_THAT(Read("a = ''''quoted'''' # and after\n", ""), ElementsAre("a='quoted'"));
  EXPECT_THAT(Read("\xEF\xBB\xBF"
                   "a = 1\r\nb = 2\r\n",
                   ""),
              ElementsAre("a=1", "b=2"));
}

TEST(Toml, SkipsWhatOtherToolsHave) {
  EXPECT_THAT(Read("[[tool.mypy.overrides]]\nmodule = ['a', {b = 1, c = [2, {d = 3}]}]\n"
                   "[project]\n'odd key' = 1\n[tool.linescope]\nrate = 5 # samples\n"),
              ElementsAre("rate=5"));
}

TEST(Toml, KnowsTheLineOfAnEntry) {
  const auto entries = ReadTomlTable("# one\n\n[tool.linescope]\nrate = 5\n", "tool.linescope");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->at(0).line, 4);
}

TEST(Toml, RefusesWhatIsNotToml) {
  const std::pair<const char*, const char*> cases[] = {
      {"a\n", "line 1: '=' is expected after 'a'"},
      {"\na = \n", "line 2: a value is expected"},
      {"a = b\n", "line 1: 'b' is not a value; text stands in quotes"},
      {"a = 1 2\n", "unexpected text after a value"},
      {"a = 'x\n", "a string is not closed"},
      {"a = '''x\n", "a string of several lines is not closed"},
      {"a = [1, 2\n", "an array is not closed"},
      {"a = [1 2]\n", "',' or ']' is expected"},
      {"a = {b = 1\n", "an inline table is not closed"},
      {"[a\n", "a table's name is not closed"},
      {"[]\n", "a key is expected"},
      {"a = \"\\q\"\n", "unknown escape"},
      {"a = \"\\ud800\"\n", "bad \\u escape"},
      {"[[tool.linescope]]\nrate = 5\n", "is a table, not an array of tables"},
  };
  for (const auto& [document, what] : cases) {
    const auto entries = ReadTomlTable(document, "tool.linescope");
    ASSERT_FALSE(entries) << document;
    EXPECT_EQ(entries.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(entries.error().what, HasSubstr(what)) << document;
  }
}

TEST(Toml, BoundsItsRecursion) {
  EXPECT_FALSE(ReadTomlTable("a = " + std::string(100'000, '['), ""));
  std::string tables = "a";
  for (int i = 0; i < 1000; ++i) tables += " = {a";
  EXPECT_FALSE(ReadTomlTable(tables, ""));
}

}  // namespace
}  // namespace linescope
