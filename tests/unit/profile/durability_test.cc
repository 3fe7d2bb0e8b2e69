// What happens to a profile when the recorder is killed or the disk is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/reader.h"
#include "profile/writer.h"
#include "unit/profile/disk_faults.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int64_t kSecond = 1'000'000'000;

struct Seen {
  ProfileState state;
  uint64_t samples;
  int64_t elapsed_ns;
  bool ticks_known;
};

Seen Look(const fs::path& path) {
  auto reader = ProfileReader::Open(path);
  if (!reader) throw std::runtime_error(reader.error().what);
  auto profile = (*reader)->Load();
  if (!profile) throw std::runtime_error(profile.error().what);
  const RunEnd& end = (*reader)->end();
  EXPECT_EQ(end.samples, profile->total.samples);
  return {end.state, profile->total.samples, end.elapsed_ns, end.ticks_known};
}

// One more function, stack and source, and `count` samples in second `second`.
void AddSecond(ProfileWriter& writer, int64_t second, uint64_t count) {
  std::string name = fmt::format("later{}", second);
  FunctionId function = writer.AddFunction({"/project/later.py", name, name, 1, true});
  StackId stack = writer.AddStack({kNoStack, function, static_cast<int32_t>(second)});
  SampleCell cell{0, stack, ThreadState::kRunning, count, 1000, 1000};
  writer.AddSamples(second * kSecond, (second + 1) * kSecond, {&cell, 1});
  SourceSnapshot source;
  source.path = name;
  source.text = std::string(20'000, static_cast<char>('a' + second % 26));
  writer.AddSource(source);
}

// Runs `body` in a child, which kills itself with SIGKILL in it.
template <class Body>
void InKilledChild(Body body) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void RecordAndDie(const fs::path& path) {
  auto writer = ProfileWriter::Create(path, FixtureRun());
  FillFixture(**writer);
  if (!(*writer)->Commit()) return;
  AddSecond(**writer, 4, 10);
  if (!(*writer)->Commit()) return;
  AddSecond(**writer, 5, 1000);  // not committed
  ::kill(::getpid(), SIGKILL);
}

TEST(DurabilityTest, WhatWasCommittedSurvivesSigkill) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  InKilledChild([&] { RecordAndDie(path); });
  Seen seen = Look(path);
  EXPECT_EQ(seen.state, ProfileState::kInterrupted);
  EXPECT_EQ(seen.samples, 265u);
  EXPECT_EQ(seen.elapsed_ns, 5 * kSecond);
  EXPECT_FALSE(seen.ticks_known);
  // Looking has not changed it.
  EXPECT_EQ(Look(path).samples, 265u);
}

TEST(DurabilityTest, ReadableInAFolderThatCannotBeWritten) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  InKilledChild([&] { RecordAndDie(path); });
  fs::remove(path.string() + "-shm");
  const fs::perms read = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  const fs::perms enter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(path, read);
  fs::permissions(folder.path(), read | enter);
  pid_t child = ::fork();
  if (child == 0) {
    // Root may write anywhere: become somebody else.
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    auto samples = [&]() -> uint64_t {
      auto reader = ProfileReader::Open(path);
      if (!reader) return 0;
      auto profile = (*reader)->Load();
      return profile ? profile->total.samples : 0;
    };
    ::_exit(samples() == 265 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(path.string() + "-shm"));
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(DurabilityTest, KilledWhileItWouldReplaceAProfile) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  InKilledChild([&] { RecordAndDie(path); });
  EXPECT_EQ(Look(path).samples, 255u);  // the old one, untouched
  EXPECT_EQ(Look(path).state, ProfileState::kComplete);
  EXPECT_EQ(Look(path.string() + ".partial").samples, 265u);
  // The next run does not destroy what the killed one has left.
  ASSERT_TRUE(WriteFixture(path));
  EXPECT_EQ(Look(path.string() + ".partial").samples, 265u);
}

TEST(DurabilityTest, RecordingOverAnInterruptedProfileKeepsItUntilTheEnd) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  InKilledChild([&] { RecordAndDie(path); });
  auto writer = ProfileWriter::Create(path, FixtureRun());
  ASSERT_TRUE(writer) << writer.error().what;
  FillFixture(**writer);
  ASSERT_TRUE((*writer)->Commit());
  EXPECT_EQ(Look(path).samples, 265u);
  ASSERT_TRUE((*writer)->Finish(FixtureEnd()));
  EXPECT_EQ(Look(path).samples, 255u);
  EXPECT_EQ(Look(path).state, ProfileState::kComplete);
}

TEST(DurabilityTest, AWriterThatIsDroppedLeavesAnInterruptedProfile) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  {
    auto writer = ProfileWriter::Create(path, FixtureRun());
    FillFixture(**writer);
    ASSERT_TRUE((*writer)->Commit());
  }
  EXPECT_EQ(Look(path).state, ProfileState::kInterrupted);
  EXPECT_EQ(Look(path).samples, 255u);
}

