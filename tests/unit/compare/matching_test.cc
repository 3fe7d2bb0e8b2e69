#include "compare/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "support/test_data.h"
#include "unit/compare/runs.h"

namespace linescope {
namespace {

using testing::MakeRun;

constexpr char kBase[] = R"py(import json
import sys


class Reader:
    def __init__(self, path):
        self.path = path
        self.rows = []

    def read(self):
        with open(self.path) as file:
            for line in file:
                self.rows.append(json.loads(line))
        return self.rows

    def total(self):
        result = 0
        for row in self.rows:
            result += row["value"]
        return result


def mean(rows):
    result = 0
    for row in rows:
        result += row["value"]
    return result / len(rows)


def report(reader):
    rows = reader.read()
    print("mean", mean(rows))
    print("total", reader.total())


if __name__ == "__main__":
    report(Reader(sys.argv[1]))
)py";

// total() before read(), mean() renamed to average() and at the end, report() edited, lines added.
constexpr char kNow[] = R"py(import json
import logging
import sys

log = logging.getLogger(__name__)


class Reader:
    def __init__(self, path):
        self.path = path
        self.rows = []

    def total(self):
        result = 0
        for row in self.rows:
            result += row["value"]
        return result

    def read(self):
        log.info("reading %s", self.path)
        with open(self.path) as file:
            for line in file:
                self.rows.append(json.loads(line.strip()))
        return self.rows


def report(reader, verbose=False):
    rows = reader.read()
    print("average", average(rows))
    print("total", reader.total())


def average(rows):
    result = 0
    for row in rows:
        result += row["value"]
    return result / len(rows)


if __name__ == "__main__":
    report(Reader(sys.argv[1]))
)py";

