#include "report/report_model.h"

#include <gmock/gmock.h>

#include "unit/report/fake_profile.h"

namespace linescope {
namespace {

using ::linescope::testing::FakeProfile;
using ::linescope::testing::FillDemo;
using ::linescope::testing::kMs;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ReportModel Model(FakeProfile& profile, const ModelOptions& options = {}) {
  return BuildModel(profile, options).value();
}

ReportModel DemoModel() {
  FakeProfile profile;
  FillDemo(profile);
  return Model(profile);
}

TEST(UniqueSuffixes, AreAsShortAsTheyCanBe) {
  EXPECT_THAT(UniqueSuffixes({"/p/a/io.py", "/p/b/io.py", "/p/b/main.py"}),
              ElementsAre("a/io.py", "b/io.py", "main.py"));
  EXPECT_THAT(UniqueSuffixes({"/x/a/io.py", "/y/a/io.py", "io.py", "a/io.py"}),
              ElementsAre("x/a/io.py", "y/a/io.py", "io.py", "a/io.py"));
  EXPECT_THAT(UniqueSuffixes({"/io.py", "<string>", ""}), ElementsAre("io.py", "<string>", ""));
  EXPECT_THAT(UniqueSuffixes({}), IsEmpty());
}

TEST(ReportModel, TotalsAddUp) {
  const ReportTotals totals = DemoModel().totals;
  EXPECT_EQ(totals.all.time_ns, 100 * kMs);
  EXPECT_EQ(totals.project.time_ns, 90 * kMs);
  EXPECT_EQ(totals.outside.time_ns, 5 * kMs);
  EXPECT_EQ(totals.no_python.time_ns, 5 * kMs);
  EXPECT_EQ(totals.all.samples, 100u);
  EXPECT_EQ(totals.project.samples + totals.outside.samples + totals.no_python.samples, 100u);
  EXPECT_EQ(totals.states.running_ns, 70 * kMs);
  EXPECT_EQ(totals.states.waiting_ns, 20 * kMs);
  EXPECT_EQ(totals.states.gil_ns, 5 * kMs);
  EXPECT_EQ(totals.states.unknown_ns, 5 * kMs);
}

TEST(ReportModel, LinesHaveProjectTimeAndTotal) {
  const ReportModel model = DemoModel();
  ASSERT_EQ(model.files.size(), 2u);
  const ReportFile& demo = model.files[0];
  EXPECT_EQ(demo.path, "/p/demo.py");
  EXPECT_EQ(demo.label, "demo.py");
  EXPECT_EQ(demo.metrics, (ReportMetrics{90 * kMs, 90, 90 * kMs}));
  std::map<uint32_t, ReportMetrics> lines;
  for (const ReportLine& line : demo.lines) lines[line.line] = line.metrics;
  // Library time belongs to the project line that called it.
  EXPECT_EQ(lines[12], (ReportMetrics{30 * kMs, 30, 30 * kMs}));
  EXPECT_EQ(lines[5], (ReportMetrics{60 * kMs, 60, 60 * kMs}));
  // A line that only called: its own time was not measured, which is not 0.
  EXPECT_EQ(lines[6], (ReportMetrics{std::nullopt, 0, 30 * kMs}));
  EXPECT_EQ(lines[14], (ReportMetrics{std::nullopt, 0, 90 * kMs}));
  EXPECT_EQ(lines.size(), 4u);
}

TEST(ReportModel, FilesWithoutSourceSayWhy) {
  const ReportModel model = DemoModel();
  const ReportFile& gone = model.files[1];
  EXPECT_EQ(gone.path, "/p/gone.py");
  EXPECT_FALSE(gone.source);
  EXPECT_EQ(gone.note, "the file was deleted");
  EXPECT_EQ(gone.metrics, ReportMetrics{});
}

TEST(ReportModel, ADamagedSourceIsANoteOfItsFile) {
  FakeProfile profile;
  FillDemo(profile);
  profile.fail_source_text = true;
  const ReportModel model = Model(profile);
  EXPECT_FALSE(model.files[0].source);
  EXPECT_EQ(model.files[0].note, "its stored text is damaged");
  EXPECT_EQ(model.hot[0].text, std::nullopt);
  EXPECT_EQ(model.hot[0].label, "demo.py:5");
}

TEST(ReportModel, FunctionsHaveTheirExtent) {
  const ReportModel model = DemoModel();
  ASSERT_EQ(model.functions.size(), 4u);
  const ReportFunction& module = model.functions[0];
  EXPECT_EQ(module.name, "<module>");
  EXPECT_EQ(module.kind, ReportFunctionKind::kModule);
  EXPECT_EQ(module.last_line, std::nullopt);
  EXPECT_EQ(module.metrics, (ReportMetrics{std::nullopt, 0, 90 * kMs}));
  const ReportFunction& work = model.functions[1];
  EXPECT_EQ(work.name, "work");
  EXPECT_EQ(work.line, 3u);
  EXPECT_EQ(work.last_line, 6u);
  EXPECT_EQ(work.metrics, (ReportMetrics{60 * kMs, 60, 90 * kMs}));
  EXPECT_EQ(model.functions[3].metrics, (ReportMetrics{30 * kMs, 30, 30 * kMs}));
}

TEST(ReportModel, FunctionsThatWereNotSampledHaveNoTime) {
  const ReportModel model = DemoModel();
  const ReportFunction& idle = model.functions[2];
  EXPECT_EQ(idle.name, "idle");
  EXPECT_EQ(idle.kind, ReportFunctionKind::kAsyncFunction);
  EXPECT_EQ(idle.metrics, (ReportMetrics{std::nullopt, 0, std::nullopt}));
}

TEST(ReportModel, SampledFunctionsUnknownToTheSourceAreKept) {
  FakeProfile profile;
  profile.AddSource("/p/a.py", "x = 1\n");
  const FunctionId function = profile.AddFunction("/p/a.py", "f", 7, true, "C.f");
  profile.AddSamples(0, profile.AddStack({{function, 8}}), 1);
  const ReportModel model = Model(profile);
  ASSERT_EQ(model.functions.size(), 1u);
  EXPECT_EQ(model.functions[0].name, "C.f");
  EXPECT_EQ(model.functions[0].line, 7u);
  EXPECT_EQ(model.functions[0].last_line, std::nullopt);
  EXPECT_EQ(model.functions[0].kind, ReportFunctionKind::kOther);
  EXPECT_EQ(model.hot[0].label, "a.py:8");  // beyond the source's end
  EXPECT_EQ(model.hot[0].text, std::nullopt);
}

TEST(ReportModel, HotLinesQuoteTheirStatement) {
  const ReportModel model = DemoModel();
  ASSERT_EQ(model.hot.size(), 2u);  // lines without own time are not hot
  const HotLine& hot = model.hot[0];
  EXPECT_EQ(hot.line, 5u);
  EXPECT_EQ(hot.statement, (LineRange{4, 5}));
  EXPECT_EQ(hot.label, "demo.py:4-5");
  EXPECT_EQ(hot.function, "work");
  EXPECT_EQ(hot.text, "total = (n\n         + len('😀'))");
  EXPECT_EQ(model.hot[1].label, "demo.py:12");
  EXPECT_EQ(model.hot[1].text, "return os.listdir(x)");
}

TEST(ReportModel, HotLinesAreRankedAndLimited) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  for (int32_t line = 1; line <= 60; ++line)
    profile.AddSamples(0, profile.AddStack({{f, line}}), line == 30 ? 9 : 1);
  const ReportModel model = Model(profile);
  ASSERT_EQ(model.hot.size(), 50u);
  EXPECT_EQ(model.hot[0].line, 30u);
  EXPECT_EQ(model.hot[1].line, 1u);  // ties keep line order
  EXPECT_EQ(model.hot[2].line, 2u);
}

TEST(ReportModel, ExpressionsStandInUtf16) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const FunctionId library = profile.AddFunction("/lib/l.py", "l", 1, false);
  profile.AddSource("/p/a.py", "\tπ = f('😀') + g(\n  1)\n");
  // Bytes: π takes two, 😀 four.
  const StackId call = profile.AddCall(kNoStack, f, {1, 1, 6, 15});
  profile.AddSamples(0, call, 1);
  profile.AddSamples(0, profile.AddCall(call, library, {3, 3, 0, 2}), 2);
  profile.AddSamples(0, profile.AddCall(kNoStack, f, {1, 2, 18, 4}), 6);
  profile.AddSamples(0, profile.AddCall(kNoStack, f, {.line = 1}), 1);
  // Beyond the line, and beyond the file.
  profile.AddSamples(0, profile.AddCall(kNoStack, f, {1, 1, 6, 99}), 1);
  profile.AddSamples(0, profile.AddCall(kNoStack, f, {1, 7, 6, 2}), 1);
  const ReportModel model = Model(profile);
  ASSERT_EQ(model.files[0].lines.size(), 1u);
  EXPECT_EQ(model.files[0].lines[0].metrics.samples, 12u);
  EXPECT_THAT(model.files[0].lines[0].expressions,
              ElementsAre(ReportExpression{15, 2, 4, {6 * kMs, 6}},
                          ReportExpression{5, 1, 12, {3 * kMs, 3}}));
}

