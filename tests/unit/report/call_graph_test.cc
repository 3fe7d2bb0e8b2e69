#include "report/call_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_profile.h"
#include "report/report_model.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using testing::FakeProfile;
using ::testing::IsEmpty;
using testing::kMs;

// Functions of the project by name, and their calls as "name:line time_ms samples".
class CallGraphTest : public ::testing::Test {
 protected:
  FunctionId Project(const std::string& name) {
    return profile_.AddFunction("/p/m.py", name, next_line_ += 10);
  }
  FunctionId Library(const std::string& name) {
    return profile_.AddFunction("/usr/lib/python3.13/json/encoder.py", name, 1, false);
  }

  void Build() { model_ = BuildModel(profile_).value(); }

  std::vector<std::string> Callers(const std::string& name) {
    return Rows(model_.callers.CallersOf(Row(name)));
  }
  std::vector<std::string> Callees(const std::string& name) {
    return Rows(model_.callers.CalleesOf(Row(name)));
  }
  const ReportFunction& Function(const std::string& name) { return model_.functions[Row(name)]; }

  FakeProfile profile_;
  ReportModel model_;

 private:
  uint32_t Row(const std::string& name) {
    const auto found = std::ranges::find(model_.functions, name, &ReportFunction::name);
    return static_cast<uint32_t>(found - model_.functions.begin());
  }

  std::vector<std::string> Rows(std::span<const CallEdge> edges) {
    std::vector<std::string> rows;
    for (const CallEdge& edge : edges) {
      std::string name = "-";
      if (edge.function < model_.functions.size()) {
        name = model_.functions[edge.function].name;
      } else if (edge.function != kNoCaller) {
        const auto& outside = model_.callers.outside[edge.function - model_.functions.size()];
        name = fmt::format("{} ({})", outside.name, outside.file);
      }
      rows.push_back(fmt::format("{}:{} {}{} {}", name, edge.line, edge.direct ? "" : "~",
                                 edge.time_ns / kMs, edge.samples));
    }
    return rows;
  }

  int32_t next_line_ = 0;
};

TEST_F(CallGraphTest, CallsStandByLineAndAddUp) {
  const FunctionId main = Project("main"), work = Project("work"), help = Project("help");
  profile_.AddSamples(0, profile_.AddStack({{main, 11}}), 5);
  profile_.AddSamples(0, profile_.AddStack({{main, 12}, {work, 21}}), 10);
  profile_.AddSamples(0, profile_.AddStack({{main, 13}, {work, 21}}), 20);
  profile_.AddSamples(0, profile_.AddStack({{main, 13}, {work, 22}, {help, 31}}), 40);
  Build();
  EXPECT_THAT(Callers("main"), ElementsAre("-:0 75 75"));
  EXPECT_THAT(Callees("main"), ElementsAre("work:13 60 60", "work:12 10 10"));
  EXPECT_THAT(Callers("work"), ElementsAre("main:13 60 60", "main:12 10 10"));
  EXPECT_THAT(Callees("work"), ElementsAre("help:22 40 40"));
  EXPECT_THAT(Callees("help"), IsEmpty());
  // Own code and calls are the total.
  EXPECT_EQ(Function("main").metrics.total_ns, (5 + 60 + 10) * kMs);
}

TEST_F(CallGraphTest, LibraryCodeBetweenBelongsToTheLineOfTheOuterFunction) {
  const FunctionId main = Project("main"), work = Project("work");
  const FunctionId dumps = Library("dumps"), encode = Library("encode");
  profile_.AddSamples(0, profile_.AddStack({{main, 11}, {dumps, 5}}), 1);
  profile_.AddSamples(0, profile_.AddStack({{main, 11}, {dumps, 5}, {encode, 6}}), 2);
  profile_.AddSamples(0, profile_.AddStack({{main, 11}, {dumps, 5}, {encode, 7}, {work, 21}}), 4);
  Build();
  EXPECT_THAT(Callers("work"), ElementsAre("main:11 ~4 4"));
  // What the library took itself, without the project's function that it called.
  EXPECT_THAT(Callees("main"), ElementsAre("work:11 ~4 4", "dumps (json/encoder.py):11 3 3"));
}

TEST_F(CallGraphTest, WhatIsCalledByALibraryAloneNamesIt) {
  const FunctionId run = Library("Thread.run"), work = Project("work");
  profile_.AddSamples(0, profile_.AddStack({{run, 9}, {work, 11}}), 3);
  Build();
  EXPECT_THAT(Callers("work"), ElementsAre("Thread.run (json/encoder.py):9 3 3"));
}

TEST_F(CallGraphTest, ARecursiveCallCountsOnceAStack) {
  const FunctionId main = Project("main"), fib = Project("fib");
  profile_.AddSamples(
      0, profile_.AddStack({{main, 11}, {fib, 21}, {fib, 21}, {fib, 22}, {fib, 23}}), 8);
  Build();
  EXPECT_THAT(Callers("fib"), ElementsAre("main:11 8 8", "fib:21 8 8", "fib:22 8 8"));
  EXPECT_THAT(Callees("fib"), ElementsAre("fib:21 8 8", "fib:22 8 8"));
  EXPECT_EQ(Function("fib").metrics.total_ns, 8 * kMs);
}

TEST_F(CallGraphTest, AFunctionThatWasNeverSampledHasNeither) {
  profile_.AddSource("/p/m.py", "def cold(): pass\n");
  const FunctionId main = Project("main");
  profile_.AddSamples(0, profile_.AddStack({{main, 1}}), 1);
  Build();
  EXPECT_THAT(Callers("cold"), IsEmpty());
  EXPECT_THAT(Callees("cold"), IsEmpty());
}

TEST_F(CallGraphTest, DeepStacksAreVisitedWithoutRecursion) {
  const FunctionId fib = Project("fib");
  std::vector<std::pair<FunctionId, int32_t>> frames;
  for (int32_t i = 0; i < 200'000; ++i) frames.emplace_back(fib, 11 + i % 3);
  profile_.AddSamples(0, profile_.AddStack(frames), 1);
  Build();
  EXPECT_THAT(Callees("fib"), ElementsAre("fib:11 1 1", "fib:12 1 1", "fib:13 1 1"));
}

}  // namespace
}  // namespace linescope
