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
#include "profile/collapsed.h"

namespace linescope {
namespace {

const HelpText kHelp = {"export [options] PROFILE", "Converts a stored profile for other tools.",
                        R"(Formats:
  collapsed   one line a stack, 'outermost;...;innermost samples', as flame graph
              tools read it
  html        the report, as linescope report writes it

Examples:
  linescope export app.linescope --format collapsed | flamegraph.pl > app.svg
  linescope export app.linescope -o app.collapsed)"};

int Failed(const Error& error) {
  PrintError(error.what);
  return ExitCodeFor(error.code);
}

}  // namespace

int ExportMain(const Arguments& arguments) {
  std::string profile_path, output, format_name;
  CLI::App app("", "export");
  app.add_option("PROFILE", profile_path, "a .linescope file")->required();
  AddText(app,
          {"-f,--format", "FORMAT", "collapsed or html; default: what the output's ending says",
           "Options"},
          &format_name);
  AddText(app, {"-o,--output", "FILE", "where to write; default: to standard output", "Options"},
          &output);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  if (format_name.empty() && output.empty())
    return ReportUsageError("export", "name the format with --format, or a file with --output");
  const auto format = format_name.empty() ? FormatOfFile(output) : FormatNamed(format_name);
  if (!format) return ReportUsageError("export", format.error().what);
  if (output.empty() && *format == OutputFormat::kHtml)
    return ReportUsageError("export", "a report is a file: name it with --output");

  const auto opened = OpenProfile(profile_path);
  if (!opened) return Failed(opened.error());
  if (output.empty()) {
    if (!WriteStdout(CollapsedText(opened->profile, opened->reader->threads(), {})))
      return Failed(
          Error{ErrorCode::kIo, fmt::format("cannot write to standard output: {}", ErrnoText())});
    return kExitOk;
  }
  if (const Status place = CheckPlace(output, *format); !place) return Failed(place.error());
  if (const Status written = WriteOutput(*opened->reader, opened->profile, output, *format);
      !written)
    return Failed(written.error());
  return kExitOk;
}

}  // namespace linescope