TEST(ReportModel, ExpressionsOfATextThatChangedAreLeftOut) {
  for (const std::optional<bool> verified : {std::optional(false), std::optional<bool>()}) {
    FakeProfile profile;
    const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
    profile.AddSource("/p/a.py", "f(1)\n", true, verified);
    profile.AddSamples(0, profile.AddCall(kNoStack, f, {1, 1, 0, 4}), 1);
    const ReportModel model = Model(profile);
    EXPECT_EQ(model.files[0].lines[0].metrics.samples, 1u);
    EXPECT_EQ(model.files[0].lines[0].expressions.empty(), verified == false);
  }
}

TEST(ReportModel, LineZeroCountsForItsFileOnly) {
  FakeProfile profile;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  profile.AddSamples(0, profile.AddStack({{f, 0}}), 3);
  const ReportModel model = Model(profile);
  EXPECT_EQ(model.files[0].metrics.samples, 3u);
  EXPECT_THAT(model.files[0].lines, IsEmpty());
  EXPECT_THAT(model.hot, IsEmpty());
  EXPECT_EQ(model.files[0].note, "its source was not captured");
}

TEST(ReportModel, ModeCpuCountsCpuTimeOfRunningThreads) {
  FakeProfile profile;
  FillDemo(profile);
  profile.mutable_run().mode = "cpu";
  const ReportModel model = Model(profile);
  EXPECT_EQ(model.totals.all.time_ns, 70 * kMs);
  EXPECT_EQ(model.totals.all.samples, 70u);
  EXPECT_EQ(model.totals.states.waiting_ns, 20 * kMs);  // states are wall time in either mode
  EXPECT_EQ(model.timeline.size(), 4u);                 // buckets without running threads included
}

