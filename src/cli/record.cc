#include "cli/record.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "cli/browser.h"
#include "cli/closing.h"
#include "cli/exit_codes.h"
#include "cli/hot_tables.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "cli/write_output.h"
#include "profile/reader.h"
#include "source/snapshot.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSummaryLines = 5;

RunInfo DescribeRunInfo(const Recording& recording, const ProjectScope& scope,
                        const Placeholders& values) {
  const CollectOptions& collect = recording.collect;
  RunInfo run;
  run.title = collect.title.empty() ? recording.title : collect.title;
  run.command = recording.shown_command;
  run.working_directory = recording.scope.working_directory;
  run.host = values.host;
  run.linescope_version = kVersion;
  run.mode = ModeName(collect.mode);
  run.consistency = ConsistencyName(collect.consistency);
  run.rate_hz = collect.rate_hz;
  run.started_unix_ns = RealtimeNs();
  run.attached = recording.pid.has_value();
  run.project_root = scope.root();
  run.includes = collect.includes;
  run.excludes = collect.excludes;
  run.labels = collect.labels;
  return run;
}

// Judges files and takes snapshots of those that are the project's.
auto FileJudge(std::shared_ptr<ProjectScope> scope, const Recording& recording) {
  return [scope = std::move(scope), code = recording.code,
          working_directory =
              recording.scope.working_directory](const SessionOptions::FileRequest& request) {
    SessionOptions::FileAnswer answer;
    ScopeFile file;
    file.file = request.file;
    file.stdlib_dir = request.stdlib_dir;
    answer.in_project = scope->InProject(file);
    if (!answer.in_project) return answer;
    SnapshotRequest snapshot;
    snapshot.file = request.file;
    snapshot.pid = request.pid;
    snapshot.working_directory = working_directory;
    snapshot.process_start_unix_ns = request.process_start_unix_ns;
    snapshot.in_project = true;
    snapshot.code = code;
    snapshot.function_name = request.function_name;
    snapshot.first_line = static_cast<uint32_t>(std::max(0, request.first_line));
    answer.snapshot = TakeSnapshot(snapshot);
    return answer;
  };
}

SessionOptions BuildSession(const Recording& recording, const OutputPlan& plan, RunInfo run,
                            std::shared_ptr<ProjectScope> scope) {
  SessionOptions session;
  session.command = recording.command;
  session.pid = recording.pid;
  session.subprocesses = recording.collect.subprocesses;
  session.rate_hz = recording.collect.rate_hz;
  session.mode = recording.collect.mode;
  session.consistency = recording.collect.consistency;
  session.duration_s = recording.collect.duration_s;
  session.delay_s = recording.collect.delay_s;
  session.profile_path = plan.recording;
  session.run = std::move(run);
  session.on_file = FileJudge(std::move(scope), recording);
  return session;
}

void RemoveProfile(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix, ignored);
}

// Where the results of one run went.
struct Results {
  std::vector<std::pair<std::string, std::string>> places;
  std::string report;  // the first HTML file
  bool complete = true;
};

// The profile gets its final name, or goes away when nobody asked for it and everything else was
// written.
void SettleProfile(const OutputPlan& plan, int pid, Results* results) {
  std::string kept = plan.recording;
  if (plan.profile.empty() && results->complete) {
    RemoveProfile(plan.recording);
    return;
  }
  if (!plan.profile.empty() && plan.profile != plan.recording) {
    const std::string wanted = WithPid(plan.profile, pid);
    std::error_code error;
    fs::rename(plan.recording, wanted, error);
    if (error == std::errc::cross_device_link) {
      error.clear();
      if (fs::copy_file(plan.recording, wanted, fs::copy_options::overwrite_existing, error))
        RemoveProfile(plan.recording);
    }
    if (error) {
      PrintError(
          fmt::format("cannot name the profile '{}': {}", Printable(wanted), error.message()));
      results->complete = false;
    } else {
      kept = wanted;
    }
  }
  results->places.emplace_back("profile", kept);
  if (!results->complete && !results->report.empty()) return;
  if (!results->complete)
    PrintNote(
        fmt::format("nothing is lost: linescope report '{}' makes the report from the profile",
                    Printable(kept)));
}

