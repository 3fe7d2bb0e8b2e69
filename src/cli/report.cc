#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/browser.h"
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

const HelpText kHelp = {
    "report [options] PROFILE",
    R"(Writes the HTML report of a stored profile: one file that needs no network and
nothing beside it.)",
    R"(Example:
  linescope report linescope-app.linescope -o app.html)"};

}  // namespace

int ReportMain(const Arguments& arguments) {
  std::string profile_path, output;
  bool open = false, ai = true;
  CLI::App app("", "report");
  app.add_option("PROFILE", profile_path, "a .linescope file")->required();
  AddText(app,
          {"-o,--output", "FILE", "where to write; default: beside the profile, ending in .html",
           "Options"},
          &output);
  AddAiOption(app, "Options", &ai);
  AddFlag(app, {"--open", "", "open it in the browser", "Options"}, &open);
  AddHelpOption(app);
  if (const auto status = ParseArguments(app, kHelp, arguments)) return *status;
  if (output.empty())
    output = std::filesystem::path(profile_path).replace_extension(".html").string();

  const auto fail = [](const Error& error) -> int {
    PrintError(error.what);
    return ExitCodeFor(error.code);
  };
  const auto opened = OpenProfile(profile_path);
  if (!opened) return fail(opened.error());
  if (const Status place = CheckPlace(output, OutputFormat::kHtml); !place)
    return fail(place.error());
  if (const Status written = WriteOutput(*opened->reader, opened->profile, output,
                                         OutputFormat::kHtml, {.report = {.ai = ai}});
      !written)
    return fail(written.error());
  PrintNote("report: " + Printable(output));
  if (open) {
    if (const Status shown = OpenInBrowser(output); !shown) PrintWarning(shown.error().what);
  }
  return kExitOk;
}

}  // namespace linescope
