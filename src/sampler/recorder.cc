#include "sampler/recorder.h"

#include "process/procfs.h"

namespace linescope {

Recorder::Recorder(ProfileWriter* writer, const SessionOptions* options, int pid,
                   int64_t run_start_ns)
    : writer_(writer), options_(options), pid_(pid), start_ns_(run_start_ns) {}

void Recorder::AddDiagnostic(const Diagnostic& diagnostic) {
  for (const Diagnostic& known : diagnostics_) {
    if (known.text == diagnostic.text) return;
  }
  diagnostics_.push_back(diagnostic);
  writer_->AddDiagnostic(diagnostic);
}

void Recorder::StartProcess(const PythonFound* python, int64_t now_ns) {
  ProcessInfo info;
  info.pid = pid_;
  if (auto command = ReadCommandLine(pid_)) info.command = *command;
  if (info.command.empty()) info.command = options_->run.command;
  if (auto exe = ReadExe(pid_)) info.executable = *exe;
  if (auto start = ProcessStartUnixNs(pid_)) process_start_unix_ns_ = *start;
  if (python != nullptr) {
    info.python_version = python->version;
    python_version_ = python->version;
    for (const std::string& warning : python->warnings) AddDiagnostic({"warning", warning});
  }
  // The first interpreter of a launched process is there from its start.
  info.start_ns = process_ ? Since(now_ns) : 0;
  if (process_) writer_->EndProcess(*process_, Since(now_ns), std::nullopt, std::nullopt);
  process_ = writer_->AddProcess(info);
}

bool Recorder::InProject(const Code& code) {
  if (code.shim) return false;  // the interpreter's own, filed under no file
  const auto known = files_.find(code.file);
  if (known != files_.end()) return known->second;
  bool in_project = false;
  if (options_->on_file) {
    const SessionOptions::FileAnswer answer =
        options_->on_file({.pid = pid_,
                           .file = code.file,
                           .stdlib_dir = {},
                           .process_start_unix_ns = process_start_unix_ns_,
                           .function_name = code.name,
                           .first_line = code.first_line});
    in_project = answer.in_project;
    if (answer.snapshot) writer_->AddSource(*answer.snapshot);
  }
  files_.emplace(code.file, in_project);
  return in_project;
}

FunctionId Recorder::FunctionOf(const Code& code) {
  return writer_->AddFunction({.file = code.file,
                               .name = code.name,
                               .qualified_name = code.qualified_name,
                               .first_line = code.first_line,
                               .in_project = InProject(code)});
}

void Recorder::Apply(const Batch& batch) {
  for (const PythonFound& python : batch.pythons) StartProcess(&python, python.at_ns);
  for (const Code* code : batch.codes) functions_.push_back(FunctionOf(*code));
  for (const StackTrie::Node& node : batch.nodes) {
    stacks_.push_back(
        writer_->AddStack({.parent = node.parent == kNoNode ? kNoStack : stacks_[node.parent],
                           .function = functions_[node.code],
                           .line = node.line}));
  }
  for (const ThreadEvent& event : batch.threads) {
    switch (event.kind) {
      case ThreadEvent::Kind::kStarted:
        if (!process_) StartProcess(nullptr, event.at_ns);
        threads_.resize(std::max<size_t>(threads_.size(), event.thread + 1));
        threads_[event.thread] = writer_->AddThread({.process = *process_,
                                                     .tid = event.tid,
                                                     .name = event.name,
                                                     .is_main = event.is_main,
                                                     .start_ns = Since(event.at_ns)});
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

void Recorder::Finish(int64_t now_ns, std::optional<int> exit_code,
                      std::optional<int> term_signal) {
  if (!process_) StartProcess(nullptr, now_ns);
  writer_->EndProcess(*process_, Since(now_ns), exit_code, term_signal);
}

}  // namespace linescope
