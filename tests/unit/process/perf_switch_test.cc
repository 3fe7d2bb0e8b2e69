#include "process/perf_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "base/clock.h"

namespace linescope {
namespace {

std::string Record(uint32_t type, uint16_t misc, const std::string& body) {
  perf_event_header header{type, misc, static_cast<uint16_t>(sizeof header + body.size())};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

std::string SampleId(uint64_t time, uint32_t cpu) {
  const struct {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
  } id{7, 8, time, cpu, 0};
  return {reinterpret_cast<const char*>(&id), sizeof id};
}

std::string In(uint64_t time, uint32_t cpu = 0) {
  return Record(PERF_RECORD_SWITCH, 0, SampleId(time, cpu));
}
std::string Out(uint64_t time, bool preempted = false) {
  return Record(PERF_RECORD_SWITCH,
                static_cast<uint16_t>(PERF_RECORD_MISC_SWITCH_OUT |
                                      (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)),
                SampleId(time, 0));
}
std::string Lost(uint64_t count, uint64_t time) {
  const uint64_t body[] = {1, count};
  return Record(PERF_RECORD_LOST, 0,
                std::string(reinterpret_cast<const char*>(body), sizeof body) + SampleId(time, 0));
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

SwitchHistory Feed(int64_t start_ns, const std::vector<std::string>& records) {
  SwitchHistory history(start_ns);
  for (const std::string& record : records) EXPECT_TRUE(history.Consume(Bytes(record)));
  return history;
}

TEST(SwitchHistory, KnowsNothingBeforeTheFirstRecord) {
  const SwitchHistory history(100);
  EXPECT_EQ(history.state(), CpuState::kUnknown);
  EXPECT_EQ(history.cpu(), -1);
  EXPECT_EQ(history.OnCpuNs(500), 0);
}

TEST(SwitchHistory, CountsTheTimeBeforeTheFirstRecord) {
  EXPECT_EQ(Feed(100, {Out(150)}).on_cpu_ns(), 50) << "it must have been on since the start";
  EXPECT_EQ(Feed(100, {In(150)}).off_cpu_ns(), 50);
}

TEST(SwitchHistory, AddsUpTimes) {
  const SwitchHistory history =
      Feed(1000, {In(1100, 3), Out(1150, true), In(1250, 5), Out(1260), In(1300, 2)});
  EXPECT_EQ(history.state(), CpuState::kOn);
  EXPECT_EQ(history.cpu(), 2);
  EXPECT_EQ(history.on_cpu_ns(), 60);
  EXPECT_EQ(history.off_cpu_ns(), 240);
  EXPECT_EQ(history.last_change_ns(), 1300);
  EXPECT_EQ(history.OnCpuNs(1400), 160);
  EXPECT_EQ(history.OnCpuNs(1200), 60) << "a time before the last record adds nothing";
  EXPECT_EQ(history.switches_in(), 3U);
  EXPECT_EQ(history.switches_out(), 2U);
  EXPECT_EQ(history.preemptions(), 1U);
  EXPECT_FALSE(history.preempted()) << "the last switch off was not one";
}

TEST(SwitchHistory, TellsPreemption) {
  EXPECT_TRUE(Feed(0, {In(1), Out(2, true)}).preempted());
  EXPECT_FALSE(Feed(0, {In(1), Out(2, false)}).preempted());
}

TEST(SwitchHistory, ForgetsAfterLostRecords) {
  SwitchHistory history = Feed(0, {In(10), Lost(5, 90)});
  EXPECT_EQ(history.state(), CpuState::kUnknown);
  EXPECT_EQ(history.lost(), 5U);
  EXPECT_EQ(history.gaps(), 1U);
  EXPECT_EQ(history.OnCpuNs(1000), 0);
  ASSERT_TRUE(history.Consume(Bytes(Out(100))));
  EXPECT_EQ(history.state(), CpuState::kOff);
  EXPECT_EQ(history.on_cpu_ns(), 0);
  EXPECT_EQ(history.off_cpu_ns(), 10);
  EXPECT_EQ(history.unknown_ns(), 90);
  ASSERT_TRUE(history.Consume(Bytes(In(130))));
  EXPECT_EQ(history.off_cpu_ns(), 40);
}

TEST(SwitchHistory, DistrustsTwoSwitchesOfOneKind) {
  const SwitchHistory history = Feed(0, {In(10), In(30), Out(35)});
  EXPECT_EQ(history.unknown_ns(), 20);
  EXPECT_EQ(history.on_cpu_ns(), 5);
}

TEST(SwitchHistory, EndsWithTheThread) {
  SwitchHistory history = Feed(0, {In(10)});
  EXPECT_FALSE(history.ended());
  const std::string exit = Record(PERF_RECORD_EXIT, 0, std::string(24, '\0') + SampleId(50, 0));
  EXPECT_FALSE(history.Consume(Bytes(exit).first(exit.size() - 24)));
  ASSERT_TRUE(history.Consume(Bytes(exit)));
  EXPECT_TRUE(history.ended());
  EXPECT_EQ(history.state(), CpuState::kOff);
  EXPECT_EQ(history.OnCpuNs(1000), 40) << "what has ended does not run on";
}

TEST(SwitchHistory, RefusesWhatIsNoRecord) {
  SwitchHistory history(0);
  const std::string good = In(5);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(history.Consume(Bytes(good).first(size))) << size;
  EXPECT_FALSE(history.Consume(Bytes(Record(PERF_RECORD_SWITCH, 0, "short"))));
  EXPECT_FALSE(history.Consume(Bytes(Record(PERF_RECORD_LOST, 0, "short"))));
  EXPECT_FALSE(history.Consume(Bytes(In(~uint64_t{0}))));
  EXPECT_TRUE(history.Consume(Bytes(Record(PERF_RECORD_FORK, 0, std::string(48, 'x')))))
      << "passed over";
  EXPECT_EQ(history.state(), CpuState::kUnknown);
}

TEST(ConsumeRing, ReadsRecordsAcrossTheEnd) {
  std::string ring(128, '\0');
  const std::string records = In(10) + Out(20) + In(30);
  const uint64_t tail = (uint64_t{1} << 40) + 128 - 48;
  for (size_t i = 0; i < records.size(); ++i) ring[(tail + i) % ring.size()] = records[i];
  SwitchHistory history(0);
  EXPECT_EQ(ConsumeRing(Bytes(ring), tail + records.size(), tail, &history), tail + records.size());
  EXPECT_EQ(history.switches_in(), 2U);
  EXPECT_EQ(history.on_cpu_ns(), 10);
  EXPECT_EQ(history.last_change_ns(), 30);
}

TEST(ConsumeRing, ForgetsWhenTheBytesMakeNoSense) {
  for (const std::string& tail :
       {std::string(32, '\0'), std::string(32, '\xff'), std::string(4, '\0')}) {
    std::string ring = In(10) + tail;
    const uint64_t head = ring.size();
    ring.resize(128);
    SwitchHistory history(0);
    EXPECT_EQ(ConsumeRing(Bytes(ring), head, 0, &history), head);
    EXPECT_EQ(history.switches_in(), 1U);
    EXPECT_EQ(history.state(), CpuState::kUnknown);
  }
  SwitchHistory history(0);
  const std::string ring(128, '\0');
  EXPECT_EQ(ConsumeRing(Bytes(ring), 1000, 0, &history), 1000U);
}

int64_t ThreadCpuNs() {
  timespec ts;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

// A thread that sleeps and spins as it is told.
class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {
    while (tid_ == 0) ::usleep(100);
  }
  ~Worker() {
    command_ = kQuit;
    thread_.join();
  }
  void SleepNow() { command_ = kSleep; }
  void SpinNow() { command_ = kSpin; }
  [[nodiscard]] int tid() const { return tid_; }
  [[nodiscard]] int64_t cpu_ns() const { return cpu_ns_; }

 private:
  enum Command { kSleep, kSpin, kQuit };
  void Run() {
    tid_ = ::gettid();
    while (command_ != kQuit) {
      if (command_ == kSleep) ::usleep(2000);
      cpu_ns_ = ThreadCpuNs();
    }
  }
  std::atomic<int> command_ = kSleep;
  std::atomic<int> tid_ = 0;
  std::atomic<int64_t> cpu_ns_ = 0;
  std::thread thread_;
};

template <class Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    ::usleep(1000);
  }
  return false;
}

TEST(SwitchRingLive, SeesSleepAndSpin) {
  Worker worker;
  auto ring = SwitchRing::Open(worker.tid());
  if (!ring) GTEST_SKIP() << ring.error().what;
  const int64_t cpu_before = worker.cpu_ns();
  EXPECT_TRUE(Eventually([&] {
    ring->Poll();
    return ring->history().switches_out() >= 5;
  })) << "it sleeps again and again";
  EXPECT_EQ(ring->history().lost(), 0U);
  EXPECT_LT(ring->history().on_cpu_ns(), ring->history().off_cpu_ns());

  worker.SpinNow();
  const int64_t spin_start = worker.cpu_ns();
  // Polled all the while: where much else is going on, it is pushed off its CPU thousands of times
  // a second, and the ring has room for a thousand records.
  EXPECT_TRUE(Eventually([&] {
    ring->Poll();
    return worker.cpu_ns() - spin_start > 50'000'000;
  }));
  // The worker may go on between any two of these.
  const auto at_least = static_cast<double>(worker.cpu_ns() - cpu_before);
  ring->Poll();
  const auto on_cpu = static_cast<double>(ring->history().OnCpuNs(MonotonicNs()));
  const auto at_most = static_cast<double>(worker.cpu_ns() - cpu_before);
  EXPECT_GE(ring->history().cpu(), 0);
  // Its own clock may lag by a tick where the hypervisor steals time, and holds what each switch
  // costs, which lies between two records.
  EXPECT_GE(on_cpu, 0.75 * at_least);
  EXPECT_LE(on_cpu, 1.25 * at_most);
  const SwitchHistory& h = ring->history();
  EXPECT_EQ(h.unknown_ns(), 0);

  worker.SleepNow();
  EXPECT_TRUE(Eventually([&] {
    ring->Poll();
    return ring->history().state() == CpuState::kOff && !ring->history().preempted();
  }));
}

TEST(SwitchRingLive, LosesRecordsAndRecovers) {
  Worker worker;
  auto ring = SwitchRing::Open(worker.tid());
  if (!ring) GTEST_SKIP() << ring.error().what;
  // A helper thread that switches far more often than the ring has room for.
  std::atomic<int> tid = 0;
  std::atomic<bool> go = false;
  std::atomic<bool> done = false;
  std::atomic<bool> quit = false;
  std::thread busy([&] {
    tid = ::gettid();
    while (!go) ::usleep(100);
    for (int i = 0; i < 1500; ++i) ::usleep(1);
    done = true;
    while (!quit) ::usleep(1000);
  });
  while (tid == 0) ::usleep(100);
  auto full = SwitchRing::Open(tid);
  ASSERT_TRUE(full) << full.error().what;
  go = true;
  EXPECT_TRUE(Eventually([&] { return done.load(); }));
  full->Poll();
  EXPECT_EQ(full->history().state(), CpuState::kUnknown)
      << "a full ring cannot say what came after it";
  EXPECT_GT(full->history().gaps(), 0U);
  EXPECT_TRUE(Eventually([&] {
    full->Poll();
    return full->history().lost() > 0 && full->history().state() != CpuState::kUnknown;
  }));
  EXPECT_GT(full->history().unknown_ns(), 0);
  quit = true;
  busy.join();
}

TEST(SwitchRingLive, NoticesTheThreadsEnd) {
  std::atomic<int> tid = 0;
  std::atomic<bool> end = false;
  std::thread thread([&] {
    tid = ::gettid();
    while (!end) continue;
  });
  while (tid == 0) ::usleep(100);
  auto ring = SwitchRing::Open(tid);
  end = true;
  thread.join();
  if (!ring) GTEST_SKIP() << ring.error().what;
  EXPECT_TRUE(Eventually([&] {
    ring->Poll();
    return ring->history().ended();
  }));
  const int64_t on_cpu = ring->history().OnCpuNs(MonotonicNs());
  ::usleep(10'000);
  EXPECT_EQ(ring->history().OnCpuNs(MonotonicNs()), on_cpu);
}

TEST(SwitchRingLive, SaysThatAThreadIsGone) {
  int tid = 0;
  std::thread([&] { tid = ::gettid(); }).join();
  const auto ring = SwitchRing::Open(tid);
  ASSERT_FALSE(ring);
  if (ring.error().code == ErrorCode::kDenied || ring.error().code == ErrorCode::kUnsupported) {
    GTEST_SKIP() << ring.error().what;
  }
  EXPECT_EQ(ring.error().code, ErrorCode::kGone);
}

}  // namespace
}  // namespace linescope
