#include "report/call_tree.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <tuple>

#include "report/call_chunks.h"
#include "report/chunks.h"
#include "report/report_data.h"
#include "report/report_model.h"
#include "unit/report/fake_profile.h"

namespace linescope {
namespace {

using ::linescope::testing::FakeProfile;
using ::linescope::testing::FillDemo;
using ::linescope::testing::kMs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kNone = UINT32_MAX;

ReportContainer Parsed(const std::string& container) {
  return ReportContainer::Parse(container).value();
}

std::vector<uint64_t> Numbers(const ReportContainer& container, const char* name) {
  return container.WideVarintsAt(name, 0).value();
}

TEST(CallTree, IsInPreorderWithEachFrameOnce) {
  FakeProfile profile;
  FillDemo(profile);
  const ReportModel model = BuildModel(profile).value();
  // <module>:14 > work:5; work:6 > helper:12 > listdir:9; and listdir:8.
  const ReportContainer tree = Parsed(CallTreeContainer(model.calls));
  EXPECT_THAT(Numbers(tree, "node_up"), ElementsAre(0, 0, 1, 0, 0, 4));
  EXPECT_THAT(Numbers(tree, "node_frame"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Numbers(tree, "frame_function"), ElementsAre(0, 1, 1, 2, 3, 3));
  EXPECT_THAT(Numbers(tree, "frame_line"), ElementsAre(14, 5, 6, 12, 9, 8));
  EXPECT_EQ(tree.StringAt("function_name", 2), "helper");
  EXPECT_EQ(tree.StringAt("function_path", 2), "");
  EXPECT_EQ(tree.StringAt("function_path", 3), "/usr/lib/os.py");
  EXPECT_THAT(tree.U32("function_file"), ElementsAre(0, 0, 0, kNone));
  EXPECT_THAT(tree.U32("function_row"), ElementsAre(0, 1, 3, kNone));
  EXPECT_THAT(tree.U8("function_flags"), ElementsAre(4, 4, 4, 0));
}

TEST(CallTree, JoinsStacksThatDifferInColumnsOnly) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const FunctionId g = profile.AddFunction("/p/a.py", "g", 5);
  const StackId left =
      profile.AddCall(kNoStack, f, {.line = 2, .end_line = 2, .column = 0, .end_column = 3});
  const StackId right =
      profile.AddCall(kNoStack, f, {.line = 2, .end_line = 2, .column = 6, .end_column = 9});
  profile.AddSamples(0, profile.AddCall(left, g, {.line = 6}), 1);
  profile.AddSamples(0, profile.AddCall(right, g, {.line = 6}), 2);
  profile.AddSamples(0, right, 4);
  const ReportModel model = BuildModel(profile).value();
  EXPECT_THAT(model.calls.nodes, SizeIs(2));
  ASSERT_THAT(model.calls.cells, SizeIs(2));
  EXPECT_EQ(model.calls.cells[0].node, 0u);
  EXPECT_EQ(model.calls.cells[0].cost.samples, 4u);
  EXPECT_EQ(model.calls.cells[1].node, 1u);
  EXPECT_EQ(model.calls.cells[1].cost.samples, 3u);
}

TEST(CallTree, HoldsSamplesThatTheModeDoesNotCount) {
  FakeProfile profile;
  profile.mutable_run().mode = "cpu";
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const StackId stack = profile.AddStack({{f, 2}});
  profile.AddSamples(0, stack, 1, ThreadState::kWaiting);
  profile.AddSamples(0, kNoStack, 2, ThreadState::kIdle);
  const ReportModel model = BuildModel(profile).value();
  ASSERT_THAT(model.calls.cells, SizeIs(2));
  EXPECT_EQ(model.calls.cells[0].node, kNoCallNode);
  EXPECT_EQ(model.calls.cells[0].state, ThreadState::kIdle);
  EXPECT_EQ(model.calls.cells[1].cost.wall_ns, kMs);
}

TEST(CallTree, CellsAreDeltasWithinAThreadAndBucket) {
  FakeProfile profile;
  const ThreadId second = profile.AddThread("second");
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const StackId one = profile.AddStack({{f, 2}});
  const StackId other = profile.AddStack({{f, 3}});
  profile.AddSamples(0, kNoStack, 7, ThreadState::kUnknown);
  profile.AddSamples(0, other, 200);
  profile.AddSamples(0, one, 1, ThreadState::kWaiting);
  profile.AddSamples(0, one, 1, ThreadState::kRunning);
  profile.AddSamples(70 * kMs, one, 3, ThreadState::kRunning, second);
  const ReportModel model = BuildModel(profile).value();
  const auto parts = CellParts(model.calls);
  ASSERT_THAT(parts, SizeIs(1));
  const ReportContainer cells =
      Parsed(CellsContainer(model.calls, RoundedTimes(model.calls), parts[0]));
  EXPECT_THAT(Numbers(cells, "group_bucket"), ElementsAre(0, 7));
  EXPECT_THAT(Numbers(cells, "group_thread"), ElementsAre(0, second));
  EXPECT_THAT(Numbers(cells, "group_cells"), ElementsAre(4, 1));
  EXPECT_THAT(Numbers(cells, "cell_node"), ElementsAre(0, 1, 0, 1, 1));
  EXPECT_THAT(cells.U8("cell_state"), ElementsAre(0, 1, 2, 1, 1));
  EXPECT_THAT(Numbers(cells, "cell_count"), ElementsAre(7, 1, 1, 200, 3));
  EXPECT_THAT(Numbers(cells, "cell_wall"), ElementsAre(7 * kMs, kMs, kMs, 200 * kMs, 3 * kMs));
  // Running threads: CPU = wall.
  EXPECT_THAT(Numbers(cells, "cell_cpu"), ElementsAre(0, 1, 0, 1, 1));
}

TEST(CallTree, WidensBucketsUntilCellsAreFewEnough) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const StackId stack = profile.AddStack({{f, 2}});
  for (int64_t bucket = 0; bucket < 64; ++bucket) profile.AddSamples(bucket * 10 * kMs, stack, 2);
  const ReportModel model = BuildModel(profile, {.cells = 10}).value();
  EXPECT_THAT(model.calls.cells, SizeIs(8));
  EXPECT_EQ(model.calls.joined_buckets, 8u);
  EXPECT_EQ(model.calls.bucket_width_ns, 80 * kMs);
  for (const CallCell& cell : model.calls.cells) EXPECT_EQ(cell.cost.samples, 16u);
  // What cannot be joined stays.
  EXPECT_THAT(BuildModel(profile, {.cells = 0}).value().calls.cells, SizeIs(1));
}

TEST(CallTree, SpreadsSamplesOverTheBucketsThatTheyAreOf) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const StackId stack = profile.AddStack({{f, 2}});
  profile.AddSample(
      1, {.stack = stack, .state = ThreadState::kRunning, .count = 5, .wall_ns = 1003}, 4);
  const CallTree fine = BuildModel(profile).value().calls;
  ASSERT_THAT(fine.cells, SizeIs(4));
  uint64_t samples = 0;
  int64_t wall = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(fine.cells[i].bucket, 1 + i);
    EXPECT_NEAR(static_cast<double>(fine.cells[i].cost.wall_ns), 250.75, 1);
    samples += fine.cells[i].cost.samples;
    wall += fine.cells[i].cost.wall_ns;
  }
  EXPECT_EQ(samples, 5u);
  EXPECT_EQ(wall, 1003);

  const CallTree coarse = BuildModel(profile, {.cells = 3}).value().calls;
  EXPECT_EQ(coarse.joined_buckets, 2u);
  ASSERT_THAT(coarse.cells, SizeIs(3));  // 1; 2 and 3; 4
  EXPECT_NEAR(static_cast<double>(coarse.cells[1].cost.wall_ns), 501.5, 1);
}

