#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/budget.h"
#include "compare/presentation.h"
#include "report/report_writer.h"
#include "unit/compare/runs.h"
#include "unit/report/fake_profile.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeRun;
using ::testing::Not;

constexpr char kText[] =
    "def slow(n):\n"
    "    return first(n)\n"
    "\n"
    "def fast(n):\n"
    "    return second(n)\n";

Comparison MustCompare(RunData base, RunData now, Scaling scaling = Scaling::kAuto) {
  auto comparison = Compare(std::move(base), std::move(now), {.scaling = scaling});
  EXPECT_TRUE(comparison) << comparison.error().what;
  return *std::move(comparison);
}

TEST(ComparisonTest, TellsChangesFromNoise) {
  const Comparison comparison =
      MustCompare(MakeRun({{"a.py", kText, {{"first", 500}, {"second", 20}}}}),
                  MakeRun({{"a.py", kText, {{"first", 1000}, {"second", 26}}}}));
  ASSERT_EQ(comparison.lines.size(), 2u);
  const LineChange& slow = comparison.lines[0];
  EXPECT_EQ(PlaceOf(comparison, slow), "a.py:2");
  EXPECT_EQ(slow.change.delta_ns, 500'000'000);
  EXPECT_FALSE(slow.change.noise);
  EXPECT_EQ(FormatRelative(slow.change), "+100.0%");
  EXPECT_EQ(TextOf(comparison, slow), "return first(n)");
  EXPECT_EQ(HistoryOf(comparison, slow), "");
  EXPECT_TRUE(comparison.lines[1].change.noise);
  ASSERT_EQ(comparison.functions.size(), 2u);
  EXPECT_EQ(NameOf(comparison, comparison.functions[0]), "slow");
  EXPECT_FALSE(comparison.total.noise);
  EXPECT_EQ(comparison.total.delta_ns, 506'000'000);
}

TEST(ComparisonTest, SaysWhatIsNewAndWhatIsGone) {
  const Comparison comparison =
      MustCompare(MakeRun({{"a.py", "alpha(1)\nbeta(2)\n", {{"alpha", 300}, {"beta", 100}}}}),
                  MakeRun({{"a.py", "alpha(1)\n", {{"alpha", 300}}},
                           {"n.py", "gamma = [3]\n", {{"gamma", 200}}}}));
  ASSERT_EQ(comparison.lines.size(), 3u);
  EXPECT_EQ(PlaceOf(comparison, comparison.lines[0]), "n.py:1");
  EXPECT_EQ(HistoryOf(comparison, comparison.lines[0]), "new");
  EXPECT_EQ(FormatRelative(comparison.lines[0].change), "new");
  EXPECT_EQ(PlaceOf(comparison, comparison.lines[1]), "a.py:2");
  EXPECT_EQ(HistoryOf(comparison, comparison.lines[1]), "gone");
  EXPECT_EQ(comparison.lines[1].change.delta_ns, -100'000'000);
  EXPECT_EQ(comparison.lines[2].change.delta_ns, 0);
}

TEST(ComparisonTest, EveryCostOfBothSidesIsThereOnce) {
  const Comparison comparison = MustCompare(
      MakeRun(
          {{"a.py", kText, {{"first", 70}, {"second", 30}}}, {"gone.py", "x(1)\n", {{"x", 9}}}}),
      MakeRun({{"a.py", std::string("import os\n\n") + kText, {{"first", 40}, {"import", 5}}}}));
  uint64_t base = 0, now = 0;
  for (const LineChange& line : comparison.lines) {
    base += line.change.base.samples;
    now += line.change.now.samples;
  }
  EXPECT_EQ(base, 109u);
  EXPECT_EQ(now, 45u);
}

