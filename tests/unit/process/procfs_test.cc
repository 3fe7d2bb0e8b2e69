#include "process/procfs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "child.h"

namespace linescope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr std::string_view kTail =
    " S 1 4242 4242 34816 4300 4194304 100 0 0 0 77 33 0 0 20 0 3 0 123456 9000000 555 "
    "18446744073709551615 1 1 0 0 0 0 0 "
    "16781312 2 0 0 0 17 5 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

TEST(ParseStat, ReadsTheFieldsWeUse) {
  const auto stat = ParseStat("4242 (bash)" + std::string(kTail));
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->pid, 4242);
  EXPECT_EQ(stat->comm, "bash");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->process_group, 4242);
  EXPECT_EQ(stat->session, 4242);
  EXPECT_EQ(stat->terminal, 34816);
  EXPECT_EQ(stat->terminal_foreground_group, 4300);
  EXPECT_EQ(stat->flags, 4194304U);
  EXPECT_FALSE(stat->is_kernel_thread());
  EXPECT_EQ(stat->user_ticks, 77U);
  EXPECT_EQ(stat->system_ticks, 33U);
  EXPECT_EQ(stat->threads, 3);
  EXPECT_EQ(stat->start_ticks, 123456U);
  EXPECT_EQ(stat->resident_pages, 555U);
  EXPECT_EQ(stat->processor, 5);
}

TEST(ParseStat, KnowsNoStackOfAnExecUnderWay) {
  auto with = [](const std::string& code) {
    std::string line = "4242 (bash)" + std::string(kTail);
    const std::string hidden = " 1 1 0 0 0 0 0 16781312";
    return line.replace(line.find(hidden), hidden.size(),
                        " " + code + " 9 140720000000 0 0 0 0 16781312");
  };
  EXPECT_EQ(ParseStat(with("4198400"))->start_stack, 140720000000U);
  EXPECT_EQ(ParseStat(with("0"))->start_stack, 0U);
}

TEST(ParseStat, TakesAnyName) {
  for (const std::string name : {"", ")", ") R 1 2 3", "a (b) c", "new\nline", "\xff\xfe", "((("}) {
    const auto stat = ParseStat("4242 (" + name + ")" + std::string(kTail));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->processor, 5);
  }
}

TEST(ParseStat, RefusesNonsense) {
  for (const std::string_view text : {"", "4242", "4242 (bash", ") ("}) {
    EXPECT_FALSE(ParseStat(text)) << text;
  }
  const std::string good = "4242 (bash)" + std::string(kTail);
  EXPECT_FALSE(ParseStat(good.substr(0, good.size() / 2)));
  EXPECT_FALSE(ParseStat("x (bash)" + std::string(kTail)));
  EXPECT_FALSE(ParseStat("1 (bash) SS" + std::string(kTail.substr(2))));
}

TEST(ParseStatus, ReadsTheLinesWeUse) {
  const auto status = ParseStatus(
      "Name:\tUid: "
      "5\\nx\nTgid:\t77\nTracerPid:\t9\nUid:\t1000\t1001\t1002\t1003\nGid:\t10\t11\t12\t13\nNSpid:"
      "\t77\t5\t1\n"
      "VmHWM:\t    2048 kB\nVmRSS:\t    1024 "
      "kB\nCapPrm:\t00000000000000ff\nCapEff:\t0000000000080000\nSeccomp:\t2\n");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->thread_group, 77);
  EXPECT_EQ(status->tracer, 9);
  EXPECT_EQ(status->uid.real, 1000U);
  EXPECT_EQ(status->uid.effective, 1001U);
  EXPECT_EQ(status->uid.saved, 1002U);
  EXPECT_EQ(status->uid.filesystem, 1003U);
  EXPECT_EQ(status->gid.effective, 11U);
  EXPECT_THAT(status->ns_pids, ElementsAre(77, 5, 1));
  EXPECT_EQ(status->resident_bytes, 1024U * 1024);
  EXPECT_EQ(status->peak_resident_bytes, 2048U * 1024);
  EXPECT_EQ(status->permitted_caps, 0xffU);
  EXPECT_EQ(status->effective_caps, 0x80000U);
  EXPECT_EQ(status->seccomp, 2);
}

TEST(ParseStatus, LeavesOutWhatIsNotThere) {
  const auto status = ParseStatus("Name:\tkthreadd\nUid:\t0\t0\t0\t0\n");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->resident_bytes, std::nullopt);
  EXPECT_TRUE(status->ns_pids.empty());
  EXPECT_FALSE(ParseStatus(""));
  EXPECT_FALSE(ParseStatus("Uid:\t0\t0\t0\n"));
}

