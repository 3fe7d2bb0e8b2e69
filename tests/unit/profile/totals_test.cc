// Lines, functions and files as the reader adds them up, as the views of the database do, and as a
// walk up every stack does it by hand: all three must agree, on hand-made and on random trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <span>
#include <tuple>

#include "profile/reader.h"
#include "profile/schema.h"
#include "profile/sqlite.h"
#include "profile/writer.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

// self, project and inclusive cost of one line, function or file.
using Costs = std::array<Cost, 3>;
using LineKey = std::pair<std::string, int32_t>;

struct Totals {
  std::map<LineKey, Costs> lines;
  std::map<std::pair<std::string, SourceRange>, Costs> expressions;  // without inclusive
  std::map<FunctionId, Costs> functions;
  std::map<std::string, Costs> files;
  bool operator==(const Totals&) const = default;
};

// What is written, in the clear.
struct Recording {
  std::vector<FunctionInfo> functions;
  std::vector<StackNode> stacks;
  std::vector<SampleRow> rows;
};

// Puts the same into a profile; ids come out as the indices because everything is distinct.
void Write(const Recording& recording, const std::filesystem::path& path) {
  auto writer = ProfileWriter::Create(path, FixtureRun());
  ASSERT_TRUE(writer) << writer.error().what;
  ProcessId process = (*writer)->AddProcess({});
  for (int i = 0; i < 3; ++i) (*writer)->AddThread({.process = process, .tid = i, .name = "t"});
  for (size_t i = 0; i < recording.functions.size(); ++i)
    ASSERT_EQ((*writer)->AddFunction(recording.functions[i]), i);
  for (size_t i = 0; i < recording.stacks.size(); ++i)
    ASSERT_EQ((*writer)->AddStack(recording.stacks[i]), i);
  for (const SampleRow& row : recording.rows) {
    int64_t begin = row.bucket * 100'000'000;
    (*writer)->AddSamples(begin, begin + 1, {&row.cell, 1});
  }
  Status status = (*writer)->Finish(FixtureEnd());
  ASSERT_TRUE(status) << status.error().what;
}

Totals ByHand(const Recording& recording, Weight weight) {
  Totals totals;
  for (const SampleRow& row : recording.rows) {
    const SampleCell& cell = row.cell;
    if (cell.stack == kNoStack) continue;
    if (weight == Weight::kCpu && cell.state != ThreadState::kRunning) continue;
    const Cost cost{cell.count, cell.wall_ns, cell.cpu_ns};
    auto add = [&](StackId stack, size_t kind) {
      const StackNode& node = recording.stacks[stack];
      const FunctionInfo& function = recording.functions[node.function];
      totals.lines[{function.file, node.range.line}][kind] += cost;
      if (node.range.has_columns() && kind < 2)
        totals.expressions[{function.file, node.range}][kind] += cost;
      totals.functions[node.function][kind] += cost;
      totals.files[function.file][kind] += cost;
    };
    add(cell.stack, 0);
    for (StackId id = cell.stack; id != kNoStack; id = recording.stacks[id].parent) {
      if (!recording.functions[recording.stacks[id].function].in_project) continue;
      add(id, 1);
      break;
    }
    std::set<LineKey> lines;
    std::set<FunctionId> functions;
    std::set<std::string> files;
    for (StackId id = cell.stack; id != kNoStack; id = recording.stacks[id].parent) {
      const StackNode& node = recording.stacks[id];
      lines.insert({recording.functions[node.function].file, node.range.line});
      functions.insert(node.function);
      files.insert(recording.functions[node.function].file);
    }
    for (const auto& key : lines) totals.lines[key][2] += cost;
    for (const auto& key : functions) totals.functions[key][2] += cost;
    for (const auto& key : files) totals.files[key][2] += cost;
  }
  return totals;
}

Totals FromReader(const std::filesystem::path& path, Weight weight) {
  auto reader = ProfileReader::Open(path);
  EXPECT_TRUE(reader) << reader.error().what;
  auto profile = (*reader)->Load(weight);
  EXPECT_TRUE(profile) << profile.error().what;
  Totals totals;
  for (const LineStats& line : profile->lines)
    totals.lines[{profile->files[line.file].path, line.line}] = {line.self, line.project,
                                                                 line.inclusive};
  for (const ExpressionStats& expression : profile->expressions)
    totals.expressions[{profile->files[expression.file].path, expression.range}] = {
        expression.self, expression.project, {}};
  for (const FunctionStats& function : profile->function_stats)
    totals.functions[function.function] = {function.self, function.project, function.inclusive};
  for (const FileStats& file : profile->files)
    if (file.inclusive.samples) totals.files[file.path] = {file.self, file.project, file.inclusive};
  return totals;
}

