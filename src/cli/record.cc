#include "cli/record.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "cli/arguments.h"
#include "cli/browser.h"
#include "cli/closing.h"
#include "cli/exit_codes.h"
#include "cli/file_judge.h"
#include "cli/find_process.h"
#include "cli/hot_tables.h"
#include "cli/outputs.h"
#include "cli/report_so_far.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "cli/write_output.h"
#include "process/namespaces.h"
#include "profile/reader.h"

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
  run.idle = collect.idle.value_or(true);
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

SessionOptions BuildSession(const Recording& recording, const OutputPlan& plan, RunInfo run,
                            std::shared_ptr<ProjectScope> scope) {
  SessionOptions session;
  session.command = recording.command;
  session.pid = recording.pid;
  CollectAs(recording.collect, &session);
  session.profile_path = plan.recording;
  session.run = std::move(run);
  session.on_file =
      MakeFileJudge(std::move(scope), recording.scope.working_directory, recording.code);
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

void WriteResults(const OutputPlan& plan, bool ai, ProfileReader& reader, const Profile& profile,
                  Results* results) {
  const int pid = reader.processes().empty() ? 0 : reader.processes()[0].pid;
  for (const OutputFile& file : plan.files) {
    const std::string path = WithPid(file.path, pid);
    if (const Status written =
            WriteOutput(reader, profile, path, file.format, {.report = {.ai = ai}});
        !written) {
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

Display ChooseDisplay(const ResultOptions& options, const Results& results) {
  const Display wanted = options.display.value_or(Display::kBrowser);
  if (wanted == Display::kBrowser && (results.report.empty() || !HaveDisplay()))
    return Display::kSummary;
  return wanted;
}

void Present(const Recording& recording, const SessionResult& session, const Results& results,
             ProfileReader* reader, const Profile* profile) {
  const ResultOptions& options = recording.results;
  PrintDiagnostics(session.diagnostics, options.verbose);
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
  if (const Status proc = CheckProc(); !proc) return Refuse(proc.error());
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
  SessionOptions options = BuildSession(recording, *plan, std::move(run),
                                        std::make_shared<ProjectScope>(std::move(*scope)));
  ReportSoFar so_far(&*plan, recording.results.ai);
  options.on_look = [&so_far](int pid) { so_far.Begin(pid); };
  const auto session = RunSession(options);
  so_far.Wait();
  if (!session) {
    if (!replaces) RemoveProfile(plan->recording);
    const int status = Refuse(session.error());
    if (recording.pid) PrintPidHint(*recording.pid);
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
      WriteResults(*plan, recording.results.ai, **reader, *profile, &results);
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