TEST(ParseCommandLine, SplitsAtZeros) {
  EXPECT_THAT(ParseCommandLine(std::string("a\0b c\0\0d\0", 9)), ElementsAre("a", "b c", "", "d"));
  EXPECT_THAT(ParseCommandLine("overwritten title"), ElementsAre("overwritten title"));
  EXPECT_TRUE(ParseCommandLine("").empty());
}

TEST(ProcfsLive, ReadsAProcessWithAnOddName) {
  Child child([](const auto& ready) {
    ::prctl(PR_SET_NAME, "x) R 1\n(y");
    ready();
    WaitForever();
  });
  const auto stat = ReadStat(child.pid());
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->comm, "x) R 1\n(y");
  EXPECT_EQ(stat->pid, child.pid());
  EXPECT_EQ(stat->parent, ::getpid());
  EXPECT_EQ(ReadThreadName(child.pid(), child.pid()).value(), "x) R 1\n(y");
  const auto status = ReadStatus(child.pid());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->uid.real, ::getuid());
  EXPECT_GT(status->resident_bytes.value_or(0), 0U);
  EXPECT_EQ(status->ns_pids.front(), child.pid());
  EXPECT_EQ(ReadExe(child.pid()).value(), std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(ReadWorkingDirectory(child.pid()).value(), std::filesystem::current_path().string());
  EXPECT_EQ(ReadCommandLine(child.pid()).value(), ReadCommandLine(::getpid()).value());
  EXPECT_THAT(ListChildren(::getpid()).value(), Contains(child.pid()));
  EXPECT_THAT(ListProcesses().value(), Contains(child.pid()));
  const auto chain = Ancestry(child.pid());
  ASSERT_TRUE(chain);
  EXPECT_EQ((*chain)[0], child.pid());
  EXPECT_EQ((*chain)[1], ::getpid());
}

TEST(ProcfsLive, KnowsWhenAProcessStarted) {
  const int64_t before = RealtimeNs();
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  const int64_t after = RealtimeNs();
  const auto start = ProcessStartUnixNs(child.pid());
  ASSERT_TRUE(start);
  constexpr int64_t kTick =
      20'000'000;  // rounded down to a tick of 10 ms, on a clock that may be steered meanwhile
  EXPECT_GE(*start, before - kTick);
  EXPECT_LE(*start, after + kTick);
}

TEST(ProcfsLive, SaysThatAProcessIsGone) {
  Child child([](const auto& ready) { ready(); });
  const int pid = child.pid();
  child.KillAndReap();
  EXPECT_EQ(ReadStat(pid).error().code, ErrorCode::kGone);
  EXPECT_EQ(ReadStatus(pid).error().code, ErrorCode::kGone);
  EXPECT_EQ(ReadExe(pid).error().code, ErrorCode::kGone);
  EXPECT_EQ(ListThreads(pid).error().code, ErrorCode::kGone);
  EXPECT_EQ(Ancestry(pid).error().code, ErrorCode::kGone);
  EXPECT_EQ(ThreadStat::Open(pid, pid).error().code, ErrorCode::kGone);
}

TEST(ThreadStat, FollowsAThread) {
  std::atomic<int> tid = 0;
  std::atomic<int> command = 0;  // 0 sleep, 1 spin, 2 quit
  std::thread thread([&] {
    ::prctl(PR_SET_NAME, ") worker");
    tid = ::gettid();
    while (command != 2) {
      if (command == 0) ::usleep(1000);
    }
  });
  while (tid == 0) ::usleep(100);
  EXPECT_THAT(ListThreads(::getpid()).value(), Contains(tid.load()));
  EXPECT_EQ(ReadThreadName(::getpid(), tid).value(), ") worker");
  auto stat = ThreadStat::Open(::getpid(), tid);
  ASSERT_TRUE(stat);
  ThreadStat::Sample sample;
  ThreadStat::Sched before;
  ThreadStat::Sched after;
  ASSERT_TRUE(stat->Read(&sample));
  EXPECT_GE(sample.processor, 0);
  const bool has_sched = stat->ReadSched(&before);
  command = 1;
  bool ran = false;
  bool counted = false;
  for (int i = 0; i < 3000 && !(ran && counted); ++i) {
    ::usleep(1000);
    ASSERT_TRUE(stat->Read(&sample));
    ran = ran || sample.state == 'R';
    counted = counted || sample.cpu_ticks >= 2;
  }
  EXPECT_TRUE(ran);
  EXPECT_TRUE(counted);
  if (has_sched) {
    ASSERT_TRUE(stat->ReadSched(&after));
    EXPECT_GT(after.on_cpu_ns, before.on_cpu_ns);
  }
  command = 2;
  thread.join();
  // The kernel wakes who joins before it takes the thread out of /proc.
  for (int i = 0; i < 3000 && stat->Read(&sample); ++i) ::usleep(1000);
  EXPECT_FALSE(stat->Read(&sample));
  EXPECT_FALSE(stat->ReadSched(&after));
}

}  // namespace
}  // namespace linescope
