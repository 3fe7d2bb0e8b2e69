#include "cli/top_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cli/top_rank.h"

namespace linescope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

// Batches as the sampler would make them, of one process.
class Feed {
 public:
  Feed()
      : model([](const CodeInfo& code, const TopModel::Process&) {
          return code.file.starts_with("/app/");
        }) {
    batch_.processes.push_back({.process = 0, .at_ns = 0, .pid = 100, .command = {"python"}});
  }

  // A function of a file, first line 1; its number.
  CodeId Code(const std::string& file, const std::string& name) {
    batch_.codes.push_back({.file = file, .name = name, .qualified_name = name});
    batch_.codes.back().first_line = static_cast<int32_t>(codes_) + 1;
    return codes_++;
  }
  NodeId Node(NodeId parent, CodeId code, int32_t line) {
    StackTrie::Node node;
    node.parent = parent;
    node.code = code;
    node.range.line = line;
    batch_.nodes.push_back(node);
    return nodes_++;
  }
  uint32_t Thread(int tid, const std::string& name, uint32_t process = 0) {
    batch_.threads.push_back(
        {ThreadEvent::Kind::kStarted, process, threads_, tid, threads_ == 0, name, 0});
    return threads_++;
  }
  void Sample(uint32_t thread, NodeId node, int64_t ms, ThreadState state = ThreadState::kRunning) {
    const int64_t cpu = state == ThreadState::kRunning ? ms * kMs : 0;
    batch_.cells.push_back({thread, node, state, static_cast<uint64_t>(ms), ms * kMs, cpu});
    batch_.totals.samples += static_cast<uint64_t>(ms);
  }
  // A tenth of a second has passed.
  void Apply() {
    batch_.begin_ns = now_ns_;
    batch_.end_ns = now_ns_ += 100 * kMs;
    batch_.totals.ticks_taken += 100;
    batch_.totals.sampled_ns += 100 * kMs;
    model.Apply(batch_);
    const SampleTotals totals = batch_.totals;
    batch_ = {};
    batch_.totals = totals;
  }
  Batch& batch() { return batch_; }

  TopModel model;

 private:
  Batch batch_;
  uint32_t codes_ = 0, nodes_ = 0, threads_ = 0;
  int64_t now_ns_ = 0;
};

// main (app.py:10) calls work (app.py:20), which calls a library (lib.py:5).
struct Program : Feed {
  Program() {
    main = Code("/app/app.py", "main");
    work = Code("/app/app.py", "work");
    lib = Code("/usr/lib/lib.py", "dumps");
    main_node = Node(kNoNode, main, 10);
    work_node = Node(main_node, work, 20);
    lib_node = Node(work_node, lib, 5);
    thread = Thread(100, "MainThread");
  }
  const TopModel::Costs& Line(const std::string& file, int32_t line,
                              TopSpan span = TopSpan::kAll) const {
    for (uint32_t i = 0; i < model.files().size(); ++i) {
      if (model.files()[i] != file) continue;
      return model.lines()[model.FindLine(i, line).value()].tally.Of(span);
    }
    ADD_FAILURE() << file;
    static const TopModel::Costs kNone;
    return kNone;
  }
  CodeId main, work, lib;
  NodeId main_node, work_node, lib_node;
  uint32_t thread;
};

TEST(TopModel, SelfProjectAndTotal) {
  Program program;
  program.Sample(0, program.lib_node, 60);
  program.Sample(0, program.work_node, 30);
  program.Sample(0, program.main_node, 10);
  program.Apply();

  const auto& lib = program.Line("/usr/lib/lib.py", 5);
  EXPECT_EQ(lib.self.wall_ns, 60 * kMs);
  EXPECT_EQ(lib.project.wall_ns, 0);
  EXPECT_EQ(lib.total.wall_ns, 60 * kMs);
  const auto& work = program.Line("/app/app.py", 20);
  EXPECT_EQ(work.self.wall_ns, 30 * kMs);
  EXPECT_EQ(work.project.wall_ns, 90 * kMs);  // with the library's
  EXPECT_EQ(work.total.wall_ns, 90 * kMs);
  const auto& main = program.Line("/app/app.py", 10);
  EXPECT_EQ(main.self.wall_ns, 10 * kMs);
  EXPECT_EQ(main.project.wall_ns, 10 * kMs);
  EXPECT_EQ(main.total.wall_ns, 100 * kMs);
  EXPECT_EQ(program.model.SpanNs(TopSpan::kAll), 100 * kMs);
  EXPECT_EQ(program.model.functions()[program.work].tally.all.project.wall_ns, 90 * kMs);
}