TEST(ReportModel, TheTimelineShowsStatesAndTheHottestLine) {
  const ReportModel model = DemoModel();
  ASSERT_EQ(model.timeline.size(), 4u);
  const ReportBucket& first = model.timeline[0];
  EXPECT_EQ(first.start_ns, 0);
  EXPECT_EQ(first.end_ns, 10 * kMs);
  EXPECT_EQ(first.samples, 60u);
  EXPECT_EQ(first.states.running_ns, 60 * kMs);
  ASSERT_TRUE(first.hottest);
  EXPECT_EQ(first.hottest->line, 5u);
  EXPECT_EQ(model.timeline[1].states.waiting_ns, 20 * kMs);
  EXPECT_EQ(model.timeline[1].hottest->line, 12u);
  EXPECT_EQ(model.timeline[2].start_ns, 500 * kMs);
  EXPECT_FALSE(model.timeline[2].hottest);  // no project line
  EXPECT_EQ(model.timeline[3].states.unknown_ns, 5 * kMs);
}

TEST(ReportModel, TheTimelineIsJoinedToFewBuckets) {
  FakeProfile profile;
  profile.mutable_end().elapsed_ns = 1045 * kMs;
  const FunctionId f = profile.AddFunction("/p/a.py", "f", 1);
  const StackId stack = profile.AddStack({{f, 2}});
  for (int64_t i = 0; i < 100; ++i) profile.AddSamples((5 + i) * 10 * kMs, stack, 1);
  const ReportModel model = Model(profile, {.timeline_buckets = 30});
  ASSERT_EQ(model.timeline.size(), 25u);  // 4 each
  EXPECT_EQ(model.timeline[0].start_ns, 50 * kMs);
  EXPECT_EQ(model.timeline[0].end_ns, 90 * kMs);
  uint64_t samples = 0;
  for (const ReportBucket& bucket : model.timeline) samples += bucket.samples;
  EXPECT_EQ(samples, 100u);
  EXPECT_EQ(model.timeline.back().end_ns, 1045 * kMs);  // not beyond the run's end
}

