#include "cli/top_live.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <memory>

#include "base/clock.h"
#include "cli/closing.h"
#include "cli/exit_codes.h"
#include "cli/file_judge.h"
#include "cli/program_output.h"
#include "cli/terminal.h"
#include "cli/top_render.h"
#include "cli/top_terminal.h"
#include "process/procfs.h"
#include "process/signals.h"

namespace linescope {
namespace {

constexpr int64_t kMs = 1'000'000;
// The first picture comes sooner than an interval.
constexpr int64_t kFirstDrawNs = 300 * kMs;
// New output of the program is shown so often.
constexpr int64_t kOutputDrawNs = 250 * kMs;
constexpr int kHoldPollMs = 100;
constexpr size_t kOutputLines = 1000;

Weight WeightOf(const CollectOptions& collect) {
  return collect.mode == Mode::kCpu ? Weight::kCpu : Weight::kWall;
}

// Of the signals that a run handles, those that mean its end.
bool Ends(int signal) { return signal != SIGUSR1 && signal != SIGUSR2; }

bool HasEnded(int pid) {
  const auto stat = ReadStat(pid);
  return !stat || stat->has_ended();
}

// What the view and the plain text have in common: the model, its sources, and the facts beside.
class Watcher : public SessionObserver {
 public:
  Watcher(const TopRun& run, std::shared_ptr<ProjectScope> scope)
      : run_(run),
        model_([this](const CodeInfo& code, const TopModel::Process& process) {
          return Judge(code, process);
        }),
        judge_(MakeFileJudge(scope, run.scope.working_directory, run.code)) {
    facts_.title = run.title;
    facts_.rate_hz = run.collect.rate_hz;
    facts_.consistency = run.collect.consistency;
    facts_.project_root = scope->root();
    facts_.working_directory = run.scope.working_directory;
  }

  void OnStart(int pid, int64_t now_ns) override {
    facts_.pid = pid;
    start_ns_ = now_ns;
    sources_.SetProcess(pid, run_.scope.working_directory);
  }
  void OnBatch(const Batch& batch) override { model_.Apply(batch); }
  void OnSamplingEnd() override { facts_.sampling = false; }

 protected:
  bool Judge(const CodeInfo& code, const TopModel::Process& process) {
    const auto answer = judge_({.pid = process.pid,
                                .file = code.file,
                                .stdlib_dir = {},
                                .process_start_unix_ns = process.start_unix_ns,
                                .function_name = code.name,
                                .first_line = code.first_line});
    if (answer.snapshot) sources_.Add(*answer.snapshot);
    return answer.in_project;
  }
  [[nodiscard]] int64_t interval_ns() const { return std::llround(run_.interval_s * 1e9); }

  const TopRun& run_;
  TopModel model_;
  FileJudge judge_;
  TopSources sources_;
  TopFacts facts_;
  int64_t start_ns_ = 0;
};

// Tables as plain text, one an interval. They go to standard output, or, beside a launched program,
// whose that is, to standard error.
class BatchWatcher : public Watcher {
 public:
  using Watcher::Watcher;

  [[nodiscard]] int fd() const override { return -1; }
  void OnSignal(int, bool) override {}

  void OnStart(int pid, int64_t now_ns) override {
    Watcher::OnStart(pid, now_ns);
    next_ns_ = now_ns + interval_ns();
  }
  bool OnWake(int64_t now_ns) override {
    if (!facts_.sampling) return false;
    if (now_ns < next_ns_) return true;
    next_ns_ = std::max(next_ns_ + interval_ns(), now_ns + interval_ns() / 2);
    Print(now_ns);
    return !Done();
  }
  void OnSamplingEnd() override {
    Watcher::OnSamplingEnd();
    // What came after the last full interval.
    if (!Done()) Print(MonotonicNs());
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] bool Done() const { return failed_ || (run_.count != 0 && printed_ >= run_.count); }
  void Print(int64_t now_ns) {
    model_.CloseInterval();
    facts_.elapsed_ns = now_ns - start_ns_;
    const int fd = run_.pid ? STDOUT_FILENO : STDERR_FILENO;
    TopRenderer renderer(&sources_, true);
    std::string text = printed_++ == 0 ? "" : "\n";
    text += renderer.Text(model_,
                          {.table = run_.table,
                           .span = TopSpan::kInterval,
                           .weight = WeightOf(run_.collect),
                           .sort = run_.sort,
                           .all_code = run_.all_code,
                           .filter = {}},
                          facts_, run_.rows, DescribeTerminal(fd).width);
    if (fd == STDOUT_FILENO) {
      failed_ = !WriteStdout(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    }
  }

  int64_t next_ns_ = 0;
  uint64_t printed_ = 0;
  bool failed_ = false;
};

// The live view. It is open from the start of the target until the user quits; a program that still
// runs then goes on printing to the terminal.
class LiveWatcher : public Watcher {
 public:
  LiveWatcher(const TopRun& run, std::shared_ptr<ProjectScope> scope, ProgramOutput* output)
      : Watcher(run, std::move(scope)),
        output_(output),
        view_({.table = run.table,
               .sort = run.sort,
               .weight = WeightOf(run.collect),
               .all_code = run.all_code,
               .has_output = output != nullptr}),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  [[nodiscard]] int fd() const override { return epoll_.get(); }