void WriteResults(const OutputPlan& plan, ProfileReader& reader, const Profile& profile,
                  Results* results) {
  const int pid = reader.processes().empty() ? 0 : reader.processes()[0].pid;
  for (const OutputFile& file : plan.files) {
    const std::string path = WithPid(file.path, pid);
    if (const Status written = WriteOutput(reader, profile, path, file.format); !written) {
      PrintError(written.error().what);
      results->complete = false;
      continue;
    }
    const bool html = file.format == OutputFormat::kHtml;
    results->places.emplace_back(html ? "report" : FormatName(file.format), path);
    if (html && results->report.empty()) results->report = path;
  }
}

void PrintToStderr(const std::string& text) {
  std::fflush(stderr);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void PrintDiagnostics(const std::vector<Diagnostic>& diagnostics, const ResultOptions& options) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.level == "error") {
      PrintError(diagnostic.text);
    } else if (diagnostic.level == "warning") {
      PrintWarning(diagnostic.text);
    } else if (options.verbose) {
      PrintNote(diagnostic.text);
    }
  }
}

Display ChooseDisplay(const ResultOptions& options, const Results& results) {
  const Display wanted = options.display.value_or(Display::kBrowser);
  if (wanted == Display::kBrowser && (results.report.empty() || !HaveDisplay()))
    return Display::kSummary;
  return wanted;
}

void Present(const Recording& recording, const SessionResult& session, const Results& results,
             ProfileReader* reader, const Profile* profile) {
  const ResultOptions& options = recording.results;
  PrintDiagnostics(session.diagnostics, options);
  const Display display = ChooseDisplay(options, results);
  if (!options.quiet) {
    const Terminal terminal = DescribeTerminal(STDERR_FILENO);
    ClosingFacts facts{recording.title, recording.pid.has_value(), recording.collect.rate_hz,
                       results.places};
    std::string text = ClosingBlock(facts, session, terminal);
    if (display == Display::kSummary && profile != nullptr) {
      RankOptions rank;
      rank.limit = kSummaryLines;
      const std::string lines = HotLinesTable(*reader, *profile, rank, terminal);
      text += lines.empty() ? "  no sample fell on a line of your code; --include and "
                              "--project-root say what that is\n"
                            : "\n" + lines;
    }
    PrintToStderr(text);
  }
  if (display == Display::kBrowser) {
    if (const Status opened = OpenInBrowser(results.report); !opened)
      PrintWarning(opened.error().what);
  }
}

int ExitStatus(const Recording& recording, const SessionResult& session, const Results& results) {
  if (recording.pid) return results.complete ? kExitOk : kExitFile;
  if (session.end.term_signal) return 128 + *session.end.term_signal;
  return session.end.exit_code.value_or(kExitOk);
}

int Refuse(const Error& error) {
  PrintError(error.what);
  return ExitCodeFor(error.code);
}

}  // namespace

int Record(const Recording& recording) {
  const Placeholders values = DescribeRun(recording.name, recording.pid);
  const auto plan = PlanOutputs(
      {recording.results.outputs, recording.results.formats, recording.results.profile}, values);
  if (!plan) return Refuse(plan.error());
  auto scope = ProjectScope::Create(recording.scope);
  if (!scope) return Refuse(scope.error());
  if (recording.results.verbose) PrintNote(scope->Describe());

  std::error_code ignored;
  const bool replaces = fs::exists(plan->recording, ignored);
  RunInfo run = DescribeRunInfo(recording, *scope, values);
  const auto session = RunSession(BuildSession(recording, *plan, std::move(run),
                                               std::make_shared<ProjectScope>(std::move(*scope))));
  if (!session) {
    if (!replaces) RemoveProfile(plan->recording);
    const int status = Refuse(session.error());
    // What the session can find wrong with a command is that the kernel will not execute it.
    return !recording.pid && status == kExitUsage ? kExitNotRunnable : status;
  }

  Results results;
  if (!session->store) {
    PrintError(session->store.error().what + "; the profile holds what was stored until then");
    results.complete = false;
  }
  std::optional<Profile> profile;
  auto reader = ProfileReader::Open(plan->recording);
  int pid = recording.pid.value_or(0);
  if (reader) {
    auto loaded = (*reader)->Load();
    if (loaded) {
      profile = std::move(*loaded);
      WriteResults(*plan, **reader, *profile, &results);
      if (!(*reader)->processes().empty()) pid = (*reader)->processes()[0].pid;
    } else {
      PrintError(loaded.error().what);
      results.complete = false;
    }
  } else {
    PrintError(reader.error().what);
    results.complete = false;
  }
  SettleProfile(*plan, pid, &results);
  Present(recording, *session, results, reader ? reader->get() : nullptr,
          profile ? &*profile : nullptr);
  return ExitStatus(recording, *session, results);
}

}  // namespace linescope