TEST(TopModel, RecursionCountsOnce) {
  Feed feed;
  const CodeId walk = feed.Code("/app/tree.py", "walk");
  NodeId node = kNoNode;
  for (int depth = 0; depth < 5; ++depth) node = feed.Node(node, walk, 7);
  feed.Thread(100, "MainThread");
  feed.Sample(0, node, 40);
  feed.Apply();
  ASSERT_EQ(feed.model.lines().size(), 1u);
  EXPECT_EQ(feed.model.lines()[0].tally.all.total.wall_ns, 40 * kMs);
  EXPECT_EQ(feed.model.lines()[0].tally.all.total.samples, 40u);
  EXPECT_EQ(feed.model.lines()[0].tally.all.self.wall_ns, 40 * kMs);
  EXPECT_EQ(feed.model.functions()[walk].tally.all.total.wall_ns, 40 * kMs);
}

TEST(TopModel, WaitingIsNoCpuTime) {
  Program program;
  program.Sample(0, program.work_node, 70, ThreadState::kWaiting);
  program.Sample(0, program.main_node, 30);
  program.Apply();
  EXPECT_EQ(program.Line("/app/app.py", 20).self.Time(Weight::kCpu), 0);
  EXPECT_EQ(program.Line("/app/app.py", 20).self.Time(Weight::kWall), 70 * kMs);
  EXPECT_EQ(program.Line("/app/app.py", 10).total.Time(Weight::kCpu), 30 * kMs);
  // Where it was most of the time.
  EXPECT_EQ(program.model.threads()[0].state, ThreadState::kWaiting);
  EXPECT_EQ(program.model.threads()[0].node, program.work_node);
}

TEST(TopModel, AnIntervalHasItsOwnCounts) {
  Program program;
  program.Sample(0, program.work_node, 100);
  program.Apply();
  program.model.CloseInterval();
  program.Sample(0, program.main_node, 100);
  program.Apply();
  // Not before it is closed.
  EXPECT_EQ(program.Line("/app/app.py", 20, TopSpan::kInterval).self.wall_ns, 100 * kMs);
  program.model.CloseInterval();
  EXPECT_EQ(program.Line("/app/app.py", 20, TopSpan::kInterval).self.wall_ns, 0);
  EXPECT_EQ(program.Line("/app/app.py", 10, TopSpan::kInterval).self.wall_ns, 100 * kMs);
  EXPECT_EQ(program.Line("/app/app.py", 20).self.wall_ns, 100 * kMs);
  EXPECT_EQ(program.model.SpanNs(TopSpan::kInterval), 100 * kMs);
  EXPECT_EQ(program.model.SpanNs(TopSpan::kAll), 200 * kMs);
  EXPECT_EQ(program.model.TotalsOf(TopSpan::kInterval).samples, 100u);
  EXPECT_EQ(program.model.TotalsOf(TopSpan::kAll).samples, 200u);
  program.model.CloseInterval();
  EXPECT_EQ(program.Line("/app/app.py", 10, TopSpan::kInterval).total.wall_ns, 0);
}

TEST(TopModel, ResetCountsFromZero) {
  Program program;
  program.Sample(0, program.lib_node, 100);
  program.Apply();
  program.model.CloseInterval();
  program.model.Reset();
  EXPECT_EQ(program.model.SpanNs(TopSpan::kAll), 0);
  EXPECT_EQ(program.Line("/app/app.py", 20).project.wall_ns, 0);
  EXPECT_EQ(program.Line("/app/app.py", 20, TopSpan::kInterval).project.wall_ns, 0);
  EXPECT_EQ(program.model.TotalsOf(TopSpan::kAll).samples, 0u);
  // Stacks that are known go on counting.
  program.Sample(0, program.lib_node, 25);
  program.Apply();
  EXPECT_EQ(program.Line("/app/app.py", 20).project.wall_ns, 25 * kMs);
  EXPECT_EQ(program.model.TotalsOf(TopSpan::kAll).samples, 25u);
}

TEST(TopModel, ACopyStandsStill) {
  Program program;
  program.Sample(0, program.work_node, 10);
  program.Apply();
  const TopModel frozen = program.model;
  program.Sample(0, program.work_node, 90);
  program.Apply();
  EXPECT_EQ(frozen.functions()[program.work].tally.all.self.wall_ns, 10 * kMs);
  EXPECT_EQ(program.model.functions()[program.work].tally.all.self.wall_ns, 100 * kMs);
}

