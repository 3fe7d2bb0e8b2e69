// What the writer is given comes back from the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/reader.h"
#include "profile/stats.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class RoundTripTest : public ::testing::Test {
 protected:
  std::unique_ptr<ProfileReader> Written(const RunInfo& run = FixtureRun(),
                                         const RunEnd& end = FixtureEnd()) {
    auto path = folder_ / "run.linescope";
    Status status = WriteFixture(path, run, end);
    if (!status) throw std::runtime_error(status.error().what);
    auto reader = ProfileReader::Open(path);
    if (!reader) throw std::runtime_error(reader.error().what);
    return *std::move(reader);
  }

  TemporaryFolder folder_;
};

// (line, samples) of the project column of app.py.
std::vector<std::pair<int32_t, uint64_t>> ProjectSamples(const Profile& profile) {
  std::vector<std::pair<int32_t, uint64_t>> result;
  for (const LineStats& line : profile.lines)
    if (profile.files[line.file].path == kAppPath && line.project.samples)
      result.emplace_back(line.line, line.project.samples);
  return result;
}

const LineStats& LineAt(const Profile& profile, const std::string& path, int32_t number) {
  for (const LineStats& line : profile.lines)
    if (profile.files[line.file].path == path && line.line == number) return line;
  throw std::runtime_error("no such line");
}