  void OnStart(int pid, int64_t now_ns) override {
    Watcher::OnStart(pid, now_ns);
    if (output_ != nullptr) {
      output_->CloseStreams();
      facts_.output_place = output_->Place();
      Watch(output_->fd());
    }
    auto terminal = TopTerminal::Open();
    if (!terminal) {
      PrintError(terminal.error().what);
      Leave();
      return;
    }
    terminal_ = *std::move(terminal);
    Watch(terminal_->fd());
    renderer_.emplace(&sources_, terminal_->unicode());
    next_interval_ns_ = now_ns + std::min(kFirstDrawNs, interval_ns());
    Draw(now_ns);
  }

  bool OnWake(int64_t now_ns) override {
    if (output_ != nullptr && output_->Take()) output_is_new_ = true;
    if (terminal_ == nullptr) return false;
    bool draw = TakeKeys();
    if (terminal_ == nullptr) return false;
    if (facts_.sampling && now_ns >= next_interval_ns_) {
      next_interval_ns_ = now_ns + interval_ns();
      model_.CloseInterval();
      draw = true;
    }
    if (output_is_new_ && now_ns >= next_output_ns_) {
      next_output_ns_ = now_ns + kOutputDrawNs;
      draw = true;
    }
    if (draw) Draw(now_ns);
    return true;
  }

  void OnSignal(int signal, bool from_terminal) override {
    if (!Ends(signal)) return;
    // Ctrl-C and Ctrl-\ reach the program, whose end is worth a look; everything else means us,
    // too.
    const bool interrupt = signal == SIGINT || signal == SIGQUIT;
    if (run_.pid || !from_terminal || !interrupt) leave_at_end_ = true;
  }

  void OnSamplingEnd() override {
    Watcher::OnSamplingEnd();
    end_ns_ = MonotonicNs();
    if (run_.pid && leave_at_end_) Leave();
    if (terminal_ != nullptr) Draw(end_ns_);
    if (terminal_ == nullptr && !run_.pid && !run_.quiet && !HasEnded(facts_.pid)) {
      PrintNote(fmt::format("{} (pid {}) goes on; its output follows, Ctrl-C interrupts it",
                            Printable(run_.title), facts_.pid));
    }
  }

  // The last view, until the user quits.
  void Hold(const SessionResult& result) {
    if (terminal_ == nullptr || leave_at_end_) return Leave();
    facts_.sampling = false;
    facts_.failed = !result.end.error.empty();
    if (facts_.failed) {
      facts_.outcome = result.end.error;
    } else if (result.end.exit_code) {
      facts_.outcome = fmt::format("exit status {}", *result.end.exit_code);
    } else if (HasEnded(facts_.pid)) {
      facts_.outcome = "ended";
    }
    const auto signals = SignalWatch::Install();
    if (!signals) return Leave();
    Draw(MonotonicNs());
    while (terminal_ != nullptr) {
      pollfd events[2] = {{epoll_.get(), POLLIN, 0}, {(*signals)->fd(), POLLIN, 0}};
      ::poll(events, 2, kHoldPollMs);
      while (const auto event = (*signals)->Take()) {
        if (Ends(event->number)) return Leave();
      }
      OnWake(MonotonicNs());
    }
  }

  // Gives the terminal back, and prints what the program has printed.
  void Leave() {
    terminal_.reset();
    if (output_ == nullptr) return;
    output_->PassOn(STDOUT_FILENO);
  }