TEST(TopModel, ThreadsWithoutFrames) {
  Program program;
  program.Sample(0, kNoNode, 100);
  program.Apply();
  EXPECT_EQ(program.model.threads()[0].tally.all.total.wall_ns, 100 * kMs);
  EXPECT_EQ(program.model.threads()[0].node, kNoNode);
  EXPECT_EQ(program.Line("/app/app.py", 10).total.samples, 0u);
}

TEST(TopModel, ProcessesAndTheirThreads) {
  Program program;
  program.batch().processes.push_back(
      {.process = 1, .at_ns = 5, .pid = 200, .parent = 0, .command = {"worker"}});
  program.batch().pythons.push_back({1, "3.13.0", "", "", {}});
  const uint32_t other = program.Thread(200, "worker", 1);
  program.Sample(other, program.work_node, 80);
  program.Apply();
  ASSERT_EQ(program.model.processes().size(), 2u);
  EXPECT_EQ(program.model.processes()[1].python, "3.13.0");
  EXPECT_EQ(program.model.processes()[1].tally.all.total.cpu_ns, 80 * kMs);
  EXPECT_EQ(program.model.processes()[0].tally.all.total.cpu_ns, 0);
  program.batch().processes.push_back(
      {.kind = ProcessNews::Kind::kEnded, .process = 1, .at_ns = 9, .wait_status = 7 << 8});
  program.batch().threads.push_back({ThreadEvent::Kind::kEnded, 1, other, 200, true, "worker", 9});
  program.Apply();
  EXPECT_TRUE(program.model.processes()[1].ended_ns);
  EXPECT_TRUE(program.model.threads()[other].ended);
}

TEST(TopModel, WaysToALine) {
  Feed feed;
  const CodeId one = feed.Code("/app/a.py", "one");
  const CodeId two = feed.Code("/app/a.py", "two");
  const CodeId leaf = feed.Code("/app/a.py", "leaf");
  const NodeId by_one = feed.Node(feed.Node(kNoNode, one, 1), leaf, 9);
  const NodeId by_two = feed.Node(feed.Node(kNoNode, two, 2), leaf, 9);
  const NodeId again = feed.Node(by_two, leaf, 9);  // leaf calls itself
  feed.Thread(100, "MainThread");
  feed.Sample(0, by_one, 10);
  feed.Sample(0, by_two, 20);
  feed.Sample(0, again, 30);
  feed.Apply();
  const auto ways = feed.model.WaysTo(
      [&](const TopModel::Node& node) { return node.function == leaf; }, Weight::kWall, 5);
  ASSERT_EQ(ways.size(), 2u);
  EXPECT_EQ(ways[0].node, by_two);
  EXPECT_EQ(ways[0].cost.wall_ns, 50 * kMs);
  EXPECT_EQ(ways[1].node, by_one);
  EXPECT_THAT(feed.model.WaysTo([](const TopModel::Node&) { return true; }, Weight::kWall, 1),
              testing::SizeIs(1));
}

std::vector<uint32_t> Ranked(const TopModel& model, const TopQuery& query) {
  return RankPage(model, query, std::nullopt, 0, 0, 100).rows;
}

std::vector<std::string> Places(const TopModel& model, const TopQuery& query) {
  std::vector<std::string> places;
  for (const uint32_t row : Ranked(model, query)) {
    const TopModel::Line& line = model.lines()[row];
    const std::string& file = model.file_of(line);
    places.push_back(file.substr(file.rfind('/') + 1) + ":" + std::to_string(line.line));
  }
  return places;
}

TEST(TopRank, SortsAndFilters) {
  Program program;
  program.Sample(0, program.lib_node, 60);
  program.Sample(0, program.work_node, 10);
  program.Sample(0, program.main_node, 30);
  program.Apply();
  const TopModel& model = program.model;
  EXPECT_THAT(Places(model, {}), ElementsAre("app.py:20", "app.py:10"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kSelf}), ElementsAre("app.py:10", "app.py:20"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kTotal}), ElementsAre("app.py:10", "app.py:20"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kTotal, .reversed = true}),
              ElementsAre("app.py:20", "app.py:10"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kName}), ElementsAre("app.py:10", "app.py:20"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kName, .reversed = true}),
              ElementsAre("app.py:20", "app.py:10"));
  EXPECT_THAT(Places(model, {.sort = TopSort::kSelf, .all_code = true}),
              ElementsAre("lib.py:5", "app.py:10", "app.py:20"));
  EXPECT_THAT(Places(model, {.all_code = true, .filter = "DUMPS"}), ElementsAre("lib.py:5"));
  EXPECT_THAT(Places(model, {.all_code = true, .filter = "/App/"}),
              ElementsAre("app.py:20", "app.py:10"));
  EXPECT_THAT(Places(model, {.filter = "nothing"}), IsEmpty());
  // Nobody was counted in the interval.
  EXPECT_THAT(Places(model, {.span = TopSpan::kInterval}), IsEmpty());
}

