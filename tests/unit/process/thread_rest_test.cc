#include "process/thread_rest.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "process/procfs.h"
#include "unit/process/child.h"

namespace linescope {
namespace {

void Await(const Child& child, char state) {
  for (int i = 0; i < 5000; ++i) {
    const auto stat = ReadStat(child.pid());
    if (stat && stat->state == state) return;
    ::usleep(1000);
  }
  ADD_FAILURE() << "the child never was in state " << state;
}

TEST(ThreadRest, ASleeperRests) {
  const Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  Await(child, 'S');
  const ThreadRest rest = ThreadRest::Open(child.pid(), child.pid());
  if (!rest.available()) GTEST_SKIP() << "the kernel keeps no syscall or schedstat files";
  const ThreadRest::Mark mark = rest.Read();
  EXPECT_TRUE(mark.off_cpu);
  ::usleep(20'000);
  EXPECT_EQ(rest.Read(), mark);
}

TEST(ThreadRest, ARunnerDoesNot) {
  const Child child([](const auto& ready) {
    ready();
    for (volatile unsigned count = 0;;) count = count + 1;
  });
  const ThreadRest rest = ThreadRest::Open(child.pid(), child.pid());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(rest.Read().off_cpu);
}

// However short it ran in between.
TEST(ThreadRest, ASleeperThatWokeUpIsFoundOut) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const Child child([&](const auto& ready) {
    ready();
    for (char byte;;) (void)!::read(pipe[0], &byte, 1);
  });
  const ThreadRest rest = ThreadRest::Open(child.pid(), child.pid());
  if (!rest.available()) GTEST_SKIP() << "the kernel keeps no syscall or schedstat files";
  for (int i = 0; i < 200; ++i) {
    Await(child, 'S');
    const ThreadRest::Mark before = rest.Read();
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
    // Taken: the child has run.
    pollfd poll{pipe[0], POLLIN, 0};
    while (::poll(&poll, 1, 0) != 0) ::usleep(10);
    const ThreadRest::Mark after = rest.Read();
    EXPECT_FALSE(before.off_cpu && after == before) << i;
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(ThreadRest, WhoHasEndedNeverRests) {
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  Await(child, 'S');
  const ThreadRest rest = ThreadRest::Open(child.pid(), child.pid());
  child.KillAndReap();
  EXPECT_FALSE(rest.Read().off_cpu);
  EXPECT_FALSE(ThreadRest::Open(child.pid(), child.pid()).available());
}

}  // namespace
}  // namespace linescope