 private:
  void Watch(int fd) {
    if (fd < 0) return;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  // True when there is something new to see.
  bool TakeKeys() {
    bool any = false;
    while (const auto key = terminal_->Take()) {
      any = true;
      switch (view_.OnKey(*key)) {
        case TopAction::kNone:
          break;
        case TopAction::kQuit:
          Leave();
          return false;
        case TopAction::kReset:
          frozen_.reset();
          model_.Reset();
          break;
        case TopAction::kPause:
          frozen_.reset();
          if (view_.paused()) frozen_.emplace(model_);
          break;
        case TopAction::kRedraw:
          terminal_->Redraw();
          break;
      }
    }
    if (terminal_->gone()) {
      Leave();
      return false;
    }
    if (terminal_->TakeResized()) {
      any = true;
      if (output_ != nullptr) output_->Resize(terminal_->width(), terminal_->height());
    }
    return any;
  }

  void Draw(int64_t now_ns) {
    if (!frozen_) facts_.elapsed_ns = (facts_.sampling ? now_ns : end_ns_) - start_ns_;
    if (output_ != nullptr) {
      output_is_new_ = false;
      const bool all = view_.tab() == TopTab::kOutput;
      facts_.output = output_->LastLines(all ? kOutputLines : TopRenderer::kPaneRows);
    }
    terminal_->Draw(renderer_->Render(frozen_ ? *frozen_ : model_, view_, facts_,
                                      terminal_->width(), terminal_->height()));
  }

  ProgramOutput* output_;  // none: attached
  TopView view_;
  UniqueFd epoll_;
  std::unique_ptr<TopTerminal> terminal_;  // none: the user has left
  std::optional<TopRenderer> renderer_;
  std::optional<TopModel> frozen_;  // what is shown while the view is paused
  int64_t next_interval_ns_ = 0, next_output_ns_ = 0, end_ns_ = 0;
  bool output_is_new_ = false;
  bool leave_at_end_ = false;
};

int Refuse(const Error& error) {
  PrintError(error.what);
  return ExitCodeFor(error.code);
}

int ExitStatus(const TopRun& run, const SessionResult& session) {
  if (run.pid) return kExitOk;
  if (session.end.term_signal) return 128 + *session.end.term_signal;
  return session.end.exit_code.value_or(kExitOk);
}

SessionOptions BuildSession(const TopRun& run) {
  SessionOptions session;
  session.command = run.command;
  session.pid = run.pid;
  CollectAs(run.collect, &session);
  session.run.command = run.shown_command;
  return session;
}

void PrintClosing(const TopRun& run, const SessionResult& session) {
  PrintDiagnostics(session.diagnostics, run.verbose);
  if (run.quiet) return;
  const ClosingFacts facts{run.title, run.pid.has_value(), run.collect.rate_hz, {}};
  const std::string text = ClosingBlock(facts, session, DescribeTerminal(STDERR_FILENO));
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// A session that could not begin.
int RefuseSession(const TopRun& run, const Error& error) {
  const int status = Refuse(error);
  // What the session can find wrong with a command is that the kernel will not execute it.
  return !run.pid && status == kExitUsage ? kExitNotRunnable : status;
}

int WatchInBatch(const TopRun& run, std::shared_ptr<ProjectScope> scope) {
  BatchWatcher watcher(run, std::move(scope));
  SessionOptions options = BuildSession(run);
  options.observer = &watcher;
  const auto session = RunSession(options);
  if (!session) return RefuseSession(run, session.error());
  PrintDiagnostics(session->diagnostics, run.verbose);
  if (watcher.failed()) {
    PrintError("cannot write to standard output: it is closed or full");
    return run.pid ? kExitFile : ExitStatus(run, *session);
  }
  return ExitStatus(run, *session);
}

int WatchInView(const TopRun& run, std::shared_ptr<ProjectScope> scope) {
  if (const Status usable = TopTerminal::Check(); !usable) return Refuse(usable.error());
  std::optional<ProgramOutput> output;
  SessionOptions options = BuildSession(run);
  if (!run.pid) {
    auto created = ProgramOutput::Create(run.output_file);
    if (!created) return Refuse(created.error());
    output = *std::move(created);
    options.streams = output->streams();
  }
  const TerminalGuard guard;
  LiveWatcher watcher(run, std::move(scope), output ? &*output : nullptr);
  options.observer = &watcher;
  const auto session = RunSession(options);
  if (!session) {
    watcher.Leave();
    return RefuseSession(run, session.error());
  }
  watcher.Hold(*session);
  if (output && output->lost_bytes() != 0) {
    PrintWarning(fmt::format(
        "{} bytes of the program's output are lost: no space for them where TMPDIR points to",
        output->lost_bytes()));
  }
  if (output && output->to_file() && !run.quiet)
    PrintNote("the program's output is in " + Printable(run.output_file));
  PrintClosing(run, *session);
  return ExitStatus(run, *session);
}

}  // namespace

int WatchLive(const TopRun& run) {
  auto scope = ProjectScope::Create(run.scope);
  if (!scope) return Refuse(scope.error());
  if (run.verbose) PrintNote(scope->Describe());
  auto shared = std::make_shared<ProjectScope>(*std::move(scope));
  return run.batch ? WatchInBatch(run, std::move(shared)) : WatchInView(run, std::move(shared));
}

}  // namespace linescope
