#include "cli/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>

#include "cli/options.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() : app_("", "run") {
    AddCollectOptions(app_, &collect_);
    AddResultOptions(app_, &results_);
    AddHelpOption(app_);
  }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  // Parses `words`, then loads; the complaint or "".
  std::string Load(const std::vector<std::string>& words = {}, const std::string& from = "") {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    const auto loaded = LoadSettings(app_, folder_.path() / from, [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
    if (!loaded) return loaded.error().what;
    file_ = loaded->value_or("");
    return "";
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
  CollectOptions collect_;
  ResultOptions results_;
  CLI::App app_;
  fs::path file_;
};

TEST_F(SettingsTest, TheCommandLineWinsThenTheEnvironmentThenTheFile) {
  Write("linescope.toml", "rate = 3\nmode = 'cpu'\ntitle = 'file'\n");
  environment_ = {{"LINESCOPE_RATE", "2"}, {"LINESCOPE_TITLE", "environment"}};
  ASSERT_EQ(Load({"--rate", "1"}), "");
  EXPECT_EQ(collect_.rate_hz, 1);
  EXPECT_EQ(collect_.title, "environment");
  EXPECT_EQ(collect_.mode, Mode::kCpu);
}

TEST_F(SettingsTest, AFlagMayBeSetToFalse) {
  environment_ = {{"LINESCOPE_SUBPROCESSES", "true"}};
  ASSERT_EQ(Load(), "");
  EXPECT_TRUE(collect_.subprocesses);
  app_.clear();
  environment_ = {};
  Write("linescope.toml", "subprocesses = false\n");
  ASSERT_EQ(Load(), "");
  EXPECT_FALSE(collect_.subprocesses);
  app_.clear();
  environment_ = {{"LINESCOPE_SUBPROCESSES", "true"}};
  ASSERT_EQ(Load({"--no-subprocesses"}), "");
  EXPECT_FALSE(collect_.subprocesses);
  // The negation is no setting of its own.
  app_.clear();
  environment_ = {};
  Write("linescope.toml", "no-subprocesses = true\n");
  EXPECT_THAT(Load(), HasSubstr("there is no such option"));
}

TEST_F(SettingsTest, ReadsThePyprojectTable) {
  Write("pyproject.toml",
        "[project]\nname = 'x'\n[tool.linescope]\ninclude = ['a', 'b']\nquiet = true\nproject_root "
        "= 'src'\n"
        "output = ['/abs/a.html', 'b.html']\n");
  ASSERT_EQ(Load(), "");
  EXPECT_EQ(file_, folder_.path() / "pyproject.toml");
  EXPECT_THAT(collect_.includes, ElementsAre("a", "b"));
  EXPECT_TRUE(results_.quiet);
  EXPECT_EQ(collect_.project_root, (folder_.path() / "src").string());
  EXPECT_THAT(results_.outputs, ElementsAre("/abs/a.html", (folder_.path() / "b.html").string()));
}

TEST_F(SettingsTest, TakesTheNearestFileThatSpeaksOfUs) {
  Write("linescope.toml", "rate = 3\n");
  Write("a/pyproject.toml", "[tool.other]\nrate = 4\n");
  fs::create_directories(folder_.path() / "a/b");
  ASSERT_EQ(Load({}, "a/b"), "");
  EXPECT_EQ(collect_.rate_hz, 3);
}

TEST_F(SettingsTest, LinescopeTomlComesBeforePyproject) {
  Write("linescope.toml", "rate = 3\n");
  Write("pyproject.toml", "[tool.linescope]\nrate = 4\n");
  ASSERT_EQ(Load(), "");
  EXPECT_EQ(collect_.rate_hz, 3);
}

TEST_F(SettingsTest, ListsInTheEnvironmentHaveCommas) {
  environment_ = {
      {"LINESCOPE_INCLUDE", "a,b"}, {"LINESCOPE_LABEL", "k=v"}, {"LINESCOPE_PROJECT_ROOT", "/x,y"}};
  ASSERT_EQ(Load(), "");
  EXPECT_THAT(collect_.includes, ElementsAre("a", "b"));
  EXPECT_THAT(collect_.labels, ElementsAre(std::pair("k", "v")));
  EXPECT_EQ(collect_.project_root, "/x,y");
}

TEST_F(SettingsTest, MistakesNameFileLineAndKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"rte = 3\n", "linescope.toml, line 1: rte: there is no such option; did you mean 'rate'?"},
      {"[rate]\nx = 3\n", "linescope.toml, line 2: rate.x: there is no such option"},
      {"\nrate = 0\n", "linescope.toml, line 2: rate: '0' is not a number of samples a second"},
      {"rate = [1]\n", "linescope.toml, line 1: rate: one value is expected, not an array"},
      {"rate = true\n", "linescope.toml, line 1: rate: HZ is expected, not true"},
      {"quiet = 'yes'\n", "linescope.toml, line 1: quiet: true or false is expected"},
      {"include = [1]\n", "linescope.toml, line 1: include: an array of strings is expected"},
      {"help = true\n", "linescope.toml, line 1: help: there is no such option"},
      {"rate = = 3\n", "linescope.toml is not valid TOML: line 1"},
  };
  for (const auto& [text, what] : cases) {
    Write("linescope.toml", text);
    EXPECT_THAT(Load(), HasSubstr(what)) << text;
  }
}

// One file serves all commands.
TEST_F(SettingsTest, KeysOfOtherCommandsAreLeftToThem) {
  Write("linescope.toml", "interval = 0.5\nby = 'thread'\npython = 'python3.12'\nrate = 3\n");
  EXPECT_EQ(Load(), "");
  EXPECT_EQ(collect_.rate_hz, 3);
}

TEST_F(SettingsTest, MistakesInTheEnvironmentNameTheVariable) {
  environment_ = {{"LINESCOPE_MODE", "gpu"}};
  EXPECT_EQ(Load(), "LINESCOPE_MODE: 'gpu' is not one of wall|cpu|gil");
}

TEST_F(SettingsTest, ABrokenPyprojectOfOthersIsNotOurs) {
  Write("pyproject.toml", "[broken\n");
  EXPECT_EQ(Load(), "");
}

}  // namespace
}  // namespace linescope