TEST(ComparisonTest, ScalesPartsOfARun) {
  RunData base = MakeRun({{"a.py", kText, {{"first", 1000}}}});
  RunData now = MakeRun({{"a.py", kText, {{"first", 500}}}});
  now.elapsed_ns = *base.elapsed_ns / 2;
  EXPECT_EQ(MustCompare(base, now).lines[0].change.delta_ns, -500'000'000);
  EXPECT_EQ(MustCompare(base, now, Scaling::kElapsed).lines[0].change.delta_ns, 0);
  now.whole = false;
  const Comparison comparison = MustCompare(base, now);
  EXPECT_TRUE(comparison.scaled);
  EXPECT_EQ(comparison.lines[0].change.delta_ns, 0);
  EXPECT_TRUE(comparison.lines[0].change.noise);
  EXPECT_THAT(ScaleText(comparison), HasSubstr("scaled by 2 "));
  EXPECT_FALSE(MustCompare(base, now, Scaling::kNone).scaled);
  now.elapsed_ns.reset();
  const auto failed = Compare(base, now);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("--scale none"));
}

TEST(ComparisonTest, RefusesRunsThatCountDifferentThings) {
  RunData base = MakeRun({}), now = MakeRun({});
  base.origin = "a.linescope";
  now.origin = "b.linescope";
  now.mode = "cpu";
  const auto failed = Compare(base, now);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUsage);
  EXPECT_THAT(failed.error().what, HasSubstr("a.linescope wall time, b.linescope time on a CPU"));
}

TEST(ComparisonTest, NotesOtherHostsAndVersions) {
  RunData base = MakeRun({}), now = MakeRun({});
  base.python = "3.12.1";
  now.python = "3.13.0";
  EXPECT_THAT(MustCompare(base, now).notes,
              ElementsAre("versions of Python differ: 3.12.1 and 3.13.0"));
}

TEST(ComparisonTest, MarkdownIsInert) {
  const std::string hostile = "x('|<img src=q onerror=alert(1)>`[a](b) @all')\n";
  RunData base = MakeRun({{"a|b.py", hostile, {{"img", 10}}}});
  RunData now = MakeRun({{"a|b.py", hostile, {{"img", 900}}}});
  now.title = "<script>\n# heading";
  const std::string markdown = ComparisonMarkdown(MustCompare(base, now), 10);
  EXPECT_THAT(markdown, Not(HasSubstr("<img")));
  EXPECT_THAT(markdown, Not(HasSubstr("<script")));
  EXPECT_THAT(markdown, Not(HasSubstr("@all")));
  EXPECT_THAT(markdown, Not(HasSubstr("](b)")));
  EXPECT_THAT(markdown,
              HasSubstr("| ▲ +890 ms | +8900.0% | 10.0 ms | 900 ms | a&#124;b.py&#58;1 |"));
}

