#include "sampler/on_cpu.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;

int64_t OwnCpuNs() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A thread that sleeps, naps or spins as it is told.
class Worker {
 public:
  enum Task { kSleep, kSpin, kNap, kQuit };
  Worker() : thread_([this] { Run(); }) {
    while (tid_ == 0) ::usleep(100);
  }
  ~Worker() {
    Do(kQuit);
    thread_.join();
  }
  void Do(Task task) {
    task_ = task;
    task_.notify_one();
  }
  [[nodiscard]] int tid() const { return tid_; }
  [[nodiscard]] int64_t cpu_ns() const { return cpu_ns_; }
  [[nodiscard]] int naps() const { return naps_; }

 private:
  void Run() {
    tid_ = ::gettid();
    for (Task task = task_; task != kQuit; task = task_) {
      if (task == kSleep) task_.wait(kSleep);
      if (task == kNap) {
        ::usleep(1);
        ++naps_;
      }
      cpu_ns_ = OwnCpuNs();
    }
  }
  std::atomic<Task> task_ = kSleep;
  std::atomic<int> tid_ = 0, naps_ = 0;
  std::atomic<int64_t> cpu_ns_ = 0;
  std::thread thread_;
};

template <class Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    ::usleep(1000);
  }
  return false;
}

// The parameter: with context-switch records.
class OnCpuTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    if (auto ring = SwitchRing::Open(::gettid()); !ring) GTEST_SKIP() << ring.error().what;
  }
  void Look() {
    cpu_.Poll(MonotonicNs());
    cpu_.Look(MonotonicNs());
  }
  // And not only for want of a CPU: a wait yields a few times before it sleeps.
  bool ComesToRest() {
    return Eventually([&] {
      Look();
      return cpu_.rests() && cpu_.state() == OnCpu::State::kOff;
    });
  }

  Worker worker_;
  OnCpu cpu_{::getpid(), worker_.tid(), GetParam()};
};

TEST_P(OnCpuTest, TellsSleepFromWork) {
  EXPECT_EQ(cpu_.has_records(), GetParam());
  ASSERT_TRUE(ComesToRest());
  EXPECT_EQ(cpu_.state(), OnCpu::State::kOff);
  const uint64_t switches = cpu_.switches();
  ::usleep(20'000);
  Look();
  EXPECT_TRUE(cpu_.rests());
  EXPECT_EQ(cpu_.switches(), switches) << "it has slept on";

  worker_.Do(Worker::kSpin);
  EXPECT_TRUE(Eventually([&] {
    Look();
    // Where it shares the CPU of this thread, it is off it whenever this one looks.
    return cpu_.state() == OnCpu::State::kOn || cpu_.state() == OnCpu::State::kPreempted;
  }));
  worker_.Do(Worker::kSleep);
  ASSERT_TRUE(ComesToRest());
  EXPECT_NE(cpu_.switches(), switches) << "it has run in between";
}

// A run between two looks must not be mistaken for one long sleep.
TEST_P(OnCpuTest, NoticesARunBetweenTwoLooks) {
  ASSERT_TRUE(ComesToRest());
  const uint64_t switches = cpu_.switches();
  const int naps = worker_.naps();
  worker_.Do(Worker::kNap);
  ASSERT_TRUE(Eventually([&] { return worker_.naps() > naps; }));
  worker_.Do(Worker::kSleep);
  ::usleep(20'000);
  Look();
  EXPECT_TRUE(!cpu_.rests() || cpu_.switches() != switches);
  ASSERT_TRUE(ComesToRest());
  EXPECT_NE(cpu_.switches(), switches);
}

TEST_P(OnCpuTest, CountsCpuTime) {
  ASSERT_TRUE(ComesToRest());
  const int64_t own = worker_.cpu_ns();
  const auto before = cpu_.CpuTimeNs(MonotonicNs());
  ASSERT_TRUE(before);
  worker_.Do(Worker::kSpin);
  ASSERT_TRUE(Eventually([&] {
    Look();
    return worker_.cpu_ns() - own > 100 * kMs;
  }));
  worker_.Do(Worker::kSleep);
  ASSERT_TRUE(ComesToRest());
  const auto after = cpu_.CpuTimeNs(MonotonicNs());
  ASSERT_TRUE(after);
  const auto spent = static_cast<double>(worker_.cpu_ns() - own);
  EXPECT_NEAR(static_cast<double>(*after - *before), spent, 0.2 * spent);
}

// More switches than the ring of records has room for, and nobody looked meanwhile.
TEST_P(OnCpuTest, CountsCpuTimeOverLostRecords) {
  ASSERT_TRUE(ComesToRest());
  const int64_t own = worker_.cpu_ns();
  const auto before = cpu_.CpuTimeNs(MonotonicNs());
  ASSERT_TRUE(before);
  const int naps = worker_.naps();
  worker_.Do(Worker::kNap);
  ASSERT_TRUE(Eventually([&] { return worker_.naps() - naps > 1500; }));
  worker_.Do(Worker::kSpin);
  ASSERT_TRUE(Eventually([&] { return worker_.cpu_ns() - own > 100 * kMs; }));
  worker_.Do(Worker::kSleep);
  ::usleep(20'000);
  ASSERT_TRUE(ComesToRest());
  const auto after = cpu_.CpuTimeNs(MonotonicNs());
  ASSERT_TRUE(after);
  const auto spent = static_cast<double>(worker_.cpu_ns() - own);
  EXPECT_NEAR(static_cast<double>(*after - *before), spent, 0.2 * spent);
}

TEST_P(OnCpuTest, SeesAStop) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  OnCpu cpu(child, child, GetParam());
  auto look = [&] {
    cpu.Poll(MonotonicNs());
    cpu.Look(MonotonicNs());
    cpu.LookForStop();
    return cpu.state();
  };
  EXPECT_TRUE(Eventually([&] { return look() == OnCpu::State::kOff; }));
  ::kill(child, SIGSTOP);
  EXPECT_TRUE(Eventually([&] { return look() == OnCpu::State::kStopped; }));
  ::kill(child, SIGCONT);
  EXPECT_TRUE(Eventually([&] { return look() == OnCpu::State::kOff; }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Sources, OnCpuTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Records" : "Proc"; });

}  // namespace
}  // namespace linescope
