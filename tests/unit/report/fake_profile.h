#pragma once
// A profile made up in memory, with the real arithmetic of the profile module.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope::testing {

inline constexpr int64_t kMs = 1'000'000;

class FakeProfile : public ProfileReader {
 public:
  FakeProfile() {
    run_.title = "demo";
    run_.command = {"demo.py", "--fast"};
    run_.host = "box";
    run_.linescope_version = "0.1.0";
    run_.rate_hz = 1000;
    run_.project_root = "/p";
    run_.started_unix_ns = 1'795'780'000'123'456'789;
    end_.elapsed_ns = 1000 * kMs;
    end_.exit_code = 0;
    end_.ticks_due = 1000;
    end_.ticks_taken = 990;
    processes_.emplace_back();
    processes_[0].pid = 100;
    processes_[0].python_version = "3.13.0";
    AddThread("MainThread");
  }

  ThreadId AddThread(const std::string& name) {
    ThreadRecord thread;
    thread.tid = 100 + static_cast<int>(threads_.size());
    thread.name = name;
    thread.is_main = threads_.empty();
    threads_.push_back(thread);
    return static_cast<ThreadId>(threads_.size() - 1);
  }

  FunctionId AddFunction(const std::string& file, const std::string& name, int32_t first_line,
                         bool in_project = true, const std::string& qualified_name = "") {
    functions_.push_back({.file = file,
                          .name = name,
                          .qualified_name = qualified_name.empty() ? name : qualified_name,
                          .first_line = first_line,
                          .in_project = in_project});
    return static_cast<FunctionId>(functions_.size() - 1);
  }

  // The stack of these frames, root first.
  StackId AddStack(const std::vector<std::pair<FunctionId, int32_t>>& frames) {
    StackId stack = kNoStack;
    for (const auto& [function, line] : frames) stack = AddCall(stack, function, {.line = line});
    return stack;
  }

  StackId AddCall(StackId parent, FunctionId function, const SourceRange& range) {
    const auto key = std::tuple(parent, function, range);
    auto [at, added] = nodes_.try_emplace(key, static_cast<StackId>(stacks_.size()));
    if (added) {
      stacks_.parent.push_back(parent);
      stacks_.function.push_back(function);
      stacks_.range.push_back(range);
    }
    return at->second;
  }

  // `count` samples of 1 ms in the bucket of `start_ns`.
  void AddSamples(int64_t start_ns, StackId stack, uint64_t count,
                  ThreadState state = ThreadState::kRunning, ThreadId thread = 0) {
    const int64_t wall = static_cast<int64_t>(count) * kMs;
    rows_.push_back({.bucket = start_ns / bucket_width_,
                     .cell = {.thread = thread,
                              .stack = stack,
                              .state = state,
                              .count = count,
                              .wall_ns = wall,
                              .cpu_ns = state == ThreadState::kRunning ? wall : 0}});
    end_.samples += count;
  }

  void AddSample(int64_t bucket, const SampleCell& cell, int64_t buckets = 1) {
    rows_.push_back({.bucket = bucket, .cell = cell, .buckets = buckets});
    end_.samples += cell.count;
  }

  void AddSource(const std::string& path, const std::string& text, bool in_project = true,
                 std::optional<bool> verified = true) {
    SourceRecord source;
    source.path = source.resolved_path = path;
    source.in_project = in_project;
    source.verified = verified;
    source.has_text = true;
    source.text_bytes = text.size();
    sources_.push_back(source);
    texts_.push_back(text);
  }

  void AddMissingSource(const std::string& path, const std::string& note) {
    SourceRecord source;
    source.path = path;
    source.in_project = true;
    source.note = note;
    sources_.push_back(source);
    texts_.emplace_back();
  }

  RunInfo& mutable_run() { return run_; }
  RunEnd& mutable_end() { return end_; }
  std::vector<ProcessRecord>& mutable_processes() { return processes_; }
  std::vector<SourceRecord>& mutable_sources() { return sources_; }
  std::vector<DropCount>& mutable_drops() { return drops_; }
  std::vector<Diagnostic>& mutable_diagnostics() { return diagnostics_; }

