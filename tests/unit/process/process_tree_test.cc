#include "process/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <thread>

#include "base/clock.h"

namespace linescope {
namespace {

using Kind = TreeEvent::Kind;
using Events = std::vector<TreeEvent>;

constexpr int kWhileUs = 40'000;

// A child of the caller that runs `body` and exits with `status`.
pid_t Fork(const std::function<void()>& body, int status = 0) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  body();
  ::_exit(status);
}

void Wait(pid_t pid) { ::waitpid(pid, nullptr, 0); }
void Stay() { ::usleep(kWhileUs); }

class ProcessTreeTest : public ::testing::TestWithParam<ProcessTree::Source> {
 protected:
  // What a tree tells of a process that runs `body` once it is watched.
  Events Watch(const std::function<void()>& body) {
    int gate[2];
    EXPECT_EQ(::pipe(gate), 0);
    root_ = Fork([&] {
      char byte;
      ::close(gate[1]);
      (void)!::read(gate[0], &byte, 1);
      ::close(gate[0]);
      body();
    });
    ::close(gate[0]);
    ProcessTree tree(root_, GetParam(), ProcessTree::Root::kHasNoChildren);
    Events events;
    tree.Take(MonotonicNs(), &events);
    ::close(gate[1]);
    const int64_t deadline = MonotonicNs() + 20'000'000'000;
    while (!Ended(events, root_) && MonotonicNs() < deadline) {
      ::usleep(1000);
      tree.Take(MonotonicNs(), &events);
    }
    EXPECT_TRUE(Ended(events, root_));
    // The events of what has only just ended.
    ::usleep(3000);
    tree.Take(MonotonicNs(), &events);
    Wait(root_);
    return events;
  }

  void SetUp() override {
    if (GetParam() == ProcessTree::Source::kEvents &&
        ProcessTree(::getpid()).source() != GetParam()) {
      GTEST_SKIP() << "the kernel tells no events of processes here";
    }
  }

  static bool Ended(const Events& events, int pid) {
    return std::ranges::any_of(
        events, [&](const TreeEvent& e) { return e.kind == Kind::kEnded && e.pid == pid; });
  }
  static Events Of(const Events& events, Kind kind) {
    Events result;
    for (const TreeEvent& event : events) {
      if (event.kind == kind) result.push_back(event);
    }
    return result;
  }
  // How a process ended, or -1: not told.
  static int Status(const Events& events, int pid) {
    for (const TreeEvent& event : events) {
      if (event.kind == Kind::kEnded && event.pid == pid) return event.wait_status.value_or(-1);
    }
    return -2;
  }

