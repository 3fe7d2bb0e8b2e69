// A profile stays small however long the run is, and right while it is made so: whatever the limits
// and wherever the recorder is killed, every sample is there once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "profile/reader.h"
#include "profile/writer.h"
#include "unit/profile/disk_faults.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;
constexpr ThreadState kStates[] = {ThreadState::kRunning, ThreadState::kWaiting};

using KeySums = std::map<std::tuple<ThreadId, StackId, ThreadState>, Cost>;
using ActivitySums = std::map<std::tuple<int64_t, ThreadId, ThreadState>, Cost>;

// A made-up program: four threads in a tree of stacks, few of which are frequent, and which change
// every 40 seconds. Its steps are the same each time.
class Program {
 public:
  static constexpr int kThreads = 4;
  static constexpr uint32_t kStacks = 300;

  Program(ProfileWriter* writer, uint32_t seed) : writer_(writer), random_(seed) {
    const ProcessId process = writer->AddProcess({});
    for (int i = 0; i < kThreads; ++i)
      writer->AddThread({.process = process, .tid = i + 1, .name = "t", .is_main = i == 0});
    const FunctionId function = writer->AddFunction({"/p/a.py", "f", "f", 1, true});
    for (uint32_t i = 0; i < kStacks; ++i)
      writer->AddStack({i == 0 ? kNoStack : (i - 1) / 3, function, {.line = int32_t(i + 1)}});
  }

  // Adds a second.
  void Step() {
    for (int tenth = 0; tenth < 10; ++tenth) {
      std::vector<SampleCell> cells;
      for (ThreadId thread = 0; thread < kThreads; ++thread) {
        for (int i = 0; i < 6; ++i) {
          const auto rank = std::pow(kStacks, static_cast<double>(random_()) / 4294967296.0);
          const auto stack = static_cast<StackId>(
              (static_cast<uint32_t>(rank) + static_cast<uint32_t>(second_ / 40) * 7) % kStacks);
          const uint64_t count = random_() % 5 + 1;
          const auto n = static_cast<int64_t>(count);
          cells.push_back({thread, random_() % 50 == 0 ? kNoStack : stack, kStates[random_() % 2],
                           count, n * 10, n});
        }
      }
      const int64_t begin = second_ * kSecond + tenth * kSecond / 10;
      writer_->AddSamples(begin, begin + kSecond / 10, cells);
      for (const SampleCell& cell : cells) {
        const Cost cost{cell.count, cell.wall_ns, cell.cpu_ns};
        by_key_[{cell.thread, cell.stack, cell.state}] += cost;
        activity_[{begin / 100'000'000, cell.thread, cell.state}] += cost;
        samples_ += cell.count;
      }
    }
    ++second_;
  }

  [[nodiscard]] const KeySums& by_key() const { return by_key_; }
  [[nodiscard]] uint64_t samples() const { return samples_; }
  [[nodiscard]] ActivitySums Activity(int64_t width_ns) const {
    ActivitySums sums;
    for (const auto& [key, cost] : activity_) {
      const auto& [tenth, thread, state] = key;
      sums[{tenth * 100'000'000 / width_ns, thread, state}] += cost;
    }
    return sums;
  }

 private:
  ProfileWriter* writer_;
  std::mt19937 random_;
  int64_t second_ = 0;
  KeySums by_key_;
  ActivitySums activity_;  // by tenths of a second
  uint64_t samples_ = 0;
};

struct Stored {
  KeySums by_key;
  ActivitySums activity;
  int64_t rows = 0, activity_rows = 0;
  int64_t width_ns = 0;
  std::vector<std::string> notes;
};

