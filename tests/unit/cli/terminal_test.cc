#include "cli/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/closing.h"
#include "cli/figures.h"
#include "cli/table.h"

namespace linescope {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("plain ä 漢 🙂"), "plain ä 漢 🙂");
  EXPECT_EQ(Printable("\x1b]0;title\x07\r\n\x7f"), "\\x1b]0;title\\x07\\x0d\\x0a\\x7f");
  EXPECT_EQ(Printable("a\tb"), "a    b");
  EXPECT_EQ(Printable("\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82"),
            "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82");
  EXPECT_EQ(Printable("\u009b31m\u202eevil\u2066"), "\\u009b31m\\u202eevil\\u2066");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("äöü"), 3);
  EXPECT_EQ(DisplayWidth("漢字"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
}

TEST(Ellipsize, CutsAtColumns) {
  EXPECT_EQ(Ellipsize("abcdef", 6), "abcdef");
  EXPECT_EQ(Ellipsize("abcdef", 4), "abc…");
  EXPECT_EQ(Ellipsize("漢字漢字", 4), "漢…");
  EXPECT_EQ(Ellipsize("abc", 0), "");
}

TEST(TextTable, AlignsAndCutsTheLastColumn) {
  TextTable table({{"N", TextTable::Align::kRight},
                   {"Name", TextTable::Align::kLeft},
                   {"Source", TextTable::Align::kLeft}});
  table.AddRow({"5", "ä", "short"});
  table.AddRow({"123", "name", "a long line of source"});
  EXPECT_EQ(table.Format({}, 2),
            "    N  Name  Source\n    5  ä     short\n  123  name  a long line of source\n");
  EXPECT_EQ(table.Format({false, 24}, 0),
            "  N  Name  Source\n  5  ä     short\n123  name  a long line …\n");
  EXPECT_THAT(table.Format({true, 80}, 0), HasSubstr("\x1b[2m  N  Name  Source\x1b[0m"));
}

TEST(JoinCommand, QuotesAsAShellNeeds) {
  EXPECT_EQ(JoinCommand({"python3", "a b.py", "it's", "", "--x=1"}),
            "python3 'a b.py' 'it'\\''s' '' --x=1");
}

TEST(ShortPath, IsRelativeToTheProject) {
  RunInfo run;
  run.project_root = "/home/me/app";
  run.working_directory = "/home/me";
  EXPECT_EQ(ShortPath("/home/me/app/src/a.py", run), "src/a.py");
  EXPECT_EQ(ShortPath("/home/me/b.py", run), "b.py");
  EXPECT_EQ(ShortPath("/home/me/x/../app//src/a.py", run), "src/a.py");
  EXPECT_EQ(ShortPath("/home/me/apple.py", run), "apple.py");
  EXPECT_EQ(ShortPath("/usr/lib/c.py", run), "/usr/lib/c.py");
}

SessionResult Session() {
  SessionResult result;
  result.end.elapsed_ns = 3'210'000'000;
  result.end.samples = 1234567;
  result.missed = 12;
  result.dropped = 3;
  result.drops = {
      {DropReason::kMissedTick, 12}, {DropReason::kTorn, 2}, {DropReason::kUnreadable, 1}};
  result.rate_reached_hz = 998.24;
  result.consistency_used = "pinned";
  result.python_versions = {"3.13.0"};
  return result;
}

TEST(ClosingBlock, HasTheFiguresThatProgramsRead) {
  ClosingFacts facts{"app.py", false, 1000, {{"report", "linescope-app.html"}}};
  SessionResult result = Session();
  result.end.exit_code = 0;
  const std::string block = ClosingBlock(facts, result, {});
  EXPECT_THAT(block, HasSubstr("linescope: app.py: 3.21 s, exit status 0, Python 3.13.0\n"));
  EXPECT_THAT(block,
              ContainsRegex("samples: 1234567, missed: 12, dropped: 3 \\(torn 2, unreadable 1\\)"));
  EXPECT_THAT(block, HasSubstr("rate: 998.2 of 1000 a second, consistency: pinned\n"));
  EXPECT_THAT(block, HasSubstr("report: linescope-app.html\n"));
  EXPECT_THAT(block, Not(HasSubstr("\x1b")));
}

TEST(ClosingBlock, SaysHowTheTargetFailed) {
  ClosingFacts facts{"app.py", false, 1000, {}};
  SessionResult result = Session();
  result.end.term_signal = 11;
  result.end.error = "killed by SIGSEGV";
  EXPECT_THAT(ClosingBlock(facts, result, {}), HasSubstr("3.21 s, killed by SIGSEGV, "));
  EXPECT_THAT(ClosingBlock(facts, result, {true, 80}),
              HasSubstr("\x1b[1;31mkilled by SIGSEGV\x1b[0m"));
}

TEST(ClosingBlock, SaysThatAnAttachedProcessGoesOn) {
  ClosingFacts facts{"pid 5", true, 1000, {}};
  EXPECT_THAT(ClosingBlock(facts, Session(), {}), HasSubstr("3.21 s, still running"));
}

}  // namespace
}  // namespace linescope
