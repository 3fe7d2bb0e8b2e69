#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/open_profile.h"
#include "cli/option_types.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "cli/write_output.h"

namespace linescope {
namespace {

HelpText Help() {
  return {"export [options] PROFILE", "Converts a stored profile for other tools.",
          "Formats, and the endings that tell them:\n" + FormatsHelp() + R"(
Each but collapsed holds the same total time as stats --json, that of threads
outside Python included; collapsed counts samples.

Examples:
  linescope export app.linescope -o app.speedscope.json
  linescope export app.linescope -o app.pb.gz && go tool pprof -top app.pb.gz
  linescope export app.linescope --format collapsed | flamegraph.pl > app.svg)"};
}

int Failed(const Error& error) {
  PrintError(error.what);
  return ExitCodeFor(error.code);
}

}  // namespace

int ExportMain(const Arguments& arguments) {
  std::string profile_path, output, format_name;
  ExportOptions options;
  CLI::App app("", "export");
  app.add_option("PROFILE", profile_path, "a .linescope file")->required();
  AddText(app,
          {"-f,--format", "FORMAT", "one of those below; default: what the output's ending says",
           "Options"},
          &format_name);
  AddText(app, {"-o,--output", "FILE", "where to write; default: to standard output", "Options"},
          &output);
  AddChoice<StackSplit>(
      app,
      {"--split", "",
       "collapsed and svg: what stacks stand on: nothing, their process, or their thread; auto, "
       "the default: their thread where there are several processes",
       "Options"},
      {{"auto", StackSplit::kAuto},
       {"none", StackSplit::kNone},
       {"process", StackSplit::kProcess},
       {"thread", StackSplit::kThread}},
      &options.split);
  bool ai = true;
  AddAiOption(app, "Options", &ai);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, Help(), arguments)) return *status;
  if (format_name.empty() && output.empty())
    return ReportUsageError("export", "name the format with --format, or a file with --output");
  const auto format = format_name.empty() ? FormatOfFile(output) : FormatNamed(format_name);
  if (!format) return ReportUsageError("export", format.error().what);
  if (options.split != StackSplit::kAuto && *format != OutputFormat::kCollapsed &&
      *format != OutputFormat::kSvg)
    return ReportUsageError("export", fmt::format("--split is for collapsed and svg; {} keeps "
                                                  "threads and processes apart by itself",
                                                  FormatName(*format)));
  if (output.empty() && *format == OutputFormat::kPprof && ::isatty(STDOUT_FILENO) == 1)
    return ReportUsageError("export", "pprof's format is binary: name a file with --output");
  if (output.empty() && *format == OutputFormat::kHtml)
    return ReportUsageError("export", "a report is a file: name it with --output");

  const auto opened = OpenProfile(profile_path);
  if (!opened) return Failed(opened.error());
  if (output.empty()) {
    const auto text = OutputText(*opened->reader, opened->profile, *format, options);
    if (!text) return Failed(text.error());
    if (!WriteStdout(*text))
      return Failed(
          Error{ErrorCode::kIo, fmt::format("cannot write to standard output: {}", ErrnoText())});
    return kExitOk;
  }
  if (const Status place = CheckPlace(output, *format); !place) return Failed(place.error());
  if (const Status written = WriteOutput(*opened->reader, opened->profile, output, *format,
                                         {.report = {.ai = ai}, .exports = options});
      !written)
    return Failed(written.error());
  return kExitOk;
}

}  // namespace linescope
