#include "process/namespaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CheckProc, AcceptsOurOwn) { EXPECT_TRUE(CheckProc()); }

TEST(NamespacePids, IsOneInOurNamespace) {
  EXPECT_THAT(NamespacePids(::getpid()), ElementsAre(::getpid()));
  EXPECT_EQ(DescribePid(4711, {4711}), "4711");
  EXPECT_EQ(DescribePid(4711, {}), "4711") << "not known";
  EXPECT_EQ(DescribePid(4711, {4711, 60, 12}), "4711 (12 in its own pid namespace)");
}

TEST(NamespacePids, FollowsAProcessIntoItsOwn) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to make a pid namespace";
  Child child([](const auto& ready) {
    // The next child is the first of the namespace.
    if (::unshare(CLONE_NEWPID) == 0 && ::fork() == 0) WaitForever();
    ready();
    WaitForever();
  });
  const std::string path = fmt::format("/proc/{0}/task/{0}/children", child.pid());
  FILE* file = ::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  int inner = 0;
  const int got = ::fscanf(file, "%d", &inner);
  ::fclose(file);
  if (got != 1) GTEST_SKIP() << "no pid namespace can be made here";
  EXPECT_THAT(NamespacePids(inner), ElementsAre(inner, 1));
  EXPECT_THAT(WrongPidHint(1), HasSubstr(fmt::format("--pid {}", inner)));
  EXPECT_EQ(WrongPidHint(inner), "");
  ::kill(inner, SIGKILL);
}

}  // namespace
}  // namespace linescope