TEST(RunDataTest, AReportHoldsWhatAProfileHolds) {
  testing::FakeProfile profile;
  testing::FillDemo(profile);
  const auto model = BuildModel(profile);
  ASSERT_TRUE(model);
  const auto html = ReportHtml(*model);
  ASSERT_TRUE(html);
  const auto report = ReportData::Parse(*html);
  ASSERT_TRUE(report) << report.error().what;
  const auto from_report = RunDataOf(*report);
  ASSERT_TRUE(from_report) << from_report.error().what;
  const RunData from_profile = RunDataOf(*model);
  EXPECT_EQ(from_report->title, from_profile.title);
  EXPECT_EQ(from_report->mode, from_profile.mode);
  EXPECT_EQ(from_report->whole, from_profile.whole);
  EXPECT_EQ(from_report->elapsed_ns, from_profile.elapsed_ns);
  EXPECT_EQ(from_report->python, from_profile.python);
  EXPECT_EQ(from_report->total, from_profile.total);
  EXPECT_EQ(from_report->project, from_profile.project);
  ASSERT_EQ(from_report->files.size(), from_profile.files.size());
  for (size_t i = 0; i < from_profile.files.size(); ++i) {
    const RunFile &a = from_report->files[i], &b = from_profile.files[i];
    EXPECT_EQ(a.place, b.place);
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.has_source, b.has_source);
    EXPECT_EQ(a.text, b.text);
    ASSERT_EQ(a.lines.size(), b.lines.size());
    for (size_t j = 0; j < b.lines.size(); ++j) {
      EXPECT_EQ(a.lines[j].line, b.lines[j].line);
      EXPECT_EQ(a.lines[j].cost, b.lines[j].cost);
    }
    ASSERT_EQ(a.definitions.size(), b.definitions.size());
    for (size_t j = 0; j < b.definitions.size(); ++j)
      EXPECT_EQ(a.definitions[j].name, b.definitions[j].name);
  }
  ASSERT_EQ(from_report->functions.size(), from_profile.functions.size());
  for (size_t i = 0; i < from_profile.functions.size(); ++i) {
    EXPECT_EQ(from_report->functions[i].name, from_profile.functions[i].name);
    EXPECT_EQ(from_report->functions[i].cost, from_profile.functions[i].cost);
  }
  for (const LineChange& line : MustCompare(*from_report, from_profile).lines)
    EXPECT_EQ(line.change.delta_ns, 0);
}

TEST(ComparisonTest, TheColumnFollowsTheModel) {
  testing::FakeProfile profile;
  testing::FillDemo(profile);
  auto model = BuildModel(profile);
  ASSERT_TRUE(model);
  RunData base = RunDataOf(*model);
  for (RunLine& line : base.files[0].lines) {
    if (line.line == 5) line.cost = {600'000'000, 600};
  }
  const Comparison comparison = MustCompare(base, RunDataOf(*model));
  const ReportComparison column = ComparisonColumn(comparison, *model);
  ASSERT_EQ(column.files.size(), model->files.size());
  ASSERT_EQ(column.functions.size(), model->functions.size());
  ASSERT_FALSE(column.lines[0].empty());
  EXPECT_EQ(column.lines[0][0].line, 5u);
  EXPECT_EQ(column.lines[0][0].change.delta_ns, -540'000'000);
  EXPECT_FALSE(column.lines[0][0].change.noise);
  EXPECT_EQ(column.max_delta_ns, 540'000'000);
  model->comparison = column;
  const auto html = ReportHtml(*model);
  ASSERT_TRUE(html);
  const auto report = ReportData::Parse(*html);
  ASSERT_TRUE(report);
  const auto sources = report->Chunk(1);
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->U32("diff_line")[0], 5u);
  EXPECT_EQ(sources->F64("diff")[0], -540e6);
  EXPECT_EQ(sources->U8("diff_flags")[0], 0);
  EXPECT_THAT(report->index(), HasSubstr("\"max_delta\":540000000"));
}

// Budgets.