class Views {
 public:
  explicit Views(const std::filesystem::path& path)
      : database_(*Database::Open(SqliteUri(path.string(), "?mode=ro"), kReadOnlyUri, "views")) {}

  // Wall: every column. CPU: the view has the running samples and all CPU time, which only running
  // samples have here; wall time of running samples alone is not a column, so it is left at zero.
  Totals Read(Weight weight) {
    Totals totals;
    Select("lines", "file, ifnull(line, 0)", weight, [&](const Statement& row, const Costs& costs) {
      totals.lines[{row.Text(0), static_cast<int32_t>(row.Int(1))}] = costs;
    });
    Select("expressions", "file, line, end_line, column, end_column", weight,
           [&](const Statement& row, const Costs& costs) {
             auto number = [&](int column) { return static_cast<int32_t>(row.Int(column)); };
             const SourceRange range{number(1), number(2), number(3), number(4)};
             totals.expressions[{row.Text(0), range}] = costs;
           });
    Select("functions", "function, 0", weight, [&](const Statement& row, const Costs& costs) {
      totals.functions[static_cast<FunctionId>(row.Int(0))] = costs;
    });
    Select("files", "file, 0", weight,
           [&](const Statement& row, const Costs& costs) { totals.files[row.Text(0)] = costs; });
    return totals;
  }

 private:
  static constexpr const char* kKinds[] = {"self", "project", "inclusive"};
  static constexpr int kReadOnlyUri = 0x1 | 0x40;  // SQLITE_OPEN_READONLY | SQLITE_OPEN_URI

  template <class Visit>
  void Select(const std::string& view, const std::string& keys, Weight weight, Visit visit) {
    std::string columns;
    const bool of_expressions = view == "expressions";
    const int first = of_expressions ? 5 : 2;  // behind the keys
    const int kinds = of_expressions ? 2 : 3;
    for (const char* kind : std::span(kKinds).first(static_cast<size_t>(kinds)))
      columns += fmt::format(", {0}_{1}samples, {0}_wall_ns, {0}_cpu_ns", kind,
                             weight == Weight::kCpu ? "cpu_" : "");
    auto row = database_->Prepare(fmt::format("SELECT {}{} FROM {}", keys, columns, view));
    ASSERT_TRUE(row) << row.error().what;
    while (true) {
      auto more = row->Step();
      ASSERT_TRUE(more) << more.error().what;
      if (!*more) return;
      Costs costs;
      uint64_t samples = 0;
      for (int i = 0; i < kinds; ++i) {
        const int at = first + 3 * i;
        costs[static_cast<size_t>(i)] = {static_cast<uint64_t>(row->Int(at)), row->Int(at + 1),
                                         row->Int(at + 2)};
        samples += costs[static_cast<size_t>(i)].samples;
      }
      if (samples != 0) visit(*row, costs);
    }
  }

  std::unique_ptr<Database> database_;
};

Totals WithoutWall(Totals totals) {
  auto clear = [](auto& map) {
    for (auto& [key, costs] : map)
      for (Cost& cost : costs) cost.wall_ns = 0;
  };
  clear(totals.lines);
  clear(totals.expressions);
  clear(totals.functions);
  clear(totals.files);
  return totals;
}

void ExpectAllAgree(const Recording& recording) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_NO_FATAL_FAILURE(Write(recording, path));
  Views views(path);
  const Totals wall = ByHand(recording, Weight::kWall);
  EXPECT_TRUE(FromReader(path, Weight::kWall) == wall);
  EXPECT_TRUE(views.Read(Weight::kWall) == wall);
  const Totals cpu = ByHand(recording, Weight::kCpu);
  EXPECT_TRUE(FromReader(path, Weight::kCpu) == cpu);
  EXPECT_TRUE(WithoutWall(views.Read(Weight::kCpu)) == WithoutWall(cpu));
}

SampleRow Row(StackId stack, uint64_t count, ThreadState state = ThreadState::kRunning) {
  auto n = static_cast<int64_t>(count);
  return {0, {0, stack, state, count, n * 1000, state == ThreadState::kRunning ? n * 900 : 0}};
}

