#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "cli/terminal.h"

namespace linescope {
namespace {

constexpr double kLowestRate = 1;
constexpr double kHighestRate = 1'000'000;

constexpr char kSampling[] = "Sampling";
constexpr char kProject[] = "Project";
constexpr char kResults[] = "Results";
constexpr char kOther[] = "Other";

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// An option whose text is converted by `convert`, which returns a complaint or an empty string.
template <class Convert>
CLI::Option* AddConverted(CLI::App& app, const std::string& names, const std::string& type,
                          const std::string& description, Convert convert) {
  const std::string name = names.substr(names.rfind("--"));
  auto callback = [name, convert](const std::string& text) {
    if (const std::string complaint = convert(text); !complaint.empty())
      throw CLI::ValidationError(fmt::format("{}: '{}' {}", name, Printable(text), complaint),
                                 CLI::ExitCodes::ValidationError);
  };
  CLI::Option* option = app.add_option_function<std::string>(names, callback, description);
  // Given twice, the last one holds, as users of every other tool expect.
  return option->type_name(type)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

template <class Enum>
CLI::Option* AddChoice(CLI::App& app, const std::string& names,
                       std::vector<std::pair<std::string, Enum>> choices,
                       const std::string& description, std::function<void(Enum)> store) {
  std::string type;
  for (const auto& choice : choices) type += (type.empty() ? "" : "|") + choice.first;
  return AddConverted(app, names, type, description,
                      [choices = std::move(choices), type, store](const std::string& text) {
                        for (const auto& [name, value] : choices) {
                          if (name != text) continue;
                          store(value);
                          return std::string();
                        }
                        return "is not one of " + type;
                      });
}

// One value each time; every one is kept.
CLI::Option* AddList(CLI::App& app, const std::string& names, std::vector<std::string>* list,
                     const std::string& type, const std::string& description) {
  return app.add_option(names, *list, description)->type_name(type)->allow_extra_args(false);
}

CLI::Option* AddText(CLI::App& app, const std::string& names, std::string* text,
                     const std::string& type, const std::string& description) {
  return app.add_option(names, *text, description)
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void AddSamplingOptions(CLI::App& app, CollectOptions* options) {
  AddConverted(app, "--rate", "HZ",
               "samples a second of each thread, 1 to 1000000 (default 1000); the intervals vary "
               "at random around it",
               [options](const std::string& text) -> std::string {
                 const auto rate = ParseNumber(text);
                 if (!rate || *rate < kLowestRate || *rate > kHighestRate)
                   return "is not a number of samples a second from 1 to 1000000";
                 options->rate_hz = *rate;
                 return "";
               })
      ->group(kSampling);
  AddChoice<Mode>(app, "--mode", {{"wall", Mode::kWall}, {"cpu", Mode::kCpu}},
                  "what counts as time: all of it (wall, the default) or only time on a CPU",
                  [options](Mode mode) { options->mode = mode; })
      ->group(kSampling);
  AddChoice<Consistency>(app, "--consistency",
                         {{"auto", Consistency::kAuto},
                          {"pinned", Consistency::kPinned},
                          {"free", Consistency::kFree},
                          {"stop", Consistency::kStop}},
                         "how a moving program is read: from the CPU it runs on (pinned: exact, "
                         "costs it about 1 %), from beside it (free: "
                         "no cost, a few torn samples), or stopping it for each sample (stop); "
                         "auto, the default, chooses between the first two",
                         [options](Consistency consistency) { options->consistency = consistency; })
      ->group(kSampling);
  const auto seconds = [](auto* target) {
    return [target](const std::string& text) -> std::string {
      const auto value = ParseSeconds(text);
      if (!value) return "is not a time: give seconds, or a number with ms, s, m or h";
      *target = *value;
      return "";
    };
  };
  AddConverted(app, "--duration", "TIME",
               "stop profiling after this long (10, 250ms, 2m, 1h); the program goes on",
               [options](const std::string& text) -> std::string {
                 const auto value = ParseSeconds(text);
                 if (!value || *value == 0)
                   return "is not a time above 0: give seconds, or a number with ms, s, m or h";
                 options->duration_s = *value;
                 return "";
               })
      ->group(kSampling);
  AddConverted(app, "--delay", "TIME", "start profiling this long after the start",
               seconds(&options->delay_s))
      ->group(kSampling);
}

}  // namespace

void AddCollectOptions(CLI::App& app, CollectOptions* options) {
  AddSamplingOptions(app, options);
  AddText(app, "--project-root", &options->project_root, "FOLDER",
          "the folder of your own code; default: the nearest one above the script with "
          "pyproject.toml, setup.cfg, setup.py "
          "or .git, else the script's own")
      ->group(kProject);
  AddList(app, "--include", &options->includes, "PATTERN",
          "files (a glob) or modules (a name) that count as your code too, wherever they are; may "
          "be repeated")
      ->group(kProject);
  AddList(app, "--exclude", &options->excludes, "PATTERN",
          "files or modules that do not count as your code; may be repeated")
      ->group(kProject);
  AddText(app, "--title", &options->title, "TEXT", "the report's title")->group(kResults);
  app.add_option_function<std::vector<std::string>>(
         "--label",
         [options](const std::vector<std::string>& labels) {
           options->labels.clear();
           for (const std::string& label : labels) {
             const size_t equals = label.find('=');
             if (equals == 0 || equals == std::string::npos)
               throw CLI::ValidationError(
                   fmt::format("--label: '{}' is not of the form KEY=VALUE", Printable(label)),
                   CLI::ExitCodes::ValidationError);
             options->labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
           }
         },
         "a fact to keep with the profile, such as commit=1a2b3c; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kResults);
}

void AddResultOptions(CLI::App& app, ResultOptions* options) {
  AddList(app, "-o,--output", &options->outputs, "FILE",
          "write this file instead of the default report and profile; what it is follows from its "
          "ending (.html, "
          ".collapsed); may be repeated; %p pid, %h host, %t time, %n program, %r rank")
      ->group(kResults);
  AddList(
      app, "--format", &options->formats, "FORMAT",
      "html or collapsed, where the ending does not tell; once for every --output, or once for all")
      ->group(kResults);
  AddText(app, "--profile", &options->profile, "FILE",
          "keep the profile here (.linescope): reports and exports are made from it later")
      ->group(kResults);
  AddChoice<Display>(
      app, "--display",
      {{"browser", Display::kBrowser}, {"summary", Display::kSummary}, {"none", Display::kNone}},
      "afterwards: open the report, print the hottest lines, or neither (default: browser with a "
      "display, else "
      "summary)",
      [options](Display display) { options->display = display; })
      ->group(kResults);
  app.add_flag("--quiet,-q", options->quiet, "say nothing but warnings and errors")->group(kOther);
  app.add_flag("--verbose,-v", options->verbose, "say what was decided and why")->group(kOther);
}

void AddHelpOption(CLI::App& app) { app.set_help_flag("--help,-h", "this text")->group(kOther); }

const char* ConsistencyName(Consistency consistency) {
  switch (consistency) {
    case Consistency::kAuto:
      return "auto";
    case Consistency::kPinned:
      return "pinned";
    case Consistency::kFree:
      return "free";
    case Consistency::kStop:
      return "stop";
  }
  return "";
}

const char* ModeName(Mode mode) { return mode == Mode::kCpu ? "cpu" : "wall"; }

std::optional<int> ParsePid(const std::string& text) {
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::optional<double> ParseSeconds(const std::string& text) {
  const size_t digits = text.find_last_of("0123456789.");
  if (digits == std::string::npos) return std::nullopt;
  const std::string unit = text.substr(digits + 1);
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "m"               ? 60
                       : unit == "h"               ? 3600
                                                   : 0;
  const auto value = ParseNumber(std::string_view(text).substr(0, digits + 1));
  if (scale == 0 || !value || *value < 0) return std::nullopt;
  return *value * scale;
}

}  // namespace linescope
