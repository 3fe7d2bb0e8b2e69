#pragma once
// A small profile whose every number is known, for the tests of everything that reads profiles.
//
// One process (pid 4000) with two threads ran app.py (kAppSource) for three seconds:
//
//   thread                stack, leaf last                                       state     samples
//   MainThread (4000)     <module>:31 main:27 fib:8 fib:8 fib:6                  running        30
//   MainThread            <module>:31 main:27 fib:8 fib:7                        running        20
//   MainThread            <module>:31 main:27 fib:8                              running        10
//   MainThread            <module>:31 main:26 load:12 loads:346 decode:337       running        40
//   MainThread            <module>:31 main:28 Thread.join:1112                   waiting        50
//   Thread-1 (wait) (4001) _bootstrap:1002 run:982 wait:19 Event.wait:629        waiting       100
//   Thread-1 (wait)       (no Python frames)                                     unknown         5
//
// A sample weighs 10 ms of wall time and, when running, 9 ms of CPU time. In wall mode Time, which
// goes to the innermost project line, is therefore, in samples: app.py:28 50, :12 40, :6 30, :7 20,
// :8 10, :19 100, of 255 in all.
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "profile/model.h"
#include "profile/writer.h"

namespace linescope {

inline constexpr const char* kAppPath = "/project/app.py";
inline constexpr const char* kAppSource = R"py(import json
import threading


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def load(text):
    return json.loads(
        text,
        strict=True,
    )


def wait():
    threading.Event().wait(1)


def main():
    thread = threading.Thread(target=wait)
    thread.start()
    for _ in range(3):
        load("[1, 2, 3]")
    fib(30)
    thread.join()


main()
)py";

inline RunInfo FixtureRun(const std::string& mode = "wall") {
  RunInfo run;
  run.title = "app.py";
  run.command = {"python3", "app.py", "--text=a \"b\""};
  run.working_directory = "/project";
  run.host = "example";
  run.linescope_version = "0.1.0";
  run.mode = mode;
  run.rate_hz = 100;
  run.started_unix_ns = 1'700'000'000'000'000'000;
  run.project_root = "/project";
  run.includes = {"*.py"};
  run.labels = {{"branch", "main"}};
  return run;
}

inline RunEnd FixtureEnd() {
  RunEnd end;
  end.elapsed_ns = 3'000'000'000;
  end.exit_code = 0;
  end.ticks_due = 300;
  end.ticks_taken = 296;
  end.samples = 255;
  end.rate_reached_hz = 98.7;
  end.consistency_used = "pinned";
  return end;
}

// A frame of a stack: a function of FixtureFunctions by its index, and the line in it.
struct FixtureFrame {
  size_t function;
  int32_t line;
};

inline std::vector<FunctionInfo> FixtureFunctions() {
  const std::string threading = "/usr/lib/python3.13/threading.py";
  return {
      {kAppPath, "<module>", "<module>", 1, true},
      {kAppPath, "main", "main", 22, true},
      {kAppPath, "fib", "fib", 5, true},
      {kAppPath, "load", "load", 11, true},
      {kAppPath, "wait", "wait", 18, true},
      {"/usr/lib/python3.13/json/__init__.py", "loads", "loads", 299, false},
      {"/usr/lib/python3.13/json/decoder.py", "decode", "JSONDecoder.decode", 332, false},
      {threading, "join", "Thread.join", 1070, false},
      {threading, "_bootstrap", "Thread._bootstrap", 990, false},
      {threading, "run", "Thread.run", 975, false},
      {threading, "wait", "Event.wait", 610, false},
  };
}

// Adds everything but the end to a new writer. Errors of the store appear in the next Commit.
inline void FillFixture(ProfileWriter& writer) {
  ProcessInfo process;
  process.pid = 4000;
  process.command = {"python3", "app.py", "--text=a \"b\""};
  process.executable = "/usr/bin/python3";
  process.python_version = "3.13.0";
  ProcessId process_id = writer.AddProcess(process);
  ThreadId main = writer.AddThread({process_id, 4000, "MainThread", true, 0});
  ThreadId other = writer.AddThread({process_id, 4001, "python3", false, 100'000'000});
  writer.SetThreadName(other, "Thread-1 (wait)");

  std::vector<FunctionId> functions;
  for (const FunctionInfo& function : FixtureFunctions())
    functions.push_back(writer.AddFunction(function));
  auto add = [&](ThreadId thread, ThreadState state, uint64_t samples,
                 std::initializer_list<FixtureFrame> frames) {
    StackId stack = kNoStack;
    for (const FixtureFrame& frame : frames)
      stack = writer.AddStack({stack, functions[frame.function], {.line = frame.line}});
    // Spread over the run, a tenth of the samples every 0.3 s, and what is left at the end.
    bool running = state == ThreadState::kRunning;
    for (int64_t i = 0; i < 10; ++i) {
      uint64_t count = samples / 10 + (i == 9 ? samples % 10 : 0);
      if (count == 0) continue;
      auto n = static_cast<int64_t>(count);
      SampleCell cell{thread, stack, state, count, n * 10'000'000, running ? n * 9'000'000 : 0};
      writer.AddSamples(i * 300'000'000, (i + 1) * 300'000'000, {&cell, 1});
    }
  };
  using enum ThreadState;
  add(main, kRunning, 30, {{0, 31}, {1, 27}, {2, 8}, {2, 8}, {2, 6}});
  add(main, kRunning, 20, {{0, 31}, {1, 27}, {2, 8}, {2, 7}});
  add(main, kRunning, 10, {{0, 31}, {1, 27}, {2, 8}});
  add(main, kRunning, 40, {{0, 31}, {1, 26}, {3, 12}, {5, 346}, {6, 337}});
  add(main, kWaiting, 50, {{0, 31}, {1, 28}, {7, 1112}});
  add(other, kWaiting, 100, {{8, 1002}, {9, 982}, {4, 19}, {10, 629}});
  add(other, kUnknown, 5, {});

  SourceSnapshot source;
  source.path = kAppPath;
  source.resolved_path = kAppPath;
  source.text = kAppSource;
  source.in_project = true;
  source.verified = true;
  writer.AddSource(source);
  writer.AddDrops(DropReason::kMissedTick, 4);
  writer.AddDrops(DropReason::kTorn, 2);
  writer.AddDiagnostic({"warning", "the library json was not snapshotted"});
  writer.EndThread(other, 2'500'000'000);
  writer.EndThread(main, 3'000'000'000);
  writer.EndProcess(process_id, 3'000'000'000, 0, std::nullopt);
}

// Writes a finished profile.
inline Status WriteFixture(const std::filesystem::path& path, const RunInfo& run = FixtureRun(),
                           const RunEnd& end = FixtureEnd()) {
  LS_TRY(writer, ProfileWriter::Create(path, run));
  FillFixture(*writer);
  return writer->Finish(end);
}

}  // namespace linescope