  const RunInfo& run() const override { return run_; }
  const RunEnd& end() const override { return end_; }
  const std::vector<ProcessRecord>& processes() const override { return processes_; }
  const std::vector<ThreadRecord>& threads() const override { return threads_; }
  const std::vector<SourceRecord>& sources() const override { return sources_; }
  const std::vector<DropCount>& drops() const override { return drops_; }
  const std::vector<Diagnostic>& diagnostics() const override { return diagnostics_; }
  int64_t bucket_width_ns() const override { return bucket_width_; }

  Result<std::string> SourceText(SourceId source) override {
    if (!sources_.at(source).has_text) return Fail(ErrorCode::kUsage, "no text");
    if (fail_source_text) return Fail(ErrorCode::kCorrupt, "its stored text is damaged");
    return texts_[source];
  }

  Result<Profile> Load(Weight weight) override {
    Aggregator aggregator(weight, functions_, stacks_, bucket_width_);
    for (const SampleRow& row : rows_) aggregator.Add(row);
    Profile profile = aggregator.Finish();
    for (FileStats& file : profile.files) {
      for (SourceId id = 0; id < sources_.size(); ++id) {
        if (sources_[id].path == file.path) file.source = id;
      }
    }
    return profile;
  }
  using ProfileReader::Load;

  Status ForEachSample(const std::function<void(const SampleRow&)>& visit) override {
    for (const SampleRow& row : rows_) visit(row);
    return {};
  }

  bool fail_source_text = false;

 private:
  RunInfo run_;
  RunEnd end_;
  std::vector<ProcessRecord> processes_;
  std::vector<ThreadRecord> threads_;
  std::vector<SourceRecord> sources_;
  std::vector<std::string> texts_;
  std::vector<DropCount> drops_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<FunctionInfo> functions_;
  StackTree stacks_;
  std::map<std::tuple<StackId, FunctionId, SourceRange>, StackId> nodes_;
  std::vector<SampleRow> rows_;
  int64_t bucket_width_ = 10 * kMs;
};

inline constexpr char kDemoSource[] =
    "import os\n"                  // 1
    "\n"                           // 2
    "def work(n):\n"               // 3
    "    total = (n\n"             // 4
    "             + len('😀'))\n"  // 5
    "    return helper(total)\n"   // 6
    "\n"                           // 7
    "async def idle():\n"          // 8
    "    pass\n"                   // 9
    "\n"                           // 10
    "def helper(x):\n"             // 11
    "    return os.listdir(x)\n"   // 12
    "\n"                           // 13
    "work(1)\n";                   // 14

// Two project files and a library: /p/demo.py spends 60 ms in work, 30 ms in helper (20 of them in
// the library it calls); 5 ms are library code with no project frame and 5 ms a thread without
// Python frames.
inline void FillDemo(FakeProfile& profile) {
  profile.AddSource("/p/demo.py", kDemoSource);
  profile.AddMissingSource("/p/gone.py", "the file was deleted");
  const FunctionId module = profile.AddFunction("/p/demo.py", "<module>", 1);
  const FunctionId work = profile.AddFunction("/p/demo.py", "work", 3);
  const FunctionId helper = profile.AddFunction("/p/demo.py", "helper", 11);
  const FunctionId library = profile.AddFunction("/usr/lib/os.py", "listdir", 7, false);
  profile.AddSamples(0, profile.AddStack({{module, 14}, {work, 5}}), 60);
  profile.AddSamples(100 * kMs, profile.AddStack({{module, 14}, {work, 6}, {helper, 12}}), 10);
  profile.AddSamples(100 * kMs,
                     profile.AddStack({{module, 14}, {work, 6}, {helper, 12}, {library, 9}}), 20,
                     ThreadState::kWaiting);
  profile.AddSamples(500 * kMs, profile.AddStack({{library, 8}}), 5, ThreadState::kGilWait);
  profile.AddSamples(900 * kMs, kNoStack, 5, ThreadState::kUnknown);
}

}  // namespace linescope::testing