TEST_F(RoundTripTest, KeepsTheRun) {
  auto reader = Written();
  const RunInfo& run = reader->run();
  EXPECT_EQ(run.title, "app.py");
  EXPECT_THAT(run.command, ElementsAre("python3", "app.py", "--text=a \"b\""));
  EXPECT_EQ(run.working_directory, "/project");
  EXPECT_EQ(run.rate_hz, 100);
  EXPECT_EQ(run.started_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_THAT(run.includes, ElementsAre("*.py"));
  EXPECT_TRUE(run.excludes.empty());
  EXPECT_THAT(run.labels, ElementsAre(Pair("branch", "main")));
  const RunEnd& end = reader->end();
  EXPECT_EQ(end.state, ProfileState::kComplete);
  EXPECT_EQ(end.elapsed_ns, 3'000'000'000);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.term_signal, std::nullopt);
  EXPECT_TRUE(end.ticks_known);
  EXPECT_EQ(end.ticks_due, 300u);
  EXPECT_EQ(end.samples, 255u);
  EXPECT_EQ(end.rate_reached_hz, 98.7);
  EXPECT_EQ(end.consistency_used, "pinned");
}

TEST_F(RoundTripTest, KeepsProcessesAndThreads) {
  auto reader = Written();
  ASSERT_EQ(reader->processes().size(), 1u);
  const ProcessRecord& process = reader->processes()[0];
  EXPECT_EQ(process.pid, 4000);
  EXPECT_EQ(process.parent, std::nullopt);
  EXPECT_EQ(process.python_version, "3.13.0");
  EXPECT_THAT(process.command, ElementsAre("python3", "app.py", "--text=a \"b\""));
  EXPECT_EQ(process.end_ns, 3'000'000'000);
  EXPECT_EQ(process.exit_code, 0);
  EXPECT_EQ(process.term_signal, std::nullopt);
  ASSERT_EQ(reader->threads().size(), 2u);
  EXPECT_TRUE(reader->threads()[0].is_main);
  EXPECT_EQ(reader->threads()[1].name, "Thread-1 (wait)");
  EXPECT_EQ(reader->threads()[1].tid, 4001);
  EXPECT_EQ(reader->threads()[1].start_ns, 100'000'000);
  EXPECT_EQ(reader->threads()[1].end_ns, 2'500'000'000);
}

TEST_F(RoundTripTest, KeepsSourcesDropsAndDiagnostics) {
  auto reader = Written();
  ASSERT_EQ(reader->sources().size(), 1u);
  EXPECT_EQ(reader->sources()[0].path, kAppPath);
  EXPECT_EQ(reader->sources()[0].verified, true);
  EXPECT_EQ(reader->sources()[0].sha256.size(), 64u);
  auto text = reader->SourceText(0);
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(*text, kAppSource);
  EXPECT_FALSE(reader->SourceText(1));
  ASSERT_EQ(reader->drops().size(), 2u);
  EXPECT_EQ(reader->drops()[0].reason, "missed tick");
  EXPECT_EQ(reader->drops()[0].count, 4u);
  EXPECT_EQ(reader->drops()[1].reason, "torn");
  EXPECT_EQ(reader->drops()[1].count, 2u);
  ASSERT_EQ(reader->diagnostics().size(), 1u);
  EXPECT_EQ(reader->diagnostics()[0].level, "warning");
}

TEST_F(RoundTripTest, AddsUpWallTime) {
  auto reader = Written();
  auto profile = reader->Load();
  ASSERT_TRUE(profile) << profile.error().what;
  EXPECT_EQ(profile->weight, Weight::kWall);
  EXPECT_EQ(profile->total, (Cost{255, 2'550'000'000, 900'000'000}));
  EXPECT_EQ(profile->without_frames.samples, 5u);
  EXPECT_EQ(profile->project.samples, 250u);
  EXPECT_THAT(ProjectSamples(*profile), ElementsAre(Pair(6, 30), Pair(7, 20), Pair(8, 10),
                                                    Pair(12, 40), Pair(19, 100), Pair(28, 50)));
  // fib:8 is on three stacks, twice on one of them.
  EXPECT_EQ(LineAt(*profile, kAppPath, 8).inclusive.samples, 60u);
  EXPECT_EQ(LineAt(*profile, kAppPath, 8).self.samples, 10u);
  EXPECT_EQ(LineAt(*profile, kAppPath, 31).inclusive.samples, 150u);
  EXPECT_EQ(LineAt(*profile, "/usr/lib/python3.13/json/decoder.py", 337).self.samples, 40u);
  EXPECT_EQ(LineAt(*profile, "/usr/lib/python3.13/json/decoder.py", 337).project.samples, 0u);
  ASSERT_EQ(profile->files.size(), 4u);
  EXPECT_EQ(profile->files[0].path, kAppPath);
  EXPECT_EQ(profile->files[0].source, SourceId{0});
  EXPECT_EQ(profile->files[0].project.samples, 250u);
  EXPECT_EQ(profile->files[1].source, std::nullopt);
}

TEST_F(RoundTripTest, CountsOnlyRunningSamplesInModeCpu) {
  auto reader = Written(FixtureRun("cpu"));
  auto profile = reader->Load();
  ASSERT_TRUE(profile) << profile.error().what;
  EXPECT_EQ(profile->weight, Weight::kCpu);
  EXPECT_EQ(profile->total, (Cost{100, 1'000'000'000, 900'000'000}));
  EXPECT_EQ(profile->Time(profile->total), 900'000'000);
  EXPECT_THAT(ProjectSamples(*profile),
              ElementsAre(Pair(6, 30), Pair(7, 20), Pair(8, 10), Pair(12, 40)));
}

TEST_F(RoundTripTest, KeepsTheTimeline) {
  auto reader = Written();
  EXPECT_EQ(reader->bucket_width_ns(), 100'000'000);
  std::map<int64_t, Cost> running;
  Status status = reader->ForEachActivity([&](const SampleRow& row) {
    EXPECT_EQ(row.cell.stack, kNoStack);
    EXPECT_EQ(row.buckets, 1);
    if (row.cell.state == ThreadState::kRunning)
      running[row.bucket] += Cost{row.cell.count, row.cell.wall_ns, row.cell.cpu_ns};
  });
  ASSERT_TRUE(status) << status.error().what;
  ASSERT_EQ(running.size(), 10u);
  auto profile = reader->Load();
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->timeline.size(), 10u);
  EXPECT_EQ(profile->timeline[1].start_ns, 300'000'000);
  EXPECT_EQ(profile->timeline[1].by_state[static_cast<size_t>(ThreadState::kRunning)],
            running.at(3));
  EXPECT_EQ(running.at(3), (Cost{10, 100'000'000, 90'000'000}));
}

TEST_F(RoundTripTest, RanksLinesAndFunctions) {
  auto reader = Written();
  auto profile = reader->Load();
  ASSERT_TRUE(profile);
  auto lines = TopLines(*profile, {.limit = 3});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].stats->line, 19);
  EXPECT_EQ(lines[0].time_ns, 1'000'000'000);
  EXPECT_DOUBLE_EQ(lines[0].share, 100.0 / 255);
  EXPECT_EQ(lines[1].stats->line, 28);
  EXPECT_EQ(lines[2].stats->line, 12);
  auto functions = TopFunctions(*profile, {});
  ASSERT_EQ(functions.size(), 4u);  // <module> has no time of its own
  EXPECT_EQ(profile->functions[functions[0].stats->function].name, "wait");
  EXPECT_EQ(profile->functions[functions[1].stats->function].name, "fib");
  EXPECT_EQ(functions[1].samples, 60u);
  auto libraries = TopFunctions(*profile, {.by = RankBy::kSelf, .limit = 1, .project_only = false});
  EXPECT_EQ(profile->functions[libraries[0].stats->function].qualified_name, "Event.wait");
}

TEST_F(RoundTripTest, KeepsFailuresAndUnavailableValues) {
  RunEnd end;
  end.term_signal = 11;
  end.error = "killed by SIGSEGV";
  auto reader = Written(FixtureRun(), end);
  EXPECT_EQ(reader->end().exit_code, std::nullopt);
  EXPECT_EQ(reader->end().term_signal, 11);
  EXPECT_EQ(reader->end().error, "killed by SIGSEGV");
  EXPECT_EQ(reader->end().rate_reached_hz, std::nullopt);
}

}  // namespace
}  // namespace linescope
