#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/option_types.h"
#include "cli/terminal.h"

namespace linescope {
namespace {

constexpr double kLowestRate = 1;
constexpr double kHighestRate = 1'000'000;

constexpr char kSampling[] = "Sampling";
constexpr char kProject[] = "Project";
constexpr char kResults[] = "Results";
constexpr char kOther[] = "Other";

// Throws as CLI11's own conversions do.
std::pair<std::string, std::string> SplitLabel(const std::string& label) {
  const size_t equals = label.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw CLI::ValidationError(
        fmt::format("--label: '{}' is not of the form KEY=VALUE", Printable(label)),
        CLI::ExitCodes::ValidationError);
  return {label.substr(0, equals), label.substr(equals + 1)};
}

}  // namespace

void AddSamplingOptions(CLI::App& app, CollectOptions* options) {
  AddValue(app,
           {"--rate", "HZ",
            "samples a second of each thread, 1 to 1000000 (default 1000); the intervals vary at "
            "random around it",
            kSampling},
           [options](const std::string& text) -> std::string {
             const auto rate = ParseNumber(text);
             if (!rate || *rate < kLowestRate || *rate > kHighestRate)
               return "is not a number of samples a second from 1 to 1000000";
             options->rate_hz = *rate;
             return "";
           });
  AddChoice<Mode>(
      app,
      {"--mode", "",
       options->mode == Mode::kCpu
           ? "what counts as time: all of it (wall), only time on a CPU (cpu, the default), or "
             "only "
             "time holding the GIL"
           : "what counts as time: all of it (wall, the default), only time on a CPU, or only time "
             "holding the GIL",
       kSampling},
      {{"wall", Mode::kWall}, {"cpu", Mode::kCpu}, {"gil", Mode::kGil}}, &options->mode);
  app.add_flag_function(
         "--idle,!--no-idle", [options](int64_t count) { options->idle = count > 0; },
         "in mode wall: count idle threads, too (the default), or not; idle is a thread that has "
         "slept for a second or more, or that has no Python code to return to")
      ->group(kSampling);
  AddFlag(app,
          {"--gc,!--no-gc", "",
           "mark the time in the garbage collector, as a function of its own on top of the line "
           "that set it off",
           kSampling},
          &options->gc);
  AddChoice<Consistency>(
      app,
      {"--consistency", "",
       "how a moving program is read: from the CPU it runs on (pinned: exact, costs it about 1 %), "
       "from beside it (free: no cost, a few torn samples), or stopping it for each sample "
       "(stop); auto, the default, chooses between the first two",
       kSampling},
      {{"auto", Consistency::kAuto},
       {"pinned", Consistency::kPinned},
       {"free", Consistency::kFree},
       {"stop", Consistency::kStop}},
      &options->consistency);
  AddFlag(app,
          {"--subprocesses,!--no-subprocesses", "",
           options->subprocesses
               ? "profile the processes that the program starts, too, in the same report (the "
                 "default), or only the program itself"
               : "profile the processes that the program has started and will start, too, in the "
                 "same report, or only the program itself (the default)",
           kSampling},
          &options->subprocesses);
  AddFlag(app,
          {"--switch-records,!--no-switch-records", "",
           "let the kernel record when threads get onto a CPU and off it, where it may (the "
           "default; costs the program about 1 us a switch), or ask /proc at each sample instead",
           kSampling},
          &options->switch_records);
  AddFlag(app,
          {"--async", "",
           "stacks of asyncio's tasks instead of the loop that runs them: a task's frames stand on "
           "its name, and that on the frames of the task that awaits it; tasks that wait count too "
           "(mode wall)",
           kSampling},
          &options->tasks);
  AddValue(app,
           {"--duration", "TIME",
            "stop profiling after this long (10, 250ms, 2m, 1h); the program goes on", kSampling},
           [options](const std::string& text) -> std::string {
             options->duration_s = ParseSeconds(text);
             return options->duration_s.value_or(0) > 0
                        ? ""
                        : "is not a time above 0: give seconds, or a number with ms, s, m or h";
           });
  AddValue(app, {"--delay", "TIME", "start profiling this long after the start", kSampling},
           [options](const std::string& text) -> std::string {
             const auto delay = ParseSeconds(text);
             if (!delay) return "is not a time: give seconds, or a number with ms, s, m or h";
             options->delay_s = *delay;
             return "";
           });
}

void AddProjectOptions(CLI::App& app, CollectOptions* options) {
  AddText(app,
          {"--project-root", "FOLDER",
           "the folder of your own code; default: the nearest one above the script with "
           "pyproject.toml, setup.cfg, setup.py or .git, else the script's own",
           kProject},
          &options->project_root);
  AddList(app,
          {"--include", "PATTERN",
           "files (a glob) or modules (a name) that count as your code too, wherever they are; may "
           "be repeated",
           kProject},
          &options->includes);
  AddList(app,
          {"--exclude", "PATTERN",
           "files or modules that do not count as your code; may be repeated", kProject},
          &options->excludes);
}

void AddCollectOptions(CLI::App& app, CollectOptions* options) {
  AddSamplingOptions(app, options);
  AddFlag(app,
          {"--native", "",
           "compiled code too: the C, C++, Rust and Cython functions between the Python ones; a "
           "thread that runs is stopped for each sample, one that waits is left alone",
           kSampling},
          &options->native);
  AddProjectOptions(app, options);
  AddText(app, {"--title", "TEXT", "the report's title", kResults}, &options->title);
  app.add_option_function<std::vector<std::string>>(
         "--label",
         [options](const std::vector<std::string>& labels) {
           options->labels.clear();
           for (const std::string& label : labels) options->labels.push_back(SplitLabel(label));
         },
         "a fact to keep with the profile, such as commit=1a2b3c; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kResults);
}

std::string ContradictionIn(const CollectOptions& options) {
  if (options.idle.value_or(false) && options.mode != Mode::kWall) {
    return fmt::format(
        "--idle counts threads that sleep, which --mode {} leaves out: {}; choose one of the two",
        ModeName(options.mode),
        options.mode == Mode::kCpu ? "they have no time on a CPU" : "they do not hold the GIL");
  }
  if (options.native && options.consistency != Consistency::kAuto &&
      options.consistency != Consistency::kStop) {
    return fmt::format(
        "--native contradicts --consistency {}: the registers of a thread that runs can only be "
        "read when it is stopped",
        ConsistencyName(options.consistency));
  }
  if (options.native && options.tasks) {
    return "--native and --async are two views of a stack, which cannot be had together: a task "
           "that waits has no native frames";
  }
  return "";
}

void AddAiOption(CLI::App& app, const std::string& group, bool* ai) {
  AddFlag(app,
          {"--ai,!--no-ai", "",
           "let the report's reader choose a model server to ask for suggestions (the default: it "
           "connects to nothing before that), or write a report that cannot connect at all",
           group},
          ai);
}

void AddResultOptions(CLI::App& app, ResultOptions* options) {
  AddList(app,
          {"-o,--output", "FILE",
           "write this file instead of the default report and profile; what it is follows from its "
           "ending (.html, .svg, .speedscope.json, ...: see linescope export --help); may be "
           "repeated; %p pid, %h host, %t time, %n program, %r "
           "rank",
           kResults},
          &options->outputs);
  AddList(app,
          {"--format", "FORMAT",
           "html, collapsed, ..., where the ending does not tell; once for every --output, or once "
           "for all",
           kResults},
          &options->formats);
  AddText(
      app,
      {"--profile", "FILE",
       "keep the profile here (.linescope): reports and exports are made from it later", kResults},
      &options->profile);
  AddAiOption(app, kResults, &options->ai);
  AddChoice<Display>(
      app,
      {"--display", "",
       "afterwards: open the report, print the hottest lines, or neither (default: "
       "browser with a display, else summary)",
       kResults},
      {{"browser", Display::kBrowser}, {"summary", Display::kSummary}, {"none", Display::kNone}},
      &options->display);
  AddFlag(app, {"--quiet,-q", "", "say nothing but warnings and errors", kOther}, &options->quiet);
  AddFlag(app, {"--verbose,-v", "", "say what was decided and why", kOther}, &options->verbose);
}

void AddPythonOption(CLI::App& app, std::string* python) {
  AddText(app,
          {"--python", "FILE",
           "the interpreter, or its virtual environment's folder; default: the active "
           "environment's, else python3 on PATH; not for -- PROGRAM",
           kOther},
          python);
}

void AddHelpOption(CLI::App& app) { app.set_help_flag("--help,-h", "this text")->group(kOther); }

void CollectAs(const CollectOptions& options, SessionOptions* session) {
  session->subprocesses = options.subprocesses;
  session->rate_hz = options.rate_hz;
  session->mode = options.mode;
  session->consistency = options.consistency;
  session->switch_records = options.switch_records;
  session->gc = options.gc;
  session->tasks = options.tasks;
  session->native = options.native;
  session->duration_s = options.duration_s;
  session->delay_s = options.delay_s;
}

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

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kWall:
      return "wall";
    case Mode::kCpu:
      return "cpu";
    case Mode::kGil:
      return "gil";
  }
  return "";
}

}  // namespace linescope
