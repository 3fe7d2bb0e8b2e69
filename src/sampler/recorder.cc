#include "sampler/recorder.h"

#include <sys/wait.h>

#include <algorithm>

namespace linescope {

Recorder::Recorder(ProfileWriter* writer, const SessionOptions* options, int64_t run_start_ns)
    : writer_(writer), options_(options), start_ns_(run_start_ns) {}

void Recorder::AddDiagnostic(const Diagnostic& diagnostic) {
  for (const Diagnostic& known : diagnostics_) {
    if (known.text == diagnostic.text) return;
  }
  diagnostics_.push_back(diagnostic);
  writer_->AddDiagnostic(diagnostic);
}

void Recorder::Apply(const ProcessNews& news) {
  switch (news.kind) {
    case ProcessNews::Kind::kStarted: {
      Process process;
      process.info.pid = news.pid;
      process.info.command = news.command;
      process.info.executable = news.executable;
      if (news.parent) {
        process.info.parent = processes_[*news.parent].id;
      } else {
        root_ = news.process;
      }
      process.info.start_ns = Since(news.at_ns);
      process.start_unix_ns = news.start_unix_ns;
      process.id = writer_->AddProcess(process.info);
      processes_.push_back(std::move(process));
      break;
    }
    case ProcessNews::Kind::kChanged: {
      Process& process = processes_[news.process];
      process.info.command = news.command;
      process.info.executable = news.executable;
      process.start_unix_ns = news.start_unix_ns;
      writer_->SetProcess(process.id, process.info);
      break;
    }
    case ProcessNews::Kind::kEnded: {
      std::optional<int> exit_code, term_signal;
      if (news.wait_status && WIFEXITED(*news.wait_status)) {
        exit_code = WEXITSTATUS(*news.wait_status);
      } else if (news.wait_status && WIFSIGNALED(*news.wait_status)) {
        term_signal = WTERMSIG(*news.wait_status);
      }
      Process& process = processes_[news.process];
      process.end_ns = Since(news.at_ns);
      writer_->EndProcess(process.id, *process.end_ns, exit_code, term_signal);
      break;
    }
  }
}

void Recorder::Apply(const PythonFound& python) {
  Process& process = processes_[python.process];
  process.info.python_version = python.version;
  writer_->SetProcess(process.id, process.info);
  for (const std::string& warning : python.warnings) AddDiagnostic({"warning", warning});
}

bool Recorder::InProject(const CodeInfo& code) {
  if (code.shim) return false;  // the interpreter's own, filed under no file
  if (code.kind != FunctionKind::kPython) return false;
  const auto known = files_.find(code.file);
  if (known != files_.end()) return known->second;
  bool in_project = false;
  if (options_->on_file) {
    const Process& process = processes_[code.process];
    const SessionOptions::FileAnswer answer =
        options_->on_file({.pid = process.info.pid,
                           .file = code.file,
                           .stdlib_dir = {},
                           .process_start_unix_ns = process.start_unix_ns,
                           .function_name = code.name,
                           .first_line = code.first_line});
    in_project = answer.in_project;
    if (answer.snapshot) writer_->AddSource(*answer.snapshot);
  }
  files_.emplace(code.file, in_project);
  return in_project;
}

FunctionId Recorder::FunctionOf(const CodeInfo& code) {
  return writer_->AddFunction({.file = code.file,
                               .name = code.name,
                               .qualified_name = code.qualified_name,
                               .first_line = code.first_line,
                               .in_project = InProject(code),
                               .kind = code.kind});
}

// Where several functions were inlined into one another, a location is as many nodes; where it is
// left out, none.
StackId Recorder::StackOf(const StackTrie::Node& node) {
  StackId stack = node.parent == kNoNode ? kNoStack : stacks_[node.parent];
  if ((node.code & kNativeCode) == 0) {
    return writer_->AddStack(
        {.parent = stack, .function = functions_[node.code], .range = node.range});
  }
  for (const auto& [function, line] : native_[node.code & ~kNativeCode]) {
    stack = writer_->AddStack({.parent = stack, .function = function, .range = {.line = line}});
  }
  return stack;
}

// A process has one main thread, also when its interpreter is gone before it, or comes again.
ThreadId Recorder::ThreadOf(const ThreadEvent& started) {
  Process& process = processes_[started.process];
  if (started.is_main && process.main_thread) return *process.main_thread;
  const ThreadId thread = writer_->AddThread({.process = process.id,
                                              .tid = started.tid,
                                              .name = started.name,
                                              .is_main = started.is_main,
                                              .start_ns = Since(started.at_ns)});
  if (started.is_main) process.main_thread = thread;
  return thread;
}

void Recorder::Apply(Batch& batch) {
  for (const ProcessNews& news : batch.processes) Apply(news);
  for (const PythonFound& python : batch.pythons) Apply(python);
  for (const CodeInfo& code : batch.codes) functions_.push_back(FunctionOf(code));
  for (NativeModule& module : batch.native_modules) names_.Add(std::move(module));
  for (const NativeLocation& location : batch.native_locations) {
    auto& functions = native_.emplace_back();
    for (const NativeFunction& function : names_.At(location)) {
      functions.emplace_back(writer_->AddFunction({.file = function.file,
                                                   .name = function.name,
                                                   .qualified_name = function.name,
                                                   .first_line = function.first_line,
                                                   .kind = FunctionKind::kNative}),
                             function.line);
    }
  }
  for (const StackTrie::Node& node : batch.nodes) stacks_.push_back(StackOf(node));
  for (const ThreadEvent& event : batch.threads) {
    switch (event.kind) {
      case ThreadEvent::Kind::kStarted:
        threads_.resize(std::max<size_t>(threads_.size(), event.thread + 1));
        threads_[event.thread] = ThreadOf(event);
        break;
      case ThreadEvent::Kind::kRenamed:
        writer_->SetThreadName(threads_[event.thread], event.name);
        break;
      case ThreadEvent::Kind::kEnded:
        writer_->EndThread(threads_[event.thread], Since(event.at_ns));
        break;
    }
  }
  cells_.clear();
  for (const CellCounter::Cell& cell : batch.cells) {
    cells_.push_back({.thread = threads_[cell.thread],
                      .stack = cell.node == kNoNode ? kNoStack : stacks_[cell.node],
                      .state = cell.state,
                      .count = cell.count,
                      .wall_ns = cell.wall_ns,
                      .cpu_ns = cell.cpu_ns});
  }
  if (!cells_.empty()) writer_->AddSamples(Since(batch.begin_ns), Since(batch.end_ns), cells_);
  for (size_t i = 0; i < batch.totals.drops.size(); ++i) {
    const uint64_t added = batch.totals.drops[i] - totals_.drops[i];
    if (added != 0) writer_->AddDrops(static_cast<DropReason>(i), added);
  }
  for (const Diagnostic& diagnostic : batch.diagnostics) AddDiagnostic(diagnostic);
  totals_ = batch.totals;
}

void Recorder::EndRoot(int64_t now_ns, std::optional<int> exit_code,
                       std::optional<int> term_signal) {
  if (processes_.empty()) return;
  const Process& root = processes_[root_];
  if (root.end_ns && !exit_code && !term_signal) return;  // its own end told more
  writer_->EndProcess(root.id, root.end_ns.value_or(Since(now_ns)), exit_code, term_signal);
}

}  // namespace linescope
