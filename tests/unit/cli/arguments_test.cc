#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/exit_codes.h"
#include "cli/option_types.h"
#include "cli/options.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;
using Kind = OptionsEnd::Kind;

class ArgumentsTest : public ::testing::Test {
 protected:
  ArgumentsTest() : app_("", "run") {
    AddCollectOptions(app_, &collect_);
    AddResultOptions(app_, &results_);
    AddHelpOption(app_);
  }
  // Where the options end, as "kind index option value".
  std::string End(const Words& words) {
    const std::vector<std::string> last = {"-m", "-c"};
    const auto end = FindOptionsEnd(app_, words, last);
    if (!end) return end.error().what;
    const char* kinds[] = {"nothing", "word", "dashes", "last"};
    std::string text = fmt::format("{} {}", kinds[static_cast<int>(end->kind)], end->index);
    if (!end->option.empty()) text += " " + end->option;
    if (!end->value.empty()) text += " " + end->value;
    return text;
  }
  // The exit status, or nullopt when all was read.
  std::optional<int> Parse(const Words& words) {
    ::testing::internal::CaptureStderr();
    const auto status = ParseArguments(app_, {}, words);
    said_ = ::testing::internal::GetCapturedStderr();
    return status;
  }

  CollectOptions collect_;
  ResultOptions results_;
  CLI::App app_;
  std::string said_;
};

TEST_F(ArgumentsTest, TheTargetBeginsAtTheFirstWordThatIsNoOption) {
  EXPECT_EQ(End({"app.py", "--rate", "5"}), "word 0");
  EXPECT_EQ(End({"--rate", "5", "app.py", "-o", "x"}), "word 2");
  EXPECT_EQ(End({"--rate=5", "-v", "app.py"}), "word 2");
  EXPECT_EQ(End({"-oa.html", "-qv", "app.py"}), "word 2");
  EXPECT_EQ(End({"-vo", "a.html", "app.py"}), "word 2");
  EXPECT_EQ(End({"--rate", "5"}), "nothing 2");
  EXPECT_EQ(End({"-"}), "word 0");
}

TEST_F(ArgumentsTest, DashesModuleAndCodeBeginIt) {
  EXPECT_EQ(End({"--", "-x", "--rate"}), "dashes 1");
  EXPECT_EQ(End({"-v", "--", "python3"}), "dashes 2");
  EXPECT_EQ(End({"-m", "http.server", "--rate"}), "last 1 -m");
  EXPECT_EQ(End({"-v", "-mjson.tool", "-o"}), "last 2 -m json.tool");
  EXPECT_EQ(End({"-vc", "pass"}), "last 1 -c");
  // An option's value is no end, whatever it looks like.
  EXPECT_EQ(End({"--title", "--", "-o", "-m", "app.py"}), "word 4");
}

TEST_F(ArgumentsTest, UnknownOptionsAreNamedWithWhatWasProbablyMeant) {
  EXPECT_EQ(End({"--rte", "5", "app.py"}), "unknown option '--rte'; did you mean '--rate'?");
  EXPECT_EQ(End({"--dur", "5"}), "unknown option '--dur'; did you mean '--duration'?");
  EXPECT_EQ(End({"--zzzzzz"}), "unknown option '--zzzzzz'");
  EXPECT_EQ(End({"-vz"}), "unknown option '-z'");
  EXPECT_EQ(End({"--rate"}), "'--rate' needs a value: --rate HZ");
  EXPECT_EQ(End({"--quiet=5"}), "'--quiet' takes no value");
}

TEST_F(ArgumentsTest, ReadsWhatTheDefinitionsAreBoundTo) {
  ASSERT_EQ(
      Parse({"--rate", "1e3", "--mode", "cpu", "--consistency=free", "-o", "a.html", "-ob.html",
             "--include", "a,b", "--label", "k=v=w", "--duration", "1.5m", "--delay=250ms", "-q"}),
      std::nullopt)
      << said_;
  EXPECT_EQ(collect_.rate_hz, 1000);
  EXPECT_EQ(collect_.mode, Mode::kCpu);
  EXPECT_EQ(collect_.consistency, Consistency::kFree);
  EXPECT_THAT(results_.outputs, ElementsAre("a.html", "b.html"));
  EXPECT_THAT(collect_.includes, ElementsAre("a,b"));
  EXPECT_THAT(collect_.labels, ElementsAre(std::pair("k", "v=w")));
  EXPECT_EQ(collect_.duration_s, 90);
  EXPECT_EQ(collect_.delay_s, 0.25);
  EXPECT_TRUE(results_.quiet);
}

TEST_F(ArgumentsTest, TheLastOfARepeatedOptionHolds) {
  ASSERT_EQ(Parse({"--rate", "5", "--rate", "7"}), std::nullopt);
  EXPECT_EQ(collect_.rate_hz, 7);
}

TEST_F(ArgumentsTest, BadValuesAreUsageErrorsThatNameThem) {
  for (const char* rate : {"0", "-5", "abc", "1000001", "", "5x", "nan", "0.5", " 5"}) {
    EXPECT_EQ(Parse({"--rate", rate}), kExitUsage) << rate;
    EXPECT_THAT(said_,
                HasSubstr(fmt::format(
                    "--rate: '{}' is not a number of samples a second from 1 to 1000000", rate)));
  }
  EXPECT_EQ(Parse({"--mode", "gpu"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("--mode: 'gpu' is not one of wall|cpu"));
  EXPECT_EQ(Parse({"--duration", "0"}), kExitUsage);
  EXPECT_EQ(Parse({"--label", "=v"}), kExitUsage);
  EXPECT_EQ(Parse({"stray"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("unexpected argument 'stray'"));
}

TEST_F(ArgumentsTest, MistakesAreShownWithoutTheirControlCharacters) {
  Parse({"--mode", "\x1b[31mred"});
  EXPECT_THAT(said_, HasSubstr("'\\x1b[31mred'"));
}

TEST(ClosestMatch, TakesNearMissesAndBeginnings) {
  const std::vector<std::string> names = {"rate", "mode", "project-root"};
  EXPECT_EQ(ClosestMatch("raet", names), "rate");
  EXPECT_EQ(ClosestMatch("proj", names), "project-root");
  EXPECT_EQ(ClosestMatch("colour", names), "");
}

TEST(ParseSeconds, TakesUnits) {
  EXPECT_EQ(ParseSeconds("90"), 90);
  EXPECT_EQ(ParseSeconds("1.5s"), 1.5);
  EXPECT_EQ(ParseSeconds("250ms"), 0.25);
  EXPECT_EQ(ParseSeconds("2m"), 120);
  EXPECT_EQ(ParseSeconds("1h"), 3600);
  for (const char* bad : {"", "s", "-1", "1 s", "1d", "inf", "1..5"})
    EXPECT_EQ(ParseSeconds(bad), std::nullopt) << bad;
}

TEST(ParsePid, TakesPositiveNumbersOnly) {
  EXPECT_EQ(ParsePid("4711"), 4711);
  for (const char* bad : {"", "0", "-1", "1x", "99999999999"})
    EXPECT_EQ(ParsePid(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace linescope
