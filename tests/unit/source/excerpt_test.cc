#include "source/excerpt.h"

#include <gtest/gtest.h>

namespace linescope {
namespace {

Excerpt At(std::string_view bytes, uint32_t line, const ExcerptLimits& limits = {}) {
  const SourceText source = DecodeSource(bytes);
  return StatementExcerpt(source, IndexPython(source), line, limits);
}

TEST(Excerpt, ShowsTheWholeStatementFromAnyOfItsLines) {
  constexpr std::string_view kSource =
      "def f():\n"
      "    x = g(1,\n"
      "          2,\n"
      "\n"
      "          3)\n"
      "    y = 1\n";
  for (uint32_t line = 2; line <= 5; ++line) {
    const Excerpt excerpt = At(kSource, line);
    EXPECT_EQ(excerpt.text, "x = g(1,\n      2,\n\n      3)");
    EXPECT_EQ(excerpt.lines, (LineRange{2, 5}));
    EXPECT_EQ(excerpt.hidden_lines, 0U);
  }
  EXPECT_EQ(At(kSource, 6).text, "y = 1");
  EXPECT_EQ(At(kSource, 1).text, "def f():");
}

TEST(Excerpt, RemovesOnlyIndentationThatAllLinesShare) {
  EXPECT_EQ(At("if a:\n    x = '''\n  b\n\n'''\n", 2).text, "    x = '''\n  b\n\n'''");
  EXPECT_EQ(At("if a:\n\tx = [\n\t\t1]\n", 2).text, "x = [\n\t1]");
  EXPECT_EQ(At("if a:\n\tx = [\n        1]\n", 2).text, "\tx = [\n        1]")
      << "a tab is no spaces";
}

TEST(Excerpt, FallsBackToTheLine) {
  EXPECT_EQ(At("x = 1\n    # comment\n", 2).text, "# comment");
  EXPECT_EQ(At("x = 1\n\ny", 2).text, "");
  EXPECT_EQ(At("x = 1\n", 7).text, "");
  EXPECT_EQ(At("", 1).text, "");
  EXPECT_EQ(At("def f(:\n  (((\n", 2).text, "(((");
}

TEST(Excerpt, CutsLongStatementsAndSaysSo) {
  std::string bytes = "x = [\n";
  for (int i = 2; i <= 99; ++i) bytes += "  " + std::to_string(i) + ",\n";
  bytes += "]\n";
  const Excerpt middle = At(bytes, 50, {.lines = 5});
  EXPECT_EQ(middle.text, "x = [\n… 47 lines\n  49,\n  50,\n  51,\n… 48 lines\n]");
  EXPECT_EQ(middle.hidden_lines, 95U);
  EXPECT_EQ(middle.lines, (LineRange{1, 100}));
  EXPECT_EQ(At(bytes, 1, {.lines = 5}).text, "x = [\n  2,\n  3,\n  4,\n… 95 lines\n]");
  EXPECT_EQ(At(bytes, 100, {.lines = 5}).text, "x = [\n… 95 lines\n  97,\n  98,\n  99,\n]");
  EXPECT_EQ(At(bytes, 98, {.lines = 5}).text, "x = [\n… 95 lines\n  97,\n  98,\n  99,\n]");
  for (uint32_t line = 1; line <= 100; ++line) {
    const Excerpt excerpt = At(bytes, line, {.lines = 3});
    EXPECT_EQ(excerpt.hidden_lines, 97U) << line;
    if (line > 1 && line < 100) {
      EXPECT_NE(excerpt.text.find("  " + std::to_string(line) + ","), std::string::npos) << line;
    }
  }
}

TEST(Excerpt, CutsLongLinesBetweenCharacters) {
  const Excerpt excerpt = At("x = '😀😀😀'\n", 1, {.columns = 8});
  EXPECT_EQ(excerpt.text, "x = '😀…");
  EXPECT_TRUE(excerpt.cut_lines);
  EXPECT_FALSE(At("x = 1\n", 1, {.columns = 5}).cut_lines);
}

}  // namespace
}  // namespace linescope