TEST(ReportModel, ThreadsAndProcessesHaveTheirShare) {
  FakeProfile profile;
  FillDemo(profile);
  const ThreadId worker = profile.AddThread("worker");
  profile.AddSamples(0, profile.AddStack({{0, 1}}), 8, ThreadState::kWaiting, worker);
  const ReportModel model = Model(profile);
  ASSERT_EQ(model.threads.size(), 2u);
  EXPECT_EQ(model.threads[0].cost.samples, 100u);
  EXPECT_EQ(model.threads[1].cost.samples, 8u);
  EXPECT_EQ(model.threads[1].states.waiting_ns, 8 * kMs);
  EXPECT_EQ(model.processes[0].cost.samples, 108u);
  EXPECT_EQ(model.processes[0].cost.time_ns, 108 * kMs);
}

TEST(ReportModel, TicksAddUpAndDropsAreExplained) {
  FakeProfile profile;
  profile.mutable_drops() = {{"torn", 2}, {"missed tick", 10}, {"unreadable", 5}, {"eclipse", 2}};
  const ReportModel model = Model(profile);
  ASSERT_TRUE(model.ticks);
  EXPECT_EQ(model.ticks->due, 1000u);
  EXPECT_EQ(model.ticks->taken + model.ticks->missed, model.ticks->due);
  EXPECT_EQ(model.ticks->missed, 10u);
  EXPECT_EQ(model.rate_reached, 990.0);
  EXPECT_THAT(model.drops, ElementsAre(Field(&ReportDrop::reason, "unreadable"),
                                       Field(&ReportDrop::reason, "eclipse"),
                                       Field(&ReportDrop::reason, "torn")));
  EXPECT_EQ(model.drops[0].text, "the frames could not be read");
  EXPECT_EQ(model.drops[1].text, "eclipse");
}

TEST(ReportModel, TheRateIsAsTheSamplerSaysElseOfTheWholeRun) {
  FakeProfile profile;
  profile.mutable_end().rate_reached_hz = 997.5;
  EXPECT_EQ(Model(profile).rate_reached, 997.5);
  profile.mutable_end().rate_reached_hz = std::nullopt;
  EXPECT_EQ(Model(profile).rate_reached, 990.0);
}

TEST(ReportModel, EveryDropReasonHasWordsOfItsOwn) {
  FakeProfile profile;
  for (size_t i = 0; i < static_cast<size_t>(DropReason::kCount); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (reason == DropReason::kMissedTick) continue;
    profile.mutable_drops() = {{DropReasonName(reason), 1}};
    EXPECT_NE(Model(profile).drops.at(0).text, DropReasonName(reason));
  }
}

struct OutcomeCase {
  const char* name;
  RunEnd end;
  RunOutcome outcome;
  const char* text;
};