// A profile with as much to tell as the format keeps.
void FillLarge(FakeProfile& profile, int nodes, int buckets, int cells_in_bucket) {
  std::mt19937 random(7);
  std::vector<FunctionId> functions;
  for (int i = 0; i < 3000; ++i) {
    functions.push_back(profile.AddFunction("/p/m" + std::to_string(i % 200) + ".py",
                                            "function_" + std::to_string(i), 1 + i % 50));
  }
  std::vector<StackId> stacks;
  for (int i = 0; i < nodes; ++i) {
    const StackId parent =
        i < 20 ? kNoStack
               : stacks[std::uniform_int_distribution<size_t>(0, stacks.size() - 1)(random)];
    stacks.push_back(profile.AddCall(parent, functions[random() % functions.size()],
                                     {.line = static_cast<int32_t>(1 + random() % 400)}));
  }
  std::uniform_int_distribution<int64_t> wall(500'000, 1'500'000);
  for (int bucket = 0; bucket < buckets; ++bucket) {
    for (int i = 0; i < cells_in_bucket; ++i) {
      const size_t hot = random() % (random() % stacks.size() + 1);
      const int64_t time = wall(random);
      profile.AddSample(bucket,
                        {.stack = stacks[hot],
                         .state = random() % 4 == 0 ? ThreadState::kWaiting : ThreadState::kRunning,
                         .count = 1,
                         .wall_ns = time,
                         .cpu_ns = random() % 4 == 0 ? 0 : time * 97 / 100});
    }
  }
}

TEST(CallTree, TimesAreExactWhereTheyAreFewAndRoundedRightWhereTheyAreMany) {
  FakeProfile few, many;
  FillLarge(few, 100, 10, 20);
  FillLarge(many, 2000, 100, 1500);
  EXPECT_EQ(TimeUnitOf(BuildModel(few).value().calls), 1);

  const ReportModel model = BuildModel(many).value();
  const CallTree& calls = model.calls;
  ASSERT_GT(calls.cells.size(), 100'000u);
  ASSERT_EQ(TimeUnitOf(calls), 1000);
  const RoundedTimes times(calls);
  std::map<uint32_t, std::tuple<int64_t, int64_t, int64_t, int64_t>> sums;
  for (size_t i = 0; i < calls.cells.size(); ++i) {
    auto& [exact_wall, wall, exact_cpu, cpu] = sums[calls.cells[i].node];
    exact_wall += calls.cells[i].cost.wall_ns;
    wall += times.cells()[i].wall * 1000;
    exact_cpu += calls.cells[i].cost.cpu_ns;
    cpu += times.cells()[i].cpu * 1000;
    ASSERT_GE(times.cells()[i].cpu, 0);
    ASSERT_LE(std::abs(wall - exact_wall), 500);
    ASSERT_LE(std::abs(cpu - exact_cpu), 500);
  }
}

TEST(CallTree, AMillionCellsFitInAFewMegabytes) {
  FakeProfile profile;
  FillLarge(profile, 50'000, 600, 1700);
  const ReportModel model = BuildModel(profile).value();
  ASSERT_GT(model.calls.nodes.size(), 48'000u);
  ASSERT_GT(model.calls.cells.size(), 900'000u);
  const ReportChunks chunks = BuildChunks(model, 0);
  size_t bytes = chunks.text[chunks.calls.value()].size();
  EXPECT_LT(bytes, 400'000u);
  EXPECT_THAT(chunks.samples, SizeIs(CellParts(model.calls).size()));
  for (const uint32_t number : chunks.samples) bytes += chunks.text[number].size();
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LT(bytes, 5'000'000u);
}

TEST(CallTree, IsNotThereWithoutSamples) {
  FakeProfile profile;
  const ReportModel model = BuildModel(profile).value();
  const ReportChunks chunks = BuildChunks(model, 1);
  EXPECT_EQ(chunks.calls, std::nullopt);
  EXPECT_THAT(chunks.samples, IsEmpty());
}

}  // namespace
}  // namespace linescope
