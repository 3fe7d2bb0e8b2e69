#include "sampler/stopper.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/clock.h"
#include "process/procfs.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;

char StateOf(pid_t pid) {
  const auto stat = ReadStat(pid);
  return stat ? stat->state : '?';
}

void AwaitState(pid_t pid, char state) {
  for (int i = 0; i < 5000 && StateOf(pid) != state; ++i) ::usleep(1000);
  ASSERT_EQ(StateOf(pid), state);
}

// As StopAll asks for it: SIGCHLD blocked everywhere, a thread that ends soon.
template <class Body>
void WithTracer(Body body) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  std::thread([&] {
    Stopper stopper;
    body(stopper);
  }).join();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

class StopAll : public ::testing::Test {
 protected:
  template <class Body>
  pid_t Start(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      ::_exit(0);
    }
    children_.push_back(pid);
    return pid;
  }
  pid_t Sleeper() {
    return Start([] {
      for (;;) ::pause();
    });
  }
  pid_t Spinner() {
    return Start([] {
      for (volatile unsigned count = 0;;) count = count + 1;
    });
  }
  void TearDown() override {
    for (const pid_t pid : children_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  std::vector<pid_t> children_;
};

TEST_F(StopAll, StopsAllAndLetsAllGoOn) {
  const std::vector<int> tids = {Sleeper(), Spinner(), Sleeper()};
  AwaitState(tids[0], 'S');
  WithTracer([&](Stopper& stopper) {
    for (int i = 0; i < 20; ++i) {
      const Status stopped = stopper.StopAll(tids, 10'000 * kMs);
      ASSERT_TRUE(stopped) << stopped.error().what;
      for (const int tid : tids) {
        EXPECT_TRUE(stopper.IsStopped(tid));
        EXPECT_EQ(StateOf(tid), 't');
      }
      stopper.ContinueAll();
      for (const int tid : tids) {
        EXPECT_FALSE(stopper.IsStopped(tid));
        EXPECT_NE(StateOf(tid), 't');
      }
    }
  });
}

TEST_F(StopAll, WhoeverIsGoneIsNoObstacle) {
  const pid_t gone = Start([] {});
  AwaitState(gone, 'Z');
  const std::vector<int> tids = {gone, Spinner()};
  WithTracer([&](Stopper& stopper) {
    ASSERT_TRUE(stopper.StopAll(tids, 10'000 * kMs));
    EXPECT_TRUE(stopper.IsStopped(tids[1]));
  });
}

TEST_F(StopAll, SaysWhyNoneCouldBeStopped) {
  const std::vector<int> tids = {1 << 22};
  WithTracer([&](Stopper& stopper) {
    const Status stopped = stopper.StopAll(tids, 10'000 * kMs);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::kGone);
  });
}

// The parent of a vfork sleeps uninterruptibly until its child lets go.
TEST_F(StopAll, GivesUpOnUninterruptibleSleepAndLeavesNothingBehind) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = Start([&] {
    if (::vfork() == 0) {
      char byte;
      (void)!::read(pipe[0], &byte, 1);
      ::_exit(0);
    }
  });
  AwaitState(parent, 'D');
  const std::vector<int> tids = {parent};
  WithTracer([&](Stopper& stopper) {
    const int64_t begin = MonotonicNs();
    ASSERT_TRUE(stopper.StopAll(tids, 50 * kMs));
    EXPECT_GE(MonotonicNs() - begin, 50 * kMs);
    EXPECT_FALSE(stopper.IsStopped(parent));
  });
  // The tracer is gone: what it had asked for is forgotten, and the parent goes on to its end.
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  AwaitState(parent, 'Z');
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(StopAll, ASignalThatArrivesMeanwhileIsDelivered) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = Start([&] {
    static int out;
    out = pipe[1];
    ::signal(SIGUSR1, [](int) { (void)!::write(out, "g", 1); });
    (void)!::write(out, "r", 1);
    for (volatile unsigned count = 0;;) count = count + 1;
  });
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  const std::vector<int> tids = {child};
  WithTracer([&](Stopper& stopper) {
    for (int i = 0; i < 200; ++i) {
      ::kill(child, SIGUSR1);
      ASSERT_TRUE(stopper.StopAll(tids, 10'000 * kMs));
      stopper.ContinueAll();
      pollfd poll{pipe[0], POLLIN, 0};
      ASSERT_EQ(::poll(&poll, 1, 10'000), 1) << "a signal was lost";
      ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
    }
  });
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace linescope