Stored Read(const fs::path& path) {
  Stored stored;
  auto reader = ProfileReader::Open(path);
  if (!reader) throw std::runtime_error(reader.error().what);
  stored.width_ns = (*reader)->bucket_width_ns();
  Status status = (*reader)->ForEachSample([&](const SampleRow& row) {
    const SampleCell& cell = row.cell;
    stored.by_key[{cell.thread, cell.stack, cell.state}] += {cell.count, cell.wall_ns, cell.cpu_ns};
    ++stored.rows;
  });
  if (!status) throw std::runtime_error(status.error().what);
  status = (*reader)->ForEachActivity([&](const SampleRow& row) {
    ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
      stored.activity[{bucket, row.cell.thread, row.cell.state}] += cost;
    });
    ++stored.activity_rows;
  });
  if (!status) throw std::runtime_error(status.error().what);
  uint64_t samples = 0;
  for (const auto& [key, cost] : stored.by_key) samples += cost.samples;
  EXPECT_EQ((*reader)->end().samples, samples);
  for (const Diagnostic& note : (*reader)->diagnostics()) stored.notes.push_back(note.text);
  return stored;
}

// What is on disk in the midst of a recording, as it would be if the recorder died now.
Stored ReadAsIfKilled(const fs::path& path, const fs::path& copy) {
  for (const char* suffix : {"", "-wal"})
    fs::copy_file(path.string() + suffix, copy.string() + suffix,
                  fs::copy_options::overwrite_existing);
  return Read(copy);
}

RunEnd EndOf(const Program& program, int64_t seconds) {
  RunEnd end = FixtureEnd();
  end.elapsed_ns = seconds * kSecond;
  end.samples = program.samples();
  return end;
}

class GrowthTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  TemporaryFolder folder_;
};