TEST(TopRank, EqualRowsKeepTheirOrder) {
  Feed feed;
  const CodeId code = feed.Code("/app/a.py", "f");
  feed.Thread(100, "MainThread");
  std::vector<NodeId> nodes;
  for (const int line : {30, 10, 20}) nodes.push_back(feed.Node(kNoNode, code, line));
  for (const NodeId node : nodes) feed.Sample(0, node, 10);
  feed.Apply();
  const std::vector<std::string> expected = {"a.py:10", "a.py:20", "a.py:30"};
  EXPECT_EQ(Places(feed.model, {}), expected);
  for (const NodeId node : nodes) feed.Sample(0, node, 10);
  feed.Apply();
  EXPECT_EQ(Places(feed.model, {}), expected);
}

TEST(TopRank, PagesFollowTheSelectedRow) {
  Feed feed;
  const CodeId code = feed.Code("/app/a.py", "f");
  feed.Thread(100, "MainThread");
  for (int line = 1; line <= 100; ++line)
    feed.Sample(0, feed.Node(kNoNode, code, line), 1 + 100 - line);
  feed.Apply();
  TopPage page = RankPage(feed.model, {}, std::nullopt, 0, 0, 10);
  EXPECT_EQ(page.count, 100u);
  EXPECT_THAT(page.rows, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  page = RankPage(feed.model, {}, 49, 0, 0, 10);  // line 50
  EXPECT_EQ(page.selected_at, 49u);
  EXPECT_EQ(page.first, 40u);
  EXPECT_EQ(page.rows.back(), 49u);
  // It has become the hottest.
  feed.Sample(0, 49, 1000);
  feed.Apply();
  page = RankPage(feed.model, {}, 49, 49, 40, 10);
  EXPECT_EQ(page.selected_at, 0u);
  EXPECT_EQ(page.first, 0u);
  page = RankPage(feed.model, {}, std::nullopt, 1000, 0, 10);
  EXPECT_EQ(page.first, 90u);
  EXPECT_EQ(page.rows.size(), 10u);
}

TEST(TopRank, ThreadsThatLiveAreShownWithoutTime) {
  Program program;
  program.Thread(101, "idle");
  const uint32_t gone = program.Thread(102, "gone");
  program.batch().threads.push_back({ThreadEvent::Kind::kEnded, 0, gone, 102, false, "gone", 1});
  program.Sample(0, program.work_node, 10);
  program.Apply();
  EXPECT_THAT(Ranked(program.model, {.table = TopTable::kThreads}), ElementsAre(0, 1));
}

// A program with very many stacks must not make the view slow: what a tenth of a second costs
// depends on what was sampled in it.
TEST(TopModel, ManyDistinctStacks) {
  Feed feed;
  std::vector<CodeId> codes;
  for (int i = 0; i < 1000; ++i) codes.push_back(feed.Code("/app/big.py", "f" + std::to_string(i)));
  feed.Thread(100, "MainThread");
  std::vector<NodeId> leaves;
  for (int i = 0; i < 1000; ++i) {
    const NodeId root = feed.Node(kNoNode, codes[static_cast<size_t>(i)], i);
    for (int k = 0; k < 100; ++k)
      leaves.push_back(feed.Node(root, codes[static_cast<size_t>(k)], k + 1000));
  }
  for (const NodeId leaf : leaves) feed.Sample(0, leaf, 1);
  feed.Apply();
  feed.model.CloseInterval();
  const auto begin = std::chrono::steady_clock::now();
  for (int interval = 0; interval < 100; ++interval) {
    feed.Sample(0, leaves[static_cast<size_t>(interval)], 1);
    feed.Apply();
    feed.model.CloseInterval();
    ASSERT_EQ(RankPage(feed.model, {}, std::nullopt, 0, 0, 50).rows.size(), 50u);
  }
  const auto ways = feed.model.WaysTo(
      [&](const TopModel::Node& node) { return node.function == codes[7]; }, Weight::kWall, 5);
  EXPECT_EQ(ways.size(), 5u);
  // Some milliseconds each at worst; quadratic work would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace linescope