std::string Trim(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

class MatchingTest : public ::testing::Test {
 protected:
  void Run(const std::vector<testing::TextFile>& base, const std::vector<testing::TextFile>& now) {
    base_ = MakeRun(base);
    now_ = MakeRun(now);
    matching_ = Match(base_, now_);
    // Whatever is matched as the same text is, and nothing is matched twice.
    std::vector<std::pair<uint32_t, uint32_t>> used;
    for (uint32_t file = 0; file < now_.files.size(); ++file) {
      for (uint32_t line = 0; line < matching_.line[file].size(); ++line) {
        const BaseLine& match = matching_.line[file][line];
        if (match.kind == MatchKind::kNone) continue;
        used.emplace_back(match.file, match.line);
        if (match.kind == MatchKind::kEdited) continue;
        EXPECT_EQ(Trim(now_.files[file].text[line]),
                  Trim(base_.files[match.file].text[match.line - 1]));
      }
    }
    std::ranges::sort(used);
    EXPECT_EQ(std::ranges::adjacent_find(used), used.end());
  }

  // The counterpart of the line of the new run that holds `piece`, the `nth` from 0.
  std::string From(const std::string& piece, size_t nth = 0, uint32_t file = 0) {
    for (uint32_t line = 0; line < now_.files[file].text.size(); ++line) {
      if (now_.files[file].text[line].find(piece) == std::string::npos || nth-- > 0) continue;
      const BaseLine& match = matching_.line[file][line];
      if (match.kind == MatchKind::kNone) return "none";
      // Which of two blocks that changed places has moved is a matter of taste.
      const char* kind = match.kind == MatchKind::kEdited ? "edited" : "kept";
      return std::string(kind) + " " + base_.files[match.file].place + ":" +
             std::to_string(match.line);
    }
    return "no such line";
  }

  std::string FunctionFrom(const std::string& name) {
    for (uint32_t i = 0; i < now_.functions.size(); ++i) {
      if (now_.functions[i].name != name) continue;
      const auto base = matching_.function[i];
      if (!base) return "none";
      return base_.files[base_.functions[*base].file].place + ":" + base_.functions[*base].name;
    }
    return "no such function";
  }

  RunData base_, now_;
  Matching matching_;
};

TEST_F(MatchingTest, FollowsLinesThroughMovesRenamesAndEdits) {
  Run({{"app.py", kBase, {}}}, {{"app.py", kNow, {}}});
  EXPECT_EQ(From("import json"), "kept app.py:1");
  EXPECT_EQ(From("import logging"), "none");
  EXPECT_EQ(From("with open"), "kept app.py:11");
  EXPECT_EQ(From("json.loads"), "edited app.py:13");
  EXPECT_EQ(From("return self.rows"), "kept app.py:14");
  EXPECT_EQ(From("for row in self.rows"), "kept app.py:18");
  // Those of total() and of average() look alike; each comes from its own function.
  EXPECT_EQ(From("result += row", 0), "kept app.py:19");
  EXPECT_EQ(From("result += row", 1), "kept app.py:26");
  EXPECT_EQ(From("return result / len"), "kept app.py:27");
  EXPECT_EQ(From("def average"), "edited app.py:23");
  EXPECT_EQ(From("def report"), "edited app.py:30");
  EXPECT_EQ(From("rows = reader.read()"), "kept app.py:31");
  EXPECT_EQ(From("average(rows))"), "edited app.py:32");
  EXPECT_EQ(From("log.info"), "none");
  EXPECT_EQ(From("return result", 0), "kept app.py:20");
  EXPECT_EQ(FunctionFrom("Reader.read"), "app.py:Reader.read");
  EXPECT_EQ(FunctionFrom("average"), "app.py:mean");
  EXPECT_EQ(FunctionFrom("report"), "app.py:report");
}

TEST_F(MatchingTest, EveryUnchangedLineIsMatched) {
  Run({{"app.py", kBase, {}}}, {{"app.py", kNow, {}}});
  // Those that an edit touched; all others of the new text stood in the old one.
  const std::vector<std::string> touched = {"import logging", "log = ",     "log.info",
                                            "line.strip()",   "def report", "\"average\"",
                                            "def average"};
  for (uint32_t line = 0; line < now_.files[0].text.size(); ++line) {
    const std::string& text = now_.files[0].text[line];
    if (Trim(text).empty() || std::ranges::any_of(touched, [&](const std::string& piece) {
          return text.find(piece) != std::string::npos;
        }))
      continue;
    const MatchKind kind = matching_.line[0][line].kind;
    EXPECT_TRUE(kind == MatchKind::kSame || kind == MatchKind::kMoved) << line + 1 << ": " << text;
  }
}

TEST_F(MatchingTest, FindsAFileUnderAnotherName) {
  Run({{"old/reader.py", kBase, {}}, {"main.py", "import old.reader\n", {}}},
      {{"main.py", "import new.loader\n", {}}, {"new/loader.py", kBase, {}}});
  EXPECT_EQ(matching_.file[0], 1u);
  EXPECT_EQ(matching_.file[1], 0u);
  EXPECT_EQ(From("json.loads", 0, 1), "kept old/reader.py:13");
  EXPECT_EQ(FunctionFrom("Reader.total"), "old/reader.py:Reader.total");
}

TEST_F(MatchingTest, FindsAFunctionInAnotherFile) {
  const std::string helper =
      "def heavy(values):\n    total = sum(value * value for value in values)\n    return total\n";
  Run({{"a.py", "import os\n\n\n" + helper + "\n\nprint(heavy([1]))\n", {}},
       {"b.py", "x = 1\n", {}}},
      {{"a.py", "import os\nfrom b import heavy\n\nprint(heavy([1]))\n", {}},
       {"b.py", "x = 1\n\n\n" + helper, {}}});
  EXPECT_EQ(From("total = sum", 0, 1), "kept a.py:5");
  EXPECT_EQ(FunctionFrom("heavy"), "a.py:heavy");
  EXPECT_EQ(From("x = 1", 0, 1), "kept b.py:1");
}

TEST_F(MatchingTest, UnrelatedTextsHaveNothingInCommon) {
  Run({{"a.py", "alpha = 1\nbeta = 2\n", {}}, {"z.py", "zeta = 3\n", {}}},
      {{"q.py", "while condition():\n    wait_for(event)\n", {}}, {"r.py", "raise Error\n", {}}});
  EXPECT_EQ(From("while"), "none");
  EXPECT_FALSE(matching_.file[0]);
}

TEST_F(MatchingTest, EmptySides) {
  Run({}, {{"a.py", "a = 1\n", {}}});
  EXPECT_EQ(From("a = 1"), "none");
  Run({{"a.py", "a = 1\n", {}}}, {});
  Run({{"a.py", "", {}}}, {{"a.py", "\n\n", {}}});
}

// Random edits of a real module whose history is known line by line.
TEST_F(MatchingTest, LosesNoUnchangedLineInRandomEdits) {
  std::ifstream file(TestData("e2e/support.py"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_GT(lines.size(), 100u);
  const auto join = [](const std::vector<std::string>& text) {
    std::string out;
    for (const std::string& line : text) out += line + "\n";
    return out;
  };
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> edited = lines;
    // Blocks of 5 to 30 lines move, lines come and go.
    for (int move = 0; move < 3; ++move) {
      const size_t length = 5 + random() % 26, from = random() % (edited.size() - length);
      const auto first = edited.begin() + static_cast<std::ptrdiff_t>(from);
      std::vector<std::string> block(first, first + static_cast<std::ptrdiff_t>(length));
      edited.erase(first, first + static_cast<std::ptrdiff_t>(length));
      edited.insert(edited.begin() + static_cast<std::ptrdiff_t>(random() % edited.size()),
                    block.begin(), block.end());
    }
    std::vector<bool> fresh(edited.size());
    for (int insert = 0; insert < 15; ++insert) {
      const auto at = static_cast<std::ptrdiff_t>(random() % edited.size());
      edited.insert(edited.begin() + at,
                    "inserted_" + std::to_string(insert) + " = " + std::to_string(random()));
      fresh.insert(fresh.begin() + at, true);
    }
    Run({{"m.py", join(lines), {}}}, {{"m.py", join(edited), {}}});
    size_t lost = 0, significant = 0;
    for (uint32_t line = 0; line < edited.size(); ++line) {
      if (fresh[line] || Trim(edited[line]).size() < 8) continue;
      ++significant;
      const MatchKind kind = matching_.line[0][line].kind;
      if (kind != MatchKind::kSame && kind != MatchKind::kMoved) ++lost;
    }
    EXPECT_EQ(lost, 0u) << "of " << significant << " in round " << round;
  }
}

}  // namespace
}  // namespace linescope