TEST(LimitTest, TimesAndShares) {
  EXPECT_EQ(ParseLimit("1.5")->time_ns, 1'500'000'000);
  EXPECT_EQ(ParseLimit(" 500 ms ")->time_ns, 500'000'000);
  EXPECT_EQ(ParseLimit("2 min")->time_ns, 120'000'000'000);
  EXPECT_EQ(ParseLimit("0")->time_ns, 0);
  EXPECT_DOUBLE_EQ(*ParseLimit("12.5%")->share, 0.125);
  for (const char* wrong : {"", "fast", "-1", "1 week", "nan", "1e300 h", "10%%", "%"})
    EXPECT_FALSE(ParseLimit(wrong)) << wrong;
}

BudgetEntry Entry(const std::string& key, const std::string& limit) {
  auto entry = BudgetEntryOf(key, limit);
  EXPECT_TRUE(entry) << entry.error().what;
  return *std::move(entry);
}

TEST(BudgetTest, NamesWhatIsOver) {
  const RunData run = MakeRun({{"pkg/a.py", kText, {{"first", 900}, {"second", 100}}}});
  const auto over = [&](const std::string& key, const std::string& limit) {
    std::string places;
    for (const Breach& breach : CheckBudget(run, {Entry(key, limit)}).breaches)
      places += breach.place + " " + breach.text + ";";
    return places;
  };
  EXPECT_EQ(over("time", "0.9"), " ;");
  EXPECT_EQ(over("time", "1 s"), "");
  EXPECT_EQ(over("each.line", "50%"), "pkg/a.py:2 return first(n);");
  EXPECT_EQ(over("each.line", "99ms"), "pkg/a.py:2 return first(n);pkg/a.py:5 return second(n);");
  EXPECT_EQ(over("each.file", "99%"), "pkg/a.py ;");
  EXPECT_EQ(over("functions.slow", "899ms"), "pkg/a.py:1 slow;");
  EXPECT_EQ(over("functions.a.py:slow", "899ms"), "pkg/a.py:1 slow;");
  EXPECT_EQ(over("functions.b.py:slow", "899ms"), "");
  EXPECT_EQ(over("lines.pkg/a.py:5", "99ms"), "pkg/a.py:5 return second(n);");
  EXPECT_EQ(over("lines.a.py:4", "0"), "");
  EXPECT_EQ(over("files.a.py", "500ms"), "pkg/a.py ;");
}

TEST(BudgetTest, WarnsOfNamesThatNothingHas) {
  const RunData run = MakeRun({{"a.py", kText, {{"first", 900}}}});
  const auto warnings = [&](const std::string& key) {
    return CheckBudget(run, {Entry(key, "1")}).warnings;
  };
  EXPECT_THAT(warnings("functions.gone"),
              ElementsAre("the budget names the function 'gone', which is not in the profile"));
  EXPECT_THAT(warnings("files.b.py"), ElementsAre(HasSubstr("the file 'b.py'")));
  EXPECT_THAT(warnings("lines.a.py:99"), ElementsAre(HasSubstr("the line 'a.py:99'")));
  EXPECT_THAT(warnings("lines.a.py:3"), IsEmpty());
}

TEST(BudgetTest, RefusesWhatItDoesNotKnow) {
  for (const auto& [key, limit, complaint] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"tme", "1", "'tme' is nothing that a budget limits"},
           {"each.class", "1", "nothing that a budget limits"},
           {"files.", "1", "nothing that a budget limits"},
           {"lines.a.py", "1", "names no line"},
           {"time", "soon", "time: 'soon' is no limit"}}) {
    const auto entry = BudgetEntryOf(key, limit);
    ASSERT_FALSE(entry) << key;
    EXPECT_EQ(entry.error().code, ErrorCode::kUsage);
    EXPECT_THAT(entry.error().what, HasSubstr(complaint));
  }
}

TEST(RegressionTest, CountsWhatIsSlowerByMoreThanTheLimits) {
  const RunData base = MakeRun({{"a.py", kText, {{"first", 10'000}, {"second", 90}}}});
  const RunData now = MakeRun({{"a.py", kText, {{"first", 13'000}, {"second", 180}}}});
  const Comparison comparison = MustCompare(base, now);
  const auto places = [&](const RegressionOptions& options) {
    std::string out;
    for (const Regression& regression : FindRegressions(comparison, options))
      out += std::string(ScopeName(regression.scope)) + " " + regression.place + ";";
    return out;
  };
  // second() doubled, but that is less than 1 % of the whole.
  EXPECT_EQ(places({}), "run ;function a.py:1;line a.py:2;");
  EXPECT_EQ(places({.fail_above = 0.5}), "");
  EXPECT_EQ(places({.fail_above = 0.5, .ignore_below = 0}), "function a.py:4;line a.py:5;");
  EXPECT_THAT(FindRegressions(MustCompare(now, base), {}), IsEmpty());
}

}  // namespace
}  // namespace linescope
