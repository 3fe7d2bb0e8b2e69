#include "process/signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <thread>

#include "process/launch.h"

namespace linescope {
namespace {

bool Readable(int fd, int timeout_ms) {
  pollfd wait{fd, POLLIN, 0};
  int n;
  do {
    n = ::poll(&wait, 1, timeout_ms);
  } while (n < 0 && errno == EINTR);  // the very signal waited for
  return n == 1;
}

TEST(SignalWatch, ReportsSignalsOfProcesses) {
  auto watch = SignalWatch::Install();
  ASSERT_TRUE(watch) << watch.error().what;
  EXPECT_FALSE((*watch)->Take());
  EXPECT_FALSE(Readable((*watch)->fd(), 0));
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (InheritedIgnored(number)) continue;
    ::kill(::getpid(), number);
    EXPECT_TRUE(Readable((*watch)->fd(), 1000));
    const auto event = (*watch)->Take();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->number, number);
    EXPECT_FALSE(event->from_terminal);
    EXPECT_EQ(event->sender, ::getpid());
  }
  EXPECT_FALSE((*watch)->Take());
}

TEST(SignalWatch, TurnsBrokenPipesIntoErrors) {
  auto watch = SignalWatch::Install();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(ends[1]);
}

TEST(SignalWatch, RestoresWhatWasThere) {
  static volatile sig_atomic_t seen = 0;
  struct sigaction before;
  struct sigaction mine{};
  mine.sa_handler = [](int) { seen = 1; };
  ::sigaction(SIGTERM, &mine, &before);
  {
    auto watch = SignalWatch::Install();
    EXPECT_FALSE(SignalWatch::Install()) << "one at a time";
    ::raise(SIGTERM);
    EXPECT_EQ(seen, 0);
    EXPECT_TRUE((*watch)->Take());
  }
  ::raise(SIGTERM);
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(SignalWatch::Install());
  ::sigaction(SIGTERM, &before, nullptr);
}

TEST(SignalWatch, RespectsNohup) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGHUP, SIG_IGN);
    SaveInheritedSignals();
    auto watch = SignalWatch::Install();
    ::raise(SIGHUP);
    ::_exit((*watch)->Take() ? 1 : 0);
  }
  int status;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

// Types Ctrl-C into a terminal of its own and hangs it up, and sees what a process in it is told.
TEST(SignalWatch, KnowsTheTerminal) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
    GTEST_SKIP() << "no pseudo-terminals here";
  const std::string name = ::ptsname(master);
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(master);
    ::setsid();
    const int terminal = ::open(name.c_str(), O_RDWR);
    ::ioctl(terminal, TIOCSCTTY, 0);
    auto watch = SignalWatch::Install();
    (void)!::write(ready[1], "x", 1);
    for (const int expected : {SIGINT, SIGQUIT, SIGHUP}) {
      if (!Readable((*watch)->fd(), 5000)) ::_exit(10);
      const auto event = (*watch)->Take();
      if (event->number != expected) ::_exit(11);
      if (!event->from_terminal || event->sender != 0) ::_exit(12);
      (void)!::write(ready[1], "x", 1);
    }
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(::write(master, "\x03", 1), 1);  // Ctrl-C
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(::write(master, "\x1c", 1), 1);  // Ctrl-backslash
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(master);
  int status;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  ::close(ready[0]);
}

TEST(SignalWatch, LeavesBlockedThreadsAlone) {
  auto watch = SignalWatch::Install();
  ASSERT_TRUE(watch);
  std::atomic<bool> go = false;
  std::atomic<bool> interrupted = false;
  std::atomic<bool> sleeping = false;
  std::thread sleeper([&] {
    BlockSignalsInThisThread();
    sleeping = true;
    while (!go) {
      timespec nap{0, 50'000'000};
      if (::nanosleep(&nap, nullptr) != 0) interrupted = true;
    }
  });
  while (!sleeping) ::usleep(100);
  for (int i = 0; i < 20; ++i) {
    ::kill(::getpid(), SIGTERM);
    ::usleep(1000);
  }
  go = true;
  sleeper.join();
  EXPECT_FALSE(interrupted);
  int events = 0;
  while ((*watch)->Take()) ++events;
  EXPECT_EQ(events, 20);
}

}  // namespace
}  // namespace linescope
