#include "python/line_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "support/interpreters.h"
#include "support/python_target.h"
#include "support/test_data.h"

namespace linescope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A line as programs/print_lines.py writes it.
struct Truth {
  std::string name;
  int32_t first_line = 0;
  std::vector<uint8_t> table;
  std::vector<SourceRange> ranges;
};

// "12:12:4:9", or "12" without columns.
SourceRange ParseRange(const std::string& text) {
  SourceRange range;
  char colon;
  std::istringstream(text) >> range.line >> colon >> range.end_line >> colon >> range.column >>
      colon >> range.end_column;
  return range.has_columns() ? range : SourceRange{.line = range.line};
}

Truth ParseTruth(const std::string& text) {
  std::istringstream fields(text);
  Truth truth;
  std::string first_line, table, run;
  std::getline(fields, truth.name, '\t');
  std::getline(fields, first_line, '\t');
  std::getline(fields, table, '\t');
  truth.first_line = std::stoi("0" + first_line);
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    truth.table.push_back(static_cast<uint8_t>(std::stoi(table.substr(i, 2), nullptr, 16)));
  }
  while (fields >> run) {
    const size_t star = run.find('*');
    truth.ranges.insert(truth.ranges.end(), std::stoul(run.substr(star + 1)),
                        ParseRange(run.substr(0, star)));
  }
  return truth;
}

std::vector<int32_t> Lines(const UnitRanges& ranges) {
  std::vector<int32_t> lines;
  for (size_t unit = 0; unit < ranges.size(); ++unit) lines.push_back(ranges.At(unit).line);
  return lines;
}

std::string Text(const SourceRange& range) {
  return fmt::format("{}:{}:{}:{}", range.line, range.end_line, range.column, range.end_column);
}

void Check(int minor, const Truth& truth) {
  ASSERT_FALSE(truth.ranges.empty());
  const auto decode = minor >= 11   ? DecodeLocationTable
                      : minor == 10 ? DecodeLineRanges
                                    : DecodeLineDeltas;
  const UnitRanges ranges = decode(truth.table, truth.first_line, truth.ranges.size());
  for (size_t unit = 0; unit < truth.ranges.size(); ++unit) {
    ASSERT_EQ(Text(ranges.At(unit)), Text(truth.ranges[unit])) << truth.name << " unit " << unit;
  }
}

class LineTableLive : public ::testing::TestWithParam<int> {};

TEST_P(LineTableLive, GivesTheInterpretersOwnLines) {
  LS_FOR_EACH_INTERPRETER(python, GetParam()) {
    PythonTarget target(python.path, {ProgramPath("print_lines.py")});
    int codes = 0;
    size_t longest = 0;
    for (std::string line = target.ReadLine(); line != "done"; line = target.ReadLine()) {
      ASSERT_FALSE(line.empty()) << "the program ended early";
      const Truth truth = ParseTruth(line);
      Check(GetParam(), truth);
      ++codes;
      longest = std::max(longest, truth.ranges.size());
    }
    EXPECT_GT(codes, 400);
    EXPECT_GT(longest, 65536u) << "no code object beyond 16 bits of units";
  }
}
INSTANTIATE_TEST_SUITE_P(Live, LineTableLive, EachMinor(), MinorName);

// Printed once by each version, so that tables are tested where there is no interpreter.
TEST(LineTable, GivesTheLinesThatInterpretersGave) {
  int codes = 0;
  for (int minor = 8; minor <= 15; ++minor) {
    const std::string name = fmt::format("lines_3_{}.txt", minor);
    SCOPED_TRACE(name);
    std::ifstream file(TestData("unit/python") / name);
    for (std::string line; std::getline(file, line) && line != "done";) {
      Check(minor, ParseTruth(line));
      ++codes;
    }
  }
  EXPECT_GT(codes, 30);
}

TEST(LineTable, EndsWithItsTable) {
  const std::vector<uint8_t> one_entry{0x80 | 13 << 3 | 1, 4};  // two units, line +2
  EXPECT_THAT(Lines(DecodeLocationTable(one_entry, 10, 5)),
              ElementsAre(12, 12, kNoLine, kNoLine, kNoLine));
  EXPECT_THAT(Lines(DecodeLocationTable({}, 10, 3)), Each(kNoLine));
  EXPECT_THAT(Lines(DecodeLocationTable(one_entry, 10, 0)), SizeIs(0));
  EXPECT_THAT(Lines(DecodeLocationTable(one_entry, 10, 1)), ElementsAre(12));
}

TEST(LineTable, EndsWithItsPairs) {
  // Two units on the first line, one on the line behind, then nothing more is said.
  EXPECT_THAT(Lines(DecodeLineRanges(std::vector<uint8_t>{4, 0, 2, 1}, 10, 5)),
              ElementsAre(10, 10, 11, kNoLine, kNoLine));
  EXPECT_THAT(Lines(DecodeLineDeltas(std::vector<uint8_t>{4, 1}, 10, 5)),
              ElementsAre(10, 10, 11, 11, 11));
  EXPECT_THAT(Lines(DecodeLineRanges({}, 10, 2)), Each(kNoLine));
  EXPECT_THAT(Lines(DecodeLineDeltas({}, 10, 2)), Each(10));
  // 0x80: no line in 3.10, and 128 lines back before.
  EXPECT_THAT(Lines(DecodeLineRanges(std::vector<uint8_t>{2, 0x80, 2, 1}, 10, 2)),
              ElementsAre(kNoLine, 11));
  EXPECT_THAT(Lines(DecodeLineDeltas(std::vector<uint8_t>{2, 0x80}, 200, 2)), ElementsAre(200, 72));
}

TEST(LineTable, BearsMalformedTables) {
  DecodeLineRanges(std::vector<uint8_t>(1001, 0x7f), INT32_MAX, 100);
  DecodeLineDeltas(std::vector<uint8_t>(1001, 0x7f), INT32_MAX, 100);
  // A varint that never ends, lines that overflow, entries cut in the middle.
  DecodeLocationTable(std::vector<uint8_t>(1000, 0xff), 1, 100);
  DecodeLocationTable(std::vector<uint8_t>(1000, 0x40 | 13 << 3), 1, 1'000);
  std::vector<uint8_t> overflow;
  for (int i = 0; i < 50; ++i) {
    overflow.insert(overflow.end(), {0x80 | 13 << 3, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x03});
  }
  EXPECT_THAT(Lines(DecodeLocationTable(overflow, INT32_MAX, 100)), SizeIs(100));
  EXPECT_THAT(Lines(DecodeLocationTable(std::vector<uint8_t>{0x80 | 14 << 3, 2}, 5, 2)),
              ElementsAre(6, kNoLine));
}

}  // namespace
}  // namespace linescope
