#include "profile/collapsed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "profile/atomic_file.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string Collapsed(const std::string& mode, StackSplit split) {
  TemporaryFolder folder;
  if (!WriteFixture(folder / "run.linescope", FixtureRun(mode))) return "not written";
  auto reader = ProfileReader::Open(folder / "run.linescope");
  auto profile = (*reader)->Load();
  return CollapsedText(*profile, SplitTitles(**reader, split));
}

TEST(CollapsedTest, WritesStacksRootFirst) {
  EXPECT_EQ(Collapsed("wall", StackSplit::kAuto),
            "/project/app.py:<module>:31;/project/app.py:main:26;/project/app.py:load:12;"
            "/usr/lib/python3.13/json/__init__.py:loads:346;"
            "/usr/lib/python3.13/json/decoder.py:JSONDecoder.decode:337 40\n"
            "/project/app.py:<module>:31;/project/app.py:main:27;/project/app.py:fib:8 10\n"
            "/project/app.py:<module>:31;/project/app.py:main:27;/project/app.py:fib:8;"
            "/project/app.py:fib:7 20\n"
            "/project/app.py:<module>:31;/project/app.py:main:27;/project/app.py:fib:8;"
            "/project/app.py:fib:8;/project/app.py:fib:6 30\n"
            "/project/app.py:<module>:31;/project/app.py:main:28;"
            "/usr/lib/python3.13/threading.py:Thread.join:1112 50\n"
            "/usr/lib/python3.13/threading.py:Thread._bootstrap:1002;"
            "/usr/lib/python3.13/threading.py:Thread.run:982;/project/app.py:wait:19;"
            "/usr/lib/python3.13/threading.py:Event.wait:629 100\n");
}

TEST(CollapsedTest, ModeCpuHasOnlyRunningSamples) {
  std::string text = Collapsed("cpu", StackSplit::kAuto);
  EXPECT_THAT(text, HasSubstr(":fib:7 20\n"));
  EXPECT_THAT(text, Not(HasSubstr("Event.wait")));
  EXPECT_THAT(text, Not(HasSubstr("join")));
}

TEST(CollapsedTest, NamesThreadsWhenAsked) {
  std::string text = Collapsed("wall", StackSplit::kThread);
  EXPECT_THAT(text, HasSubstr("thread MainThread (4000);/project/app.py:<module>:31;"));
  EXPECT_THAT(text, HasSubstr("thread Thread-1 (wait) (4001);/usr/lib/python3.13/threading.py:"));
}

Profile OneStack(const FunctionInfo& function, uint64_t samples) {
  StackTree tree;
  tree.parent = {kNoStack};
  tree.function = {0};
  tree.range = {{.line = 7}};
  Aggregator aggregator(Weight::kWall, {function}, tree, 1);
  aggregator.Add({0, {0, 0, ThreadState::kRunning, samples, 1, 1}});
  return aggregator.Finish();
}

TEST(CollapsedTest, NamesCannotBreakTheFormat) {
  Profile profile = OneStack({"/a;b\nc:d e 5.py", "f", "f:1;\tg 3", 1, true}, 2);
  EXPECT_EQ(CollapsedText(profile, {"thread a;b\n1 (9)"}),
            "thread a,b 1 (9);/a,b c:d e 5.py:f.1, g 3:7 2\n");
}

TEST(CollapsedTest, MergesLinesThatReadTheSame) {
  StackTree tree;
  tree.parent = {kNoStack, kNoStack};
  tree.function = {0, 1};
  tree.range = {{.line = 7}, {7, 7, 4, 9}};
  Aggregator aggregator(Weight::kWall, {{"/a", "f", "f", 1, true}, {"/a", "f", "f", 2, true}}, tree,
                        1);
  aggregator.Add({0, {0, 0, ThreadState::kRunning, 3, 1, 1}});
  aggregator.Add({0, {0, 1, ThreadState::kRunning, 4, 1, 1}});
  EXPECT_EQ(CollapsedText(aggregator.Finish(), {}), "/a:f:7 7\n");
}

TEST(AtomicFileTest, ReplacesWholeAndLeavesNothingBehind) {
  TemporaryFolder folder;
  auto path = folder / "out";
  ASSERT_TRUE(WriteFileAtomically(path, "one"));
  ASSERT_TRUE(WriteFileAtomically(path, "two"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  Status status = WriteFileAtomically(folder / "none" / "out", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().what, HasSubstr("No such file or directory"));
  EXPECT_FALSE(WriteFileAtomically(folder.path(), "x"));
  EXPECT_TRUE(WriteFileAtomically("/dev/null", "x"));
  status = WriteFileAtomically("/dev/full", "x");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("No space left"));
}

}  // namespace
}  // namespace linescope