  pid_t root_ = 0;
};

TEST_P(ProcessTreeTest, TellsForksAndHowTheyEnd) {
  const Events events = Watch([] {
    const pid_t exits = Fork(Stay, 7);
    const pid_t killed = Fork([] {
      Stay();
      ::raise(SIGKILL);
    });
    ::usleep(3 * kWhileUs);
    Wait(exits);
    Wait(killed);
  });
  const Events started = Of(events, Kind::kStarted);
  ASSERT_EQ(started.size(), 2U);
  for (const TreeEvent& event : started) {
    EXPECT_EQ(event.parent, root_);
    EXPECT_FALSE(event.found);
  }
  EXPECT_EQ(Status(events, started[0].pid), 7 << 8);
  EXPECT_EQ(Status(events, started[1].pid), SIGKILL);
  EXPECT_EQ(Status(events, root_), 0);
  EXPECT_TRUE(Of(events, Kind::kExecuted).empty());
}

TEST_P(ProcessTreeTest, TellsExecs) {
  const Events events = Watch([] {
    Wait(Fork([] {
      Stay();
      ::execlp("sleep", "sleep", "0.05", nullptr);
    }));
  });
  const Events executed = Of(events, Kind::kExecuted);
  ASSERT_EQ(executed.size(), 1U);
  EXPECT_EQ(executed[0].pid, Of(events, Kind::kStarted).at(0).pid);
}

TEST_P(ProcessTreeTest, TellsExecsThatComeAtOnce) {
  const Events events =
      Watch([] { Wait(Fork([] { ::execlp("sleep", "sleep", "0.05", nullptr); })); });
  EXPECT_EQ(Of(events, Kind::kStarted).size(), 1U);
  EXPECT_EQ(Of(events, Kind::kExecuted).size(), 1U);
}

TEST_P(ProcessTreeTest, FollowsChildrenOfParentsThatHaveEnded) {
  const Events events = Watch([] {
    Wait(Fork([] {
      Fork([] {
        ::setsid();
        Stay();
        Stay();
        Wait(Fork(Stay));
      });
      Stay();
    }));
    ::usleep(4 * kWhileUs);
  });
  const Events started = Of(events, Kind::kStarted);
  ASSERT_EQ(started.size(), 3U);
  EXPECT_EQ(started[0].parent, root_);
  EXPECT_EQ(started[1].parent, started[0].pid);
  EXPECT_EQ(started[2].parent, started[1].pid);
}

TEST_P(ProcessTreeTest, SeesEachOfManyShortOnes) {
  constexpr size_t kMany = 40;
  const Events events = Watch([] {
    for (size_t i = 0; i < kMany; ++i) Wait(Fork([] { ::usleep(15'000); }));
  });
  EXPECT_EQ(Of(events, Kind::kStarted).size(), kMany);
  EXPECT_EQ(Of(events, Kind::kEnded).size(), kMany + 1);
}

TEST_P(ProcessTreeTest, FindsThoseThatAreThereAlready) {
  const pid_t root = Fork([] { Wait(Fork([] { Wait(Fork([] { ::pause(); })); })); });
  ::usleep(kWhileUs);
  ProcessTree tree(root, GetParam());
  Events events;
  tree.Take(MonotonicNs(), &events);
  tree.Take(MonotonicNs(), &events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].parent, root);
  EXPECT_EQ(events[1].parent, events[0].pid);
  EXPECT_TRUE(events[0].found && events[1].found);
  ::kill(events[1].pid, SIGKILL);
  Wait(root);
}

TEST_P(ProcessTreeTest, FindsNobodyTwiceThatBeginsMeanwhile) {
  const pid_t root = Fork([] {
    for (;;) Wait(Fork([] { ::usleep(1000); }));
  });
  for (int i = 0; i < 50; ++i) {
    ProcessTree tree(root, GetParam());
    Events events;
    for (int look = 0; look < 4; ++look) {
      tree.Take(MonotonicNs(), &events);
      ::usleep(500);
    }
    std::vector<int> pids;
    for (const TreeEvent& event : Of(events, Kind::kStarted)) pids.push_back(event.pid);
    std::ranges::sort(pids);
    EXPECT_EQ(std::ranges::adjacent_find(pids), pids.end());
  }
  ::kill(root, SIGKILL);
  Wait(root);
}

TEST_P(ProcessTreeTest, ThreadsAreNoProcesses) {
  const Events events = Watch([] {
    std::thread first(Stay);
    std::thread second(Stay);
    first.join();
    second.join();
  });
  EXPECT_TRUE(Of(events, Kind::kStarted).empty());
}

TEST_P(ProcessTreeTest, NumberUsedAgainIsAnotherProcess) {
  const char* const next = "/proc/sys/kernel/ns_last_pid";
  if (::access(next, W_OK) != 0) GTEST_SKIP() << "numbers of processes cannot be chosen here";
  const Events events = Watch([&] {
    const pid_t first = Fork(Stay, 3);
    Wait(first);
    Wait(Fork(Stay));
    // Others may take the number first: then the children's numbers differ, and the test says so.
    for (int attempt = 0; attempt < 20; ++attempt) {
      std::ofstream(next) << first - 1;
      const pid_t second = Fork(Stay, 4);
      Wait(second);
      if (second == first) break;
    }
  });
  const Events started = Of(events, Kind::kStarted);
  ASSERT_GE(started.size(), 2U);
  ASSERT_EQ(started.front().pid, started.back().pid);
  std::vector<std::optional<int>> statuses;
  for (const TreeEvent& event : events) {
    if (event.kind == Kind::kEnded && event.pid == started.front().pid) {
      statuses.push_back(event.wait_status);
    }
  }
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_EQ(statuses[0].value_or(3 << 8), 3 << 8);
  EXPECT_EQ(statuses[1].value_or(4 << 8), 4 << 8);
}

INSTANTIATE_TEST_SUITE_P(Sources, ProcessTreeTest,
                         ::testing::Values(ProcessTree::Source::kEvents,
                                           ProcessTree::Source::kLooking),
                         [](const auto& source) {
                           return source.param == ProcessTree::Source::kEvents ? "Events"
                                                                               : "Looking";
                         });

}  // namespace
}  // namespace linescope