RunEnd End(std::optional<int> exit_code, std::optional<int> signal, const char* error,
           ProfileState state = ProfileState::kComplete) {
  RunEnd end;
  end.state = state;
  end.exit_code = exit_code;
  end.term_signal = signal;
  end.error = error;
  return end;
}

TEST(ReportModel, TheOutcomeIsThatOfTheRun) {
  const OutcomeCase kCases[] = {
      {"fine", End(0, {}, ""), RunOutcome::kSuccess, ""},
      {"attached", End({}, {}, ""), RunOutcome::kSuccess, ""},
      {"exit", End(7, {}, ""), RunOutcome::kFailed, "exit status 7"},
      {"signal", End({}, 11, ""), RunOutcome::kFailed, "killed by SIGSEGV"},
      {"error", End(1, {}, "ValueError: no"), RunOutcome::kFailed, "ValueError: no"},
      {"cut", End({}, {}, "", ProfileState::kInterrupted), RunOutcome::kInterrupted,
       "the recording had not ended when this was written: it was going on still, or had been "
       "cut off; everything recorded until then is shown"},
      {"stopped", End({}, {}, "stopped by SIGTERM", ProfileState::kInterrupted),
       RunOutcome::kInterrupted, "stopped by SIGTERM"},
  };
  for (const OutcomeCase& test : kCases) {
    FakeProfile profile;
    profile.mutable_end() = test.end;
    const ReportModel model = Model(profile);
    EXPECT_EQ(model.outcome, test.outcome) << test.name;
    EXPECT_EQ(model.outcome_text, test.text) << test.name;
  }
}

TEST(ReportModel, ARunThatWasCutOffHasNoTicks) {
  FakeProfile profile;
  profile.mutable_end() = End({}, {}, "", ProfileState::kInterrupted);
  profile.mutable_end().ticks_known = false;
  const ReportModel model = Model(profile);
  EXPECT_FALSE(model.ticks);
  EXPECT_FALSE(model.rate_reached);
}

TEST(ReportModel, ThePythonVersionIsThatOfTheFirstInterpreter) {
  FakeProfile profile;
  profile.mutable_processes()[0].python_version = "";
  EXPECT_EQ(Model(profile).python_version, std::nullopt);
  ProcessRecord child;
  child.parent = 0;
  child.python_version = "3.11.2";
  profile.mutable_processes().push_back(child);
  EXPECT_EQ(Model(profile).python_version, "3.11.2");
}

TEST(ReportModel, TheScopeIsASentence) {
  FakeProfile profile;
  profile.mutable_run().includes = {"lib.*"};
  profile.mutable_run().excludes = {"tests/**", "x.py"};
  EXPECT_EQ(Model(profile).scope,
            "Python files under /p, without the standard library and installed packages; also "
            "lib.*; but not tests/**, x.py");
}

TEST(ReportModel, TheTitleIsNeverEmpty) {
  FakeProfile profile;
  EXPECT_EQ(TitleOf(Model(profile)), "demo");
  profile.mutable_run().title = "";
  profile.mutable_run().command = {"/usr/bin/train.py"};
  EXPECT_EQ(TitleOf(Model(profile)), "train.py");
  profile.mutable_run().command = {};
  EXPECT_EQ(TitleOf(Model(profile)), "Python program");
}

TEST(ReportModel, DoesNotDependOnTheNumberOfThreads) {
  FakeProfile profile;
  for (int i = 0; i < 40; ++i)
    profile.AddSource("/p/m" + std::to_string(i) + ".py",
                      "def f():\n    return " + std::to_string(i) + "\n");
  const ReportModel one = Model(profile, {.threads = 1});
  const ReportModel four = Model(profile, {.threads = 4});
  ASSERT_EQ(one.functions.size(), 40u);
  for (size_t i = 0; i < one.files.size(); ++i) {
    EXPECT_EQ(one.files[i].source->text.text, four.files[i].source->text.text);
    EXPECT_EQ(one.files[i].source->index.tokens, four.files[i].source->index.tokens);
  }
}

}  // namespace
}  // namespace linescope
