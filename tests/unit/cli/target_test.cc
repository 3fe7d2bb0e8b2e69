#include "cli/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TargetTest : public ::testing::Test {
 protected:
  TargetTest() {
    File("bin/python3", true);
    File("app.py", false);
    UsePath("bin");
  }
  ~TargetTest() override { ::setenv("PATH", path_before_.c_str(), 1); }
  void UsePath(const std::string& name) { ::setenv("PATH", Path(name).c_str(), 1); }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  void File(const std::string& name, bool executable, const std::string& text = "pass\n") {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
    if (executable) fs::permissions(folder_.path() / name, fs::perms::owner_all);
  }
  std::expected<Target, TargetError> Resolve(TargetForm form, std::vector<std::string> words,
                                             const std::string& python = "") {
    return ResolveTarget({form, std::move(words)}, python, [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  void ExpectRefused(const std::expected<Target, TargetError>& target, ExitCode code,
                     const std::string& what) {
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().code, code);
    EXPECT_THAT(target.error().what, HasSubstr(what));
  }

  TemporaryFolder folder_;
  std::string path_before_ = std::getenv("PATH");
  std::map<std::string, std::string> environment_;
};

TEST_F(TargetTest, AScriptRunsWithThePythonOnPath) {
  const auto target = Resolve(TargetForm::kScript, {Path("app.py"), "--rate", "--", "-o"});
  ASSERT_TRUE(target);
  EXPECT_THAT(target->command,
              ElementsAre(Path("bin/python3"), Path("app.py"), "--rate", "--", "-o"));
  EXPECT_EQ(target->name, "app");
  EXPECT_EQ(target->script, Path("app.py"));
}

TEST_F(TargetTest, TheActiveEnvironmentComesFirstAndAnExplicitPythonBeforeIt) {
  File("venv/bin/python", true);
  File("other/bin/python", true);
  environment_["VIRTUAL_ENV"] = Path("venv");
  EXPECT_EQ(Resolve(TargetForm::kScript, {Path("app.py")})->command[0], Path("venv/bin/python"));
  EXPECT_EQ(Resolve(TargetForm::kScript, {Path("app.py")}, "python3")->command[0],
            Path("bin/python3"));
  EXPECT_EQ(Resolve(TargetForm::kScript, {Path("app.py")}, Path("other"))->command[0],
            Path("other/bin/python"));
  // An environment that was removed is not in the way.
  environment_["VIRTUAL_ENV"] = Path("gone");
  EXPECT_EQ(Resolve(TargetForm::kScript, {Path("app.py")})->command[0], Path("bin/python3"));
}

TEST_F(TargetTest, ModulesAndCode) {
  const auto module = Resolve(TargetForm::kModule, {"http.server", "-o"});
  ASSERT_TRUE(module);
  EXPECT_THAT(module->command, ElementsAre(Path("bin/python3"), "-m", "http.server", "-o"));
  EXPECT_EQ(module->name, "http.server");
  const auto code = Resolve(TargetForm::kCode, {"pass", "-x"});
  ASSERT_TRUE(code);
  EXPECT_THAT(code->command, ElementsAre(Path("bin/python3"), "-c", "pass", "-x"));
  EXPECT_EQ(code->code, "pass");
}

TEST_F(TargetTest, FoldersThatPythonRunsAreScripts) {
  File("package/__main__.py", false);
  const auto target = Resolve(TargetForm::kScript, {Path("package/")});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->name, "package");
}

TEST_F(TargetTest, RefusesScriptsThatCannotRun) {
  ExpectRefused(Resolve(TargetForm::kScript, {Path("nope.py")}), kExitNotFound,
                "cannot find the script");
  ExpectRefused(Resolve(TargetForm::kScript, {Path("bin")}), kExitNotRunnable,
                "is a folder without a __main__.py");
  File("library.so", false,
       "\x7f"
       "ELF\x02");
  ExpectRefused(Resolve(TargetForm::kScript, {Path("library.so")}), kExitNotRunnable,
                "is a compiled program or library, not a Python script");
}