// f → lib → f → f → lib: project time goes to the innermost f, and f's lines count once a stack.
Recording RecursionThroughALibrary() {
  Recording recording;
  recording.functions = {{"/p/a.py", "f", "f", 1, true}, {"/lib/l.py", "g", "g", 1, false}};
  recording.stacks = {{kNoStack, 0, {.line = 2}},
                      {0, 1, {.line = 9}},
                      {1, 0, {2, 2, 4, 9}},
                      {2, 0, {.line = 3}},
                      {3, 1, {9, 10, 0, 4}}};
  recording.rows = {Row(4, 7), Row(1, 5), Row(3, 2)};
  return recording;
}

TEST(TotalsTest, RecursionThroughALibraryByHand) {
  Totals totals = ByHand(RecursionThroughALibrary(), Weight::kWall);
  auto samples = [](const Costs& costs) {
    return std::tuple(costs[0].samples, costs[1].samples, costs[2].samples);
  };
  EXPECT_EQ(samples(totals.lines[{"/p/a.py", 2}]), std::tuple(0, 5, 14));
  EXPECT_EQ(samples(totals.lines[{"/p/a.py", 3}]), std::tuple(2, 9, 9));
  EXPECT_EQ(samples(totals.lines[{"/lib/l.py", 9}]), std::tuple(12, 0, 14));
  EXPECT_EQ(samples(totals.functions[0]), std::tuple(2, 14, 14));
}

TEST(TotalsTest, RecursionThroughALibrary) { ExpectAllAgree(RecursionThroughALibrary()); }

TEST(TotalsTest, UnknownLinesAreALineOfTheirOwn) {
  Recording recording;
  recording.functions = {{"/p/a.py", "f", "f", 1, true}};
  recording.stacks = {{kNoStack, 0}, {0, 0}, {1, 0, {.line = 4}}};
  recording.rows = {Row(1, 3), Row(2, 1)};
  ExpectAllAgree(recording);
}

TEST(TotalsTest, NoSamplesAtAll) {
  Recording recording;
  recording.functions = {{"/p/a.py", "f", "f", 1, true}};
  recording.stacks = {{kNoStack, 0, {.line = 1}}};
  ExpectAllAgree(recording);
}

TEST(TotalsTest, OnlyThreadsWithoutFrames) {
  Recording recording;
  recording.rows = {Row(kNoStack, 3, ThreadState::kWaiting)};
  ExpectAllAgree(recording);
}

TEST(TotalsTest, AStackAsDeepAsRecursionGets) {
  Recording recording;
  recording.functions = {{"/p/a.py", "f", "f", 1, true}, {"/p/a.py", "g", "g", 9, true}};
  for (StackId i = 0; i < 20'000; ++i)
    recording.stacks.push_back(
        {i == 0 ? kNoStack : i - 1, i % 2, {.line = static_cast<int32_t>(i % 7 + 1)}});
  recording.rows = {Row(19'999, 11), Row(9'999, 4), Row(0, 1)};
  ExpectAllAgree(recording);
}

class RandomTotalsTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomTotalsTest, Agree) {
  std::mt19937 random(GetParam());
  auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  Recording recording;
  for (uint32_t i = 0; i < 8; ++i) {
    std::string name = fmt::format("f{}", i);
    recording.functions.push_back(
        {fmt::format("/p/{}.py", i % 3), name, name, static_cast<int32_t>(i + 1), below(2) == 0});
  }
  // Few functions and lines, so that recursion is the rule.
  std::set<std::tuple<StackId, FunctionId, SourceRange>> known;
  while (recording.stacks.size() < 150) {
    auto size = static_cast<uint32_t>(recording.stacks.size());
    StackId parent = size == 0 || below(20) == 0 ? kNoStack : below(size);
    StackNode node{parent, below(8), {.line = static_cast<int32_t>(below(4))}};
    if (node.range.line != kNoLine && below(4) != 0) {
      const auto column = static_cast<int32_t>(below(3));
      node.range = {node.range.line, node.range.line + static_cast<int32_t>(below(2)), column,
                    column + static_cast<int32_t>(below(2))};
    }
    if (known.insert({node.parent, node.function, node.range}).second)
      recording.stacks.push_back(node);
  }
  for (int i = 0; i < 400; ++i) {
    SampleRow row = Row(below(10) == 0 ? kNoStack : below(150), below(50) + 1,
                        static_cast<ThreadState>(below(4)));
    row.bucket = below(30);
    row.cell.thread = below(3);
    recording.rows.push_back(row);
  }
  ExpectAllAgree(recording);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTotalsTest, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace linescope