// Through doublings of the bucket width and rewrites of the tables: at every commit the sums are
// those of what was added, and threads' activity is that of each bucket.
TEST_P(GrowthTest, EveryCommitHasAllThatWasAdded) {
  const auto path = folder_ / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun(), {.sample_rows = 8'000});
  ASSERT_TRUE(writer);
  Program program(writer->get(), GetParam());
  for (int64_t second = 1; second <= 300; ++second) {
    program.Step();
    if (second % 5 != 0) continue;
    ASSERT_TRUE((*writer)->Commit());
    if (second % 30 != 0) continue;
    const Stored stored = ReadAsIfKilled(path, folder_ / "copy");
    ASSERT_TRUE(stored.by_key == program.by_key()) << second;
    ASSERT_TRUE(stored.activity == program.Activity(stored.width_ns)) << second;
  }
  ASSERT_TRUE((*writer)->Finish(EndOf(program, 300)));
  const Stored stored = Read(path);
  EXPECT_TRUE(stored.by_key == program.by_key());
  EXPECT_TRUE(stored.activity == program.Activity(stored.width_ns));
  EXPECT_TRUE(stored.notes.empty());
}

// Killed at a random moment of a recording that commits all the time, the file is that of one of
// the commits, whole.
TEST_P(GrowthTest, KilledAtAnyMoment) {
  const auto path = folder_ / "run.linescope";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto writer = ProfileWriter::Create(path, FixtureRun(), {.sample_rows = 8'000});
    if (!writer) ::_exit(1);
    Program program(writer->get(), GetParam());
    for (int second = 0; second < 100'000; ++second) {
      program.Step();
      if (second % 5 == 0 && !(*writer)->Commit()) ::_exit(2);
    }
    ::_exit(3);
  }
  ::usleep(50'000 + GetParam() * 37'000);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  const Stored stored = Read(path);
  uint64_t samples = 0;
  for (const auto& [key, cost] : stored.by_key) samples += cost.samples;

  auto writer = ProfileWriter::Create(folder_ / "again", FixtureRun());
  ASSERT_TRUE(writer);
  Program program(writer->get(), GetParam());
  while (program.samples() < samples) program.Step();
  EXPECT_TRUE(stored.by_key == program.by_key());
  EXPECT_TRUE(stored.activity == program.Activity(stored.width_ns));
}

// The disk is full for most of the run, and what waits is more than may.
TEST_P(GrowthTest, WhatWaitsForTheDiskStaysSmallAndIsAllThere) {
  const auto path = folder_ / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun(), {.sample_rows = 1'000});
  ASSERT_TRUE(writer);
  Program program(writer->get(), GetParam());
  program.Step();
  ASSERT_TRUE((*writer)->Commit());
  {
    DiskBudget full(20'000 * (GetParam() % 3));
    for (int second = 0; second < 150; ++second) {
      program.Step();
      (void)(*writer)->Commit();
    }
    ASSERT_FALSE((*writer)->Commit());
  }
  ASSERT_TRUE((*writer)->Finish(EndOf(program, 151)));
  const Stored stored = Read(path);
  EXPECT_TRUE(stored.by_key == program.by_key());
  EXPECT_LE(stored.rows, 3'000);  // a row each thread, stack and state, at most, and some more
}

INSTANTIATE_TEST_SUITE_P(Seeds, GrowthTest, ::testing::Range(1u, 6u));

// The same program for four times as long makes a profile of the same size.
TEST(GrowthLimitsTest, RowsDoNotGrowWithTheRun) {
  TemporaryFolder folder;
  std::map<int64_t, int64_t> rows;
  for (const int64_t seconds : {240, 960}) {
    const auto path = folder / std::to_string(seconds);
    auto writer = ProfileWriter::Create(path, FixtureRun(), {.sample_rows = 6'000});
    ASSERT_TRUE(writer);
    Program program(writer->get(), 1);
    for (int64_t second = 0; second < seconds; ++second) {
      program.Step();
      if (second % 8 == 0) {
        ASSERT_TRUE((*writer)->Commit());
      }
    }
    ASSERT_TRUE((*writer)->Finish(EndOf(program, seconds)));
    const Stored stored = Read(path);
    EXPECT_LE(stored.rows, 4'000 + 8'192);
    EXPECT_LE(stored.activity_rows, 4'000 + 8'192);
    rows[seconds] = stored.rows;
  }
  EXPECT_LT(rows[960], rows[240] * 11 / 10);
}

TEST(GrowthLimitsTest, StacksBeyondTheLimitAreTheirCallers) {
  TemporaryFolder folder;
  const auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun(), {.stacks = 50});
  ASSERT_TRUE(writer);
  const ThreadId thread = (*writer)->AddThread({(*writer)->AddProcess({}), 1, "t", true, 0});
  const FunctionId main = (*writer)->AddFunction({"/p/a.py", "main", "main", 1, true});
  const StackId root = (*writer)->AddStack({kNoStack, main, {.line = 1}});
  std::set<StackId> stacks;
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = fmt::format("made_{}", i);
    const FunctionId function = (*writer)->AddFunction({"<string>", name, name, 1, false});
    const StackId stack = (*writer)->AddStack({root, function, {.line = 1}});
    const SampleCell cell{thread, stack, ThreadState::kRunning, 1, 10, 10};
    (*writer)->AddSamples(0, 10, {&cell, 1});
    stacks.insert(stack);
  }
  EXPECT_EQ(stacks.size(), 50u);
  // One that is known is still found.
  EXPECT_EQ((*writer)->AddStack({kNoStack, main, {.line = 1}}), root);
  RunEnd end = FixtureEnd();
  end.samples = 1'000;
  ASSERT_TRUE((*writer)->Finish(end));
  const Stored stored = Read(path);
  EXPECT_EQ(stored.by_key.at({thread, root, ThreadState::kRunning}).samples, 951u);
  EXPECT_THAT(stored.notes, ::testing::ElementsAre(HasSubstr("more than 50 different stacks")));
}

TEST(GrowthLimitsTest, RowsBeyondTheLimitAreFoldedFromTheRarest) {
  TemporaryFolder folder;
  const auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun(), {.sample_rows = 100, .stacks = 2'000});
  ASSERT_TRUE(writer);
  const ProcessId process = (*writer)->AddProcess({});
  const FunctionId main = (*writer)->AddFunction({"/p/a.py", "main", "main", 1, true});
  const StackId root = (*writer)->AddStack({kNoStack, main, {.line = 1}});
  std::vector<StackId> stacks;
  for (int32_t i = 0; i < 100; ++i)
    stacks.push_back((*writer)->AddStack({root, main, {.line = i + 2}}));
  uint64_t samples = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const ThreadId thread = (*writer)->AddThread({process, static_cast<int>(i), "t", false, 0});
    std::vector<SampleCell> cells;
    for (size_t stack = 0; stack < stacks.size(); ++stack) {
      const uint64_t count = stack < 5 ? 1'000 : 1;
      cells.push_back({thread, stacks[stack], ThreadState::kRunning, count, 10, 10});
      samples += count;
    }
    (*writer)->AddSamples(i * kSecond / 10, (i + 1) * kSecond / 10, cells);
    if (i % 5 == 0) {
      ASSERT_TRUE((*writer)->Commit());
    }
  }
  RunEnd end = FixtureEnd();
  end.samples = samples;
  ASSERT_TRUE((*writer)->Finish(end));
  const Stored stored = Read(path);
  uint64_t rarest = 0;
  for (const auto& [key, cost] : stored.by_key) {
    const auto& [thread, stack, state] = key;
    if (stack == root) rarest += cost.samples;
    if (stack == stacks[0]) {
      EXPECT_EQ(cost.samples, 1'000u) << thread;
    }
  }
  EXPECT_GT(rarest, 0u);
  EXPECT_LE(stored.rows, 2'000 + 8'192);
  EXPECT_THAT(stored.notes, ::testing::ElementsAre(HasSubstr("rarest stacks")));
}

TEST(GrowthLimitsTest, ThreadsAndProcessesBeyondTheLimitAreTogether) {
  TemporaryFolder folder;
  const auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun(), {.threads = 10, .processes = 3});
  ASSERT_TRUE(writer);
  uint64_t samples = 0;
  const auto use = [&](ThreadId thread) {
    const SampleCell cell{thread, kNoStack, ThreadState::kRunning, 1, 10, 10};
    (*writer)->AddSamples(0, 10, {&cell, 1});
    ++samples;
  };
  ProcessInfo info;
  info.pid = 77;
  info.python_version = "3.13.0";
  const ProcessId root = (*writer)->AddProcess(info);
  info.parent = root;
  for (int i = 0; i < 100; ++i) {
    const ThreadId thread =
        (*writer)->AddThread({.process = root, .tid = 1000 + i, .name = "worker"});
    use(thread);
    (*writer)->SetThreadName(thread, "renamed");
    (*writer)->EndThread(thread, 50 + i);
  }
  for (int i = 0; i < 20; ++i) {
    info.pid = 100 + i;
    info.python_version.clear();
    const ProcessId process = (*writer)->AddProcess(info);
    info.python_version = "3.12.1";
    (*writer)->SetProcess(process, info);
    use((*writer)->AddThread({.process = process, .tid = 100 + i, .name = "m", .is_main = true}));
    (*writer)->EndProcess(process, 70 + i, 1, std::nullopt);
  }
  RunEnd end = FixtureEnd();
  end.samples = samples;
  ASSERT_TRUE((*writer)->Finish(end));

  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().what;
  const auto& processes = (*reader)->processes();
  ASSERT_EQ(processes.size(), 4u);
  EXPECT_EQ(processes[2].pid, 101);
  EXPECT_EQ(processes[3].pid, 0);
  EXPECT_EQ(processes[3].command, std::vector<std::string>{"more processes"});
  EXPECT_EQ(processes[3].python_version, "3.12.1");
  EXPECT_EQ(processes[3].end_ns, 89);
  EXPECT_EQ(processes[3].exit_code, std::nullopt);
  const auto& threads = (*reader)->threads();
  ASSERT_EQ(threads.size(), 10u + 1 + 2 + 1);
  EXPECT_EQ(threads[9].name, "renamed");
  EXPECT_EQ(threads[10].name, "more threads");
  EXPECT_EQ(threads[10].tid, 77);
  EXPECT_EQ(threads[10].end_ns, 149);
  EXPECT_EQ(threads[13].process, 3u);
  EXPECT_EQ(threads[13].name, "more threads");
  const Stored stored = Read(path);
  EXPECT_EQ(stored.by_key.at({10, kNoStack, ThreadState::kRunning}).samples, 90u);
  EXPECT_EQ(stored.by_key.at({13, kNoStack, ThreadState::kRunning}).samples, 18u);
  EXPECT_THAT(stored.notes, ::testing::UnorderedElementsAre(HasSubstr("more than 10 threads"),
                                                            HasSubstr("more than 3 processes")));
}

}  // namespace
}  // namespace linescope
