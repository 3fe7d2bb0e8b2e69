#include "source/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/encoding.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> LinesOf(const SourceText& source) {
  std::vector<std::string> lines;
  for (uint32_t i = 1; i <= source.LineCount(); ++i) lines.emplace_back(source.Line(i));
  return lines;
}

TEST(DecodeSource, EndsLinesAsPythonDoes) {
  EXPECT_THAT(LinesOf(DecodeSource("a\nb\r\nc\rd")), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(DecodeSource("a\r\n\r\rb").text, "a\n\n\nb");
  // Form feed, vertical tab, NEL and the Unicode separators are no line ends.
  EXPECT_EQ(DecodeSource("a\fb\vc\xC2\x85"
                         "d\xE2\x80\xA8"
                         "e\xE2\x80\xA9"
                         "f")
                .LineCount(),
            1U);
}

TEST(DecodeSource, CountsLines) {
  EXPECT_EQ(DecodeSource("").LineCount(), 0U);
  EXPECT_EQ(DecodeSource("a").LineCount(), 1U);
  EXPECT_EQ(DecodeSource("a\n").LineCount(), 1U);
  EXPECT_EQ(DecodeSource("\n").LineCount(), 1U);
  EXPECT_EQ(DecodeSource("a\n\n").LineCount(), 2U);
  const SourceText source = DecodeSource("a\nb");
  EXPECT_EQ(source.Line(0), "");
  EXPECT_EQ(source.Line(2), "b");
  EXPECT_EQ(source.Line(3), "");
}

TEST(DecodeSource, RemovesTheBom) {
  const SourceText source = DecodeSource("\xEF\xBB\xBF# coding: latin-1\nx = '\xC3\xA9'");
  EXPECT_EQ(source.encoding, "utf-8");
  EXPECT_EQ(source.Line(2), "x = 'é'");
  EXPECT_THAT(source.note, IsEmpty());
  EXPECT_EQ(DecodeSource("\xEF\xBB\xBF").LineCount(), 0U);
}

struct EncodingCase {
  std::string bytes;
  std::string encoding;
  std::string second_line;
};

class DeclaredEncodings : public ::testing::TestWithParam<EncodingCase> {};

TEST_P(DeclaredEncodings, AreDecoded) {
  const SourceText source = DecodeSource(GetParam().bytes);
  EXPECT_EQ(source.encoding, GetParam().encoding);
  EXPECT_EQ(source.Line(2), GetParam().second_line);
  EXPECT_THAT(source.note, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, DeclaredEncodings,
    ::testing::Values(
        EncodingCase{"# coding: latin-1\n\xE9\x80", "iso-8859-1", "é\xC2\x80"},
        EncodingCase{"# -*- coding: iso-8859-15 -*-\n\xA4\xE9", "iso-8859-15", "€é"},
        EncodingCase{"# vim: set fileencoding=cp1252 :\n\x80\x9F\xE9", "cp1252", "€Ÿé"},
        EncodingCase{"# coding=Windows_1252\n\x93x\x94", "cp1252", "“x”"},
        EncodingCase{"#coding:utf8\n\xC3\xA9", "utf-8", "é"},
        EncodingCase{"# coding: utf-8-sig\n\xC3\xA9", "utf-8", "é"},
        EncodingCase{"# coding: us-ascii\nx", "ascii", "x"},
        EncodingCase{"# coding: koi8-r\n\xC1\xC2", "koi8-r", "аб"},
        EncodingCase{"# coding: shift_jis\n\x93\xFA", "shift-jis", "日"},
        // The second line counts when the first is blank or a comment, and only then.
        EncodingCase{" \t\f\r\n# coding: latin-1 \xE9", "iso-8859-1", "# coding: latin-1 é"},
        EncodingCase{"#!/usr/bin/python\n# coding: cp1252 \x80", "cp1252", "# coding: cp1252 €"},
        EncodingCase{"x = 1\n# coding: latin-1", "utf-8", "# coding: latin-1"},
        EncodingCase{"s = '# coding: latin-1'\n", "utf-8", ""},
        EncodingCase{"# encoding of nothing; coding = latin-1\nx", "utf-8", "x"},
        EncodingCase{"\n\n# coding: latin-1", "utf-8", ""}));

TEST(DecodeSource, SaysWhatItMended) {
  const SourceText invalid = DecodeSource("x = '\xFF\xFE'\n");
  EXPECT_EQ(invalid.Line(1), "x = '��'");
  EXPECT_THAT(invalid.note, HasSubstr("2 invalid byte sequences in utf-8"));

  const SourceText ascii = DecodeSource("# coding: ascii\n'\xE9'");
  EXPECT_EQ(ascii.Line(2), "'�'");
  EXPECT_THAT(ascii.note, HasSubstr("1 invalid byte sequence in ascii"));

  const SourceText unknown = DecodeSource("# coding: klingon\n\xC3\xA9");
  EXPECT_EQ(unknown.Line(2), "é");
  EXPECT_EQ(unknown.encoding, "utf-8");
  EXPECT_THAT(unknown.note, HasSubstr("unknown encoding \"klingon\""));

  const SourceText cut = DecodeSource("# coding: shift_jis\n\x93");
  EXPECT_EQ(cut.Line(2), "�");
  EXPECT_THAT(cut.note, HasSubstr("1 invalid byte sequence"));
}

TEST(DecodeSource, KeepsNul) {
  const SourceText source = DecodeSource(std::string_view("a\0b\nc", 5));
  EXPECT_EQ(source.Line(1), std::string_view("a\0b", 3));
  EXPECT_EQ(source.LineCount(), 2U);
}

struct Utf8Case {
  const char* bytes;
  const char* mended;
  size_t replaced;
};

TEST(MakeValidUtf8, ReplacesMaximalParts) {
  const Utf8Case cases[] = {
      {"plain é 日 😀", "plain é 日 😀", 0},
      {"\x80", "�", 1},
      {"\xC0\xAF", "��", 2},            // overlong
      {"\xE0\x80\x80", "���", 3},       // overlong
      {"\xED\xA0\x80", "���", 3},       // surrogate
      {"\xF4\x90\x80\x80", "����", 4},  // above U+10FFFF
      {"\xF0\x9F\x98", "�", 1},         // cut: one part
      {"\xF0\x9F\x98x", "�x", 1},
      {"\xE6\x97", "�", 1},
      {"a\xE6\x97\xE6\x97\xA5", "a�日", 1},
      {"\xF5\xFF", "��", 2},
  };
  for (const Utf8Case& one : cases) {
    std::string text = one.bytes;
    EXPECT_EQ(MakeValidUtf8(text), one.replaced) << one.mended;
    EXPECT_EQ(text, one.mended);
  }
}

TEST(Columns, ConvertBetweenUnits) {
  const std::string_view line = "é😀x日";  // 2, 4, 1, 3 bytes; 1, 2, 1, 1 units
  EXPECT_EQ(Utf16Length(line), 5U);
  const std::pair<uint32_t, uint32_t> pairs[] = {{0, 0}, {2, 1}, {6, 3}, {7, 4}, {10, 5}};
  for (auto [byte, unit] : pairs) {
    EXPECT_EQ(Utf16Column(line, byte), unit);
    EXPECT_EQ(ByteColumn(line, unit), byte);
  }
  EXPECT_EQ(Utf16Column(line, 4), 1U) << "inside the emoji";
  EXPECT_EQ(ByteColumn(line, 2), 2U) << "inside the emoji";
  EXPECT_EQ(Utf16Column(line, 99), 5U);
  EXPECT_EQ(ByteColumn(line, 99), 10U);
  EXPECT_EQ(ByteColumn("", 1), 0U);
}

}  // namespace
}  // namespace linescope