TEST_F(TargetTest, ProgramsNeedNoDashes) {
  const auto python = Resolve(TargetForm::kScript, {"python3", Path("app.py"), "-v"});
  ASSERT_TRUE(python);
  EXPECT_THAT(python->command, ElementsAre("python3", Path("app.py"), "-v"));
  EXPECT_EQ(python->script, Path("app.py"));
  File("binary", true,
       "\x7f"
       "ELF\x02");
  File("start", true, "#!/bin/sh\n");
  for (const char* name : {"binary", "start"})
    EXPECT_THAT(Resolve(TargetForm::kScript, {Path(name), "x"})->command,
                ElementsAre(Path(name), "x"));
}

TEST_F(TargetTest, WhatPythonCanRunIsAScript) {
  File("tool", true, "#!/usr/bin/env python3\n");
  File("plain", true, "print()\n");
  File("notes", false, "#!/bin/sh\n");
  for (const char* name : {"tool", "plain", "notes"}) {
    const auto target = Resolve(TargetForm::kScript, {Path(name)});
    ASSERT_TRUE(target);
    EXPECT_EQ(target->script, Path(name));
  }
  // Whoever names an interpreter means a script for it.
  ExpectRefused(Resolve(TargetForm::kScript, {"tool"}, Path("bin/python3")), kExitNotFound,
                "cannot find the script");
}

TEST_F(TargetTest, RefusesToGoOnWithoutAnInterpreter) {
  UsePath("empty");
  ExpectRefused(Resolve(TargetForm::kScript, {Path("app.py")}), kExitNotFound,
                "there is no python3 on PATH");
  ExpectRefused(Resolve(TargetForm::kScript, {Path("app.py")}, Path("nope")), kExitNotFound,
                "cannot run");
}

TEST_F(TargetTest, ProgramsAreFoundAsAShellFindsThem) {
  File("bin/tool", true);
  File("bin/plain", false);
  EXPECT_THAT(Resolve(TargetForm::kProgram, {"tool", "-c", "x"})->command,
              ElementsAre("tool", "-c", "x"));
  ExpectRefused(Resolve(TargetForm::kProgram, {"missing"}), kExitNotFound, "missing");
  ExpectRefused(Resolve(TargetForm::kProgram, {"plain"}), kExitNotRunnable, "is not executable");
  ExpectRefused(Resolve(TargetForm::kProgram, {Path("bin")}), kExitNotRunnable, "is a directory");
}

TEST(DescribeCommand, KnowsWhatAnInterpreterRuns) {
  const struct {
    std::vector<std::string> words;
    const char* name;
    const char* script;
  } cases[] = {
      {{"/usr/bin/python3.12", "-X", "dev", "-Wignore", "-O", "dir/app.py", "-m"},
       "app",
       "dir/app.py"},
      {{"python3", "-um", "json.tool", "x.py"}, "json.tool", ""},
      {{"python", "-c", "pass", "x.py"}, "python", ""},
      {{"python3"}, "python3", ""},
      {{"pythonista", "app.py"}, "pythonista", ""},
      {{"gunicorn", "app.py"}, "gunicorn", ""},
      {{"python3.13t", "app.py"}, "app", "app.py"},
      {{"python3", "-I", "-"}, "stdin", "-"},
  };
  for (const auto& c : cases) {
    const Target target = DescribeCommand(c.words);
    EXPECT_EQ(target.name, c.name);
    EXPECT_EQ(target.script, c.script);
  }
}

TEST(DescribeCommand, NamesAreSafeInFiles) {
  EXPECT_EQ(DescribeCommand({"python3", "/x/a b;c.py"}).name, "a_b_c");
  EXPECT_EQ(DescribeCommand({"/opt/..."}).name, "program");
}

}  // namespace
}  // namespace linescope
