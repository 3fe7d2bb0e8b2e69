#include "report/hot_lines.h"

#include <gmock/gmock.h>

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

HotLine Quote(const std::string& source, uint32_t line) {
  ReportFile file;
  file.path = "/p/a.py";
  ReportSource parsed{.text = DecodeSource(source), .index = {}, .links = {}};
  parsed.index = IndexPython(parsed.text);
  file.source = std::move(parsed);
  return QuoteLine(file, 0, line, {});
}

// The texts that the tokens cover.
std::vector<std::string> TokenTexts(const HotLine& hot) {
  const SourceText text = DecodeSource(*hot.text);
  std::vector<std::string> texts;
  for (const Token& token : hot.tokens) {
    const std::string_view line = text.Line(token.line + 1);
    const uint32_t begin = ByteColumn(line, token.column);
    texts.emplace_back(line.substr(begin, ByteColumn(line, token.column + token.length) - begin));
  }
  return texts;
}

TEST(QuoteLine, KeepsRelativeIndentation) {
  const HotLine hot = Quote("if x:\n        y = [\n            1,\n      2]\n", 3);
  EXPECT_EQ(hot.text, "  y = [\n      1,\n2]");
  EXPECT_EQ(hot.label, "a.py:2-4");
  EXPECT_EQ(hot.function, "<module>");
  EXPECT_THAT(TokenTexts(hot), ElementsAre("1", "2"));
}

TEST(QuoteLine, TokensFitTheTextAfterCharactersOfTwoUnits) {
  const HotLine hot = Quote("def f():\n\treturn ('😀😀' + # 𝒳\n\t        '1')\n", 3);
  EXPECT_EQ(hot.text, "return ('😀😀' + # 𝒳\n        '1')");
  EXPECT_THAT(TokenTexts(hot), ElementsAre("return", "'😀😀'", "# 𝒳", "'1'"));
  EXPECT_EQ(hot.function, "f");
}

TEST(QuoteLine, StringsOfSeveralLinesLoseTheSharedIndentationOnly) {
  const HotLine hot = Quote("def f():\n    x = '''\n      a\n\n    b'''\n", 4);
  EXPECT_EQ(hot.text, "x = '''\n  a\n\nb'''");
  EXPECT_THAT(TokenTexts(hot), ElementsAre("'''", "  a", "b'''"));
}

TEST(QuoteLine, ALineOfNoStatementStandsForItself) {
  const HotLine hot = Quote("x = 1\n   # note\n", 2);
  EXPECT_EQ(hot.statement, (LineRange{2, 2}));
  EXPECT_EQ(hot.text, "# note");
}

TEST(QuoteLine, LongStatementsAreShownAroundTheLine) {
  std::string source = "x = [\n";
  for (int i = 2; i <= 99; ++i) source += "  " + std::to_string(i) + ",\n";
  source += "]\n";
  const HotLine middle = Quote(source, 50);
  EXPECT_EQ(middle.label, "a.py:1-100");
  EXPECT_EQ(middle.shown, (LineRange{30, 69}));
  EXPECT_EQ(middle.text->substr(0, 7), "30,\n31,");
  EXPECT_EQ(middle.tokens.size(), 40u);
  EXPECT_EQ(Quote(source, 3).shown, (LineRange{1, 40}));
  EXPECT_EQ(Quote(source, 100).shown, (LineRange{61, 100}));
}

TEST(QuoteLine, LongLinesAreCut) {
  const HotLine hot = Quote("x = '" + std::string(1000, 'a') + "'; y = 2\n", 1);
  EXPECT_EQ(Utf16Length(*hot.text), kQuotedColumns + 1);
  EXPECT_TRUE(hot.text->ends_with("a…"));
  ASSERT_EQ(hot.tokens.size(), 1u);
  EXPECT_EQ(hot.tokens[0].column + hot.tokens[0].length, kQuotedColumns);
}

TEST(QuoteLine, WithoutSourceThereIsOnlyALabel) {
  ReportFile file;
  file.path = "<string>";
  const HotLine hot = QuoteLine(file, 3, 9, {});
  EXPECT_EQ(hot.label, "<string>:9");
  EXPECT_EQ(hot.text, std::nullopt);
  EXPECT_EQ(hot.function, "");
  EXPECT_THAT(hot.tokens, IsEmpty());
}

}  // namespace
}  // namespace linescope