TEST(DurabilityTest, ReadableWhileItIsRecorded) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun());
  FillFixture(**writer);
  ASSERT_TRUE((*writer)->Commit());
  {
    auto reader = ProfileReader::Open(path);
    ASSERT_TRUE(reader) << reader.error().what;
    AddSecond(**writer, 4, 10);
    ASSERT_TRUE((*writer)->Commit());
    // One moment of it, although the recording goes on.
    EXPECT_EQ((*reader)->Load()->total.samples, 255u);
  }
  EXPECT_EQ(Look(path).samples, 265u);
  ASSERT_TRUE((*writer)->Finish(FixtureEnd()));
}

// As on network file systems without shared memory.
TEST(DurabilityTest, RecordsWithoutSharedMemory) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  InKilledChild([&] {
    NoSharedMemory no_shared_memory;
    RecordAndDie(path);
  });
  EXPECT_EQ(Look(path).samples, 265u);
  NoSharedMemory no_shared_memory;
  ASSERT_TRUE(WriteFixture(folder / "finished"));
  EXPECT_EQ(Look(folder / "finished").samples, 255u);
}

TEST(DurabilityTest, FinishLeavesOneFile) {
  TemporaryFolder folder;
  ASSERT_TRUE(WriteFixture(folder / "run.linescope"));
  ASSERT_TRUE(WriteFixture(folder / "run.linescope"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::ElementsAre("run.linescope"));
}

TEST(FullDiskTest, CommitFailsKeepsWhatItHasAndTriesAgain) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun());
  FillFixture(**writer);
  ASSERT_TRUE((*writer)->Commit());
  {
    DiskBudget full(0);
    for (int64_t second = 4; second < 7; ++second) {
      AddSecond(**writer, second, 10);
      Status status = (*writer)->Commit();
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::kIo);
      EXPECT_THAT(status.error().what, HasSubstr("no space is left"));
      EXPECT_THAT(status.error().what, HasSubstr(path.string()));
    }
    EXPECT_EQ(Look(path).samples, 255u);
  }
  ASSERT_TRUE((*writer)->Commit());
  EXPECT_EQ(Look(path).samples, 285u);
  RunEnd end = FixtureEnd();
  end.samples = 285;
  ASSERT_TRUE((*writer)->Finish(end));
  EXPECT_EQ(Look(path).samples, 285u);
}

// The disk fills up after any number of bytes, also in the middle of merging buckets: nothing is
// lost and nothing counted twice.
TEST(FullDiskTest, AtAnyMoment) {
  int failures = 0;
  for (int64_t budget = 0;; budget += 4096) {
    TemporaryFolder folder;
    auto path = folder / "run.linescope";
    auto writer = ProfileWriter::Create(path, FixtureRun());
    ASSERT_TRUE(writer);
    FillFixture(**writer);
    ASSERT_TRUE((*writer)->Commit());
    AddSecond(**writer, 4, 10);
    AddSecond(**writer, 130, 10);  // makes buckets of 400 ms
    bool failed;
    {
      DiskBudget disk(budget);
      failed = !(*writer)->Commit();
      if (failed) {
        EXPECT_EQ(Look(path).samples, 255u);
      }
    }
    failures += failed;
    RunEnd end = FixtureEnd();
    end.samples = 275;
    ASSERT_TRUE((*writer)->Finish(end));
    EXPECT_EQ(Look(path).samples, 275u);
    auto reader = ProfileReader::Open(path);
    EXPECT_EQ((*reader)->bucket_width_ns(), 400'000'000);
    EXPECT_EQ((*reader)->sources().size(), 3u);
    if (!failed) break;
  }
  EXPECT_GT(failures, 5);
}

TEST(FullDiskTest, AtTheEnd) {
  for (int64_t budget : {0, 60'000, 120'000}) {
    TemporaryFolder folder;
    auto path = folder / "run.linescope";
    {
      auto writer = ProfileWriter::Create(path, FixtureRun());
      FillFixture(**writer);
      ASSERT_TRUE((*writer)->Commit());
      DiskBudget disk(budget);
      Status status = (*writer)->Finish(FixtureEnd());
      if (budget == 0) {
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, ErrorCode::kIo);
      }
      writer->reset();
    }
    EXPECT_EQ(Look(path).samples, 255u) << budget;
  }
}

TEST(FullDiskTest, AtTheBeginningLeavesNothing) {
  for (int64_t budget = 0; budget < 60'000; budget += 4096) {
    TemporaryFolder folder;
    DiskBudget disk(budget);
    auto writer = ProfileWriter::Create(folder / "run.linescope", FixtureRun());
    ASSERT_FALSE(writer) << budget;
    EXPECT_EQ(writer.error().code, ErrorCode::kIo);
    EXPECT_TRUE(fs::is_empty(folder.path())) << budget;
  }
}

}  // namespace
}  // namespace linescope
