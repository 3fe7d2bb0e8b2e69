#include "cli/top_render.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "base/file_name.h"
#include "cli/figures.h"
#include "cli/terminal.h"
#include "report/format.h"

namespace linescope {
namespace {

constexpr double kHotShare = 0.5, kWarmShare = 0.1;
constexpr int kPaneMinHeight = 16;  // of the terminal, to have a pane of output
constexpr int kContext = 8;         // lines of source above and below
constexpr size_t kStacks = 5;
constexpr size_t kStackFrames = 40;
constexpr int kMinTextWidth = 8;

constexpr std::array<const char*, kTopTabCount> kTabs = {"Lines", "Functions", "Threads",
                                                         "Processes", "Output"};
constexpr std::array<const char*, kTopSortCount> kSorts = {"Time", "Self", "Total", "Name"};

// None wider than a terminal of 80 columns.
constexpr auto kHelpRows = std::to_array<std::array<const char*, 2>>({
    {"1 … 5, Tab", "lines, functions, threads, processes, the program's output"},
    {"↑ ↓ PgUp PgDn", "move; Home: to the top, where the hottest row is"},
    {"Enter", "the row's source, and the stacks that led to it; q: back"},
    {"/", "only rows with this text in their name or place; Esc: all"},
    {"s, r", "sort by the next column; turn the order round"},
    {"i", "since the start, or in the last interval only"},
    {"w", "count only time on a CPU, or all time (wall)"},
    {"a", "your own code, or all code"},
    {"p, Space", "hold the picture, or let it go on; sampling goes on"},
    {"z", "count from zero"},
    {"o", "show or hide the last lines of the program's output"},
    {"Ctrl-L", "draw the screen again"},
    {"q", "leave; the program goes on"},
    {"", ""},
    {"Time%", "time at a line and in the library code that it calls, but not"},
    {"", "in other lines of your own"},
    {"Self%", "time at the line itself"},
    {"Total%", "time at the line and in all that it calls"},
    {"", ""},
    {"", "100 % is one thread all of the time, as in top(1)."},
    {"", "Your own code is what lies under the project's root and is no"},
    {"", "installed package; see --project-root, --include, --exclude."},
});

std::string Percent(int64_t part_ns, int64_t whole_ns) {
  if (whole_ns <= 0) return "–";
  return fmt::format("{:.1f}",
                     100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns));
}

TopStyle Heat(int64_t part_ns, int64_t whole_ns) {
  if (whole_ns <= 0) return TopStyle::kPlain;
  const double share = static_cast<double>(part_ns) / static_cast<double>(whole_ns);
  return share >= kHotShare    ? TopStyle::kHot
         : share >= kWarmShare ? TopStyle::kWarm
                               : TopStyle::kPlain;
}

int Width(const TopRow& row) {
  int width = 0;
  for (const TopText& text : row) width += DisplayWidth(text.text);
  return width;
}

std::string Place(const std::string& file, int32_t line, const TopFacts& facts) {
  RunInfo run;
  run.project_root = facts.project_root;
  run.working_directory = facts.working_directory;
  const std::string path = ShortPath(file, run);
  return Printable(line > 0 ? fmt::format("{}:{}", path, line) : path);
}

// Seconds to hours, at the precision that a look every second can have.
std::string Clock(int64_t ns) {
  const int64_t tenths = ns / 100'000'000;
  if (tenths < 600) return fmt::format("{}.{} s", tenths / 10, tenths % 10);
  const int64_t s = tenths / 10;
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string ProcessState(const TopModel::Process& process) {
  if (!process.ended_ns) return "runs";
  if (!process.wait_status) return "ended";
  if (WIFSIGNALED(*process.wait_status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(*process.wait_status));
    return name != nullptr ? fmt::format("SIG{}", name) : "killed";
  }
  return fmt::format("exit {}", WEXITSTATUS(*process.wait_status));
}

// As short as it can be and still be known: the interpreter by its name, files from the project's
// root on.
std::string ShortCommand(const TopModel::Process& process, const TopFacts& facts) {
  RunInfo run;
  run.project_root = facts.project_root;
  run.working_directory = facts.working_directory;
  std::vector<std::string> words = process.command;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('/')) continue;
    words[i] = i == 0 ? std::string(FileName(words[i])) : ShortPath(words[i], run);
  }
  return Printable(JoinCommand(words));
}

std::string FunctionName(const TopModel::Function& function) {
  return Printable(function.qualified_name.empty() ? function.name : function.qualified_name);
}

}  // namespace

// Columns as wide as their cells, two blanks apart; the last one takes what is left.
struct TopRenderer::Table {
  struct Column {
    std::string heading;
    bool right = false;
    bool place = false;  // may be cut, at its start
  };
  std::vector<Column> columns;
  std::vector<std::vector<TopText>> rows;

  [[nodiscard]] std::vector<int> Widths(std::optional<int> width) const {
    std::vector<int> widths;
    int used = 0;
    int places = 0;
    for (size_t i = 0; i + 1 < columns.size(); ++i) {
      int column = DisplayWidth(columns[i].heading);
      for (const auto& row : rows) column = std::max(column, DisplayWidth(row[i].text));
      widths.push_back(column);
      places += columns[i].place ? 1 : 0;
      if (!columns[i].place) used += column + 2;
    }
    widths.push_back(INT32_MAX);
    if (!width) return widths;
    // Places share three fifths of what the figures leave.
    const int share = places == 0 ? 0 : std::max(kMinTextWidth, (*width - used) * 3 / 5 / places);
    for (size_t i = 0; i + 1 < columns.size(); ++i) {
      if (columns[i].place) {
        widths[i] = std::min(widths[i], share);
        used += widths[i] + 2;
      }
    }
    widths.back() = std::max(0, *width - used);
    return widths;
  }
};

std::string TopRenderer::Fit(std::string_view text, int width, bool keep_end) const {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  if (keep_end) {
    while (!text.empty() && DisplayWidth(text) > width - 1) {
      text.remove_prefix(1);
      while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80)
        text.remove_prefix(1);
    }
    return (unicode_ ? "…" : "~") + std::string(text);
  }
  std::string out = Ellipsize(text, width);
  if (!unicode_ && out.ends_with("…")) out.replace(out.size() - 3, 3, "~");
  return out;
}

TopRow TopRenderer::FitRow(const TopRow& row, int width) const {
  TopRow out;
  for (const TopText& text : row) {
    if (width <= 0) break;
    out.push_back({Fit(text.text, width), text.style});
    width -= DisplayWidth(out.back().text);
  }
  return out;
}

TopRow TopRenderer::Layout(const Table& table, const std::vector<int>& widths,
                           const std::vector<TopText>* cells) const {
  TopRow row;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Table::Column& column = table.columns[i];
    TopText cell = cells != nullptr ? (*cells)[i] : TopText{column.heading, TopStyle::kHeading};
    cell.text = Fit(cell.text, widths[i], column.place);
    if (i + 1 < table.columns.size()) {
      const std::string padding(
          static_cast<size_t>(std::max(0, widths[i] - DisplayWidth(cell.text))), ' ');
      cell.text = (column.right ? padding + cell.text : cell.text + padding) + "  ";
    }
    row.push_back(std::move(cell));
  }
  return row;
}

std::string TopRenderer::SourceLine(const std::string& file, int32_t line) {
  if (line <= 0) return "";
  std::string_view text = sources_->Of(file).Line(static_cast<uint32_t>(line));
  text.remove_prefix(std::min(text.find_first_not_of(" \t\f"), text.size()));
  return Printable(text);
}

TopRenderer::Table TopRenderer::MakeTable(const TopModel& model, const TopQuery& query,
                                          const TopPage& page, const TopFacts& facts) {
  Table table;
  const int64_t span = model.SpanNs(query.span);
  const auto mark = [&](TopSort sort, const char* heading) {
    const bool first = query.sort == sort;
    const char* down = unicode_ ? "▾" : "v";
    const char* up = unicode_ ? "▴" : "^";
    return std::string(heading) + (first ? (query.reversed ? up : down) : "");
  };
  const auto figures = [&](const TopModel::Costs& costs, bool in_project) {
    const int64_t project = costs.project.Time(query.weight);
    const int64_t self = costs.self.Time(query.weight);
    const int64_t total = costs.total.Time(query.weight);
    const int64_t shown = in_project ? project : self;
    return std::vector<TopText>{
        {in_project ? Percent(project, span) : "–", Heat(shown, span)},
        {Percent(self, span), TopStyle::kPlain},
        {Percent(total, span), TopStyle::kPlain},
        {FormatDuration(shown), TopStyle::kPlain},
    };
  };
  switch (query.table) {
    case TopTable::kLines:
      table.columns = {{mark(TopSort::kTime, "Time%"), true, false},
                       {mark(TopSort::kSelf, "Self%"), true, false},
                       {mark(TopSort::kTotal, "Total%"), true, false},
                       {"Time", true, false},
                       {mark(TopSort::kName, "Location"), false, true},
                       {"Source"}};
      for (const uint32_t row : page.rows) {
        const TopModel::Line& line = model.lines()[row];
        auto cells = figures(line.tally.Of(query.span), line.in_project);
        const std::string& file = model.file_of(line);
        cells.push_back({Place(file, line.line, facts), TopStyle::kPlain});
        cells.push_back({SourceLine(file, line.line), TopStyle::kPlain});
        table.rows.push_back(std::move(cells));
      }
      break;
    case TopTable::kFunctions:
      table.columns = {{mark(TopSort::kTime, "Time%"), true, false},
                       {mark(TopSort::kSelf, "Self%"), true, false},
                       {mark(TopSort::kTotal, "Total%"), true, false},
                       {"Time", true, false},
                       {mark(TopSort::kName, "Function"), false, true},
                       {"Location"}};
      for (const uint32_t row : page.rows) {
        const TopModel::Function& function = model.functions()[row];
        auto cells = figures(function.tally.Of(query.span), function.in_project);
        cells.push_back({FunctionName(function), TopStyle::kPlain});
        cells.push_back(
            {Place(model.files()[function.file], function.first_line, facts), TopStyle::kPlain});
        table.rows.push_back(std::move(cells));
      }
      break;
    case TopTable::kThreads:
      table.columns = {{mark(TopSort::kTotal, "CPU%"), true, false},
                       {"CPU", true, false},
                       {"State"},
                       {"TID", true, false},
                       {mark(TopSort::kName, "Name"), false, true},
                       {"At"}};
      if (query.sort != TopSort::kName) table.columns[0].heading = "CPU%▾";
      for (const uint32_t row : page.rows) {
        const TopModel::Thread& thread = model.threads()[row];
        const int64_t cpu = thread.tally.Of(query.span).total.cpu_ns;
        std::string at;
        if (thread.node != kNoNode) {
          const TopModel::Node& leaf = model.nodes()[thread.node];
          const TopModel::Node& node = leaf.project == kNoNode ? leaf : model.nodes()[leaf.project];
          const TopModel::Line& line = model.lines()[node.line];
          at = fmt::format("{} {}", FunctionName(model.functions()[node.function]),
                           Place(model.file_of(line), line.line, facts));
        }
        table.rows.push_back(
            {{Percent(cpu, span), Heat(cpu, span)},
             {FormatDuration(cpu), TopStyle::kPlain},
             {thread.ended ? "ended" : ThreadStateName(thread.state), TopStyle::kPlain},
             {std::to_string(thread.tid), TopStyle::kPlain},
             {Printable(thread.name), TopStyle::kPlain},
             {at, TopStyle::kPlain}});
      }
      break;
    case TopTable::kProcesses:
      table.columns = {{"CPU%▾", true, false},
                       {"CPU", true, false},
                       {"PID", true, false},
                       {"Parent", true, false},
                       {"Python"},
                       {"State"},
                       {"Command"}};
      for (const uint32_t row : page.rows) {
        const TopModel::Process& process = model.processes()[row];
        const int64_t cpu = process.tally.Of(query.span).total.cpu_ns;
        table.rows.push_back(
            {{Percent(cpu, span), Heat(cpu, span)},
             {FormatDuration(cpu), TopStyle::kPlain},
             {std::to_string(process.pid), TopStyle::kPlain},
             {process.parent ? std::to_string(model.processes()[*process.parent].pid) : "–",
              TopStyle::kPlain},
             {process.python.empty() ? "–" : process.python, TopStyle::kPlain},
             {ProcessState(process), TopStyle::kPlain},
             {ShortCommand(process, facts), TopStyle::kPlain}});
      }
      break;
  }
  return table;
}

std::vector<TopRow> TopRenderer::Facts(const TopModel& model, const TopFacts& facts, TopSpan span,
                                       bool paused) {
  std::string python;
  for (const TopModel::Process& process : model.processes()) {
    if (python.empty() && !process.python.empty()) python = ", Python " + process.python;
  }
  TopRow first = {{Printable(facts.title), TopStyle::kBold},
                  {fmt::format("{}{}, {}, ",
                               facts.title.contains(std::to_string(facts.pid))
                                   ? ""
                                   : fmt::format(", pid {}", facts.pid),
                               python, Clock(facts.elapsed_ns)),
                   TopStyle::kPlain}};
  if (!facts.outcome.empty()) {
    first.push_back({Printable(facts.outcome), facts.failed ? TopStyle::kBad : TopStyle::kGood});
  } else {
    first.push_back({facts.sampling ? "running" : "running, no longer sampled", TopStyle::kPlain});
  }
  if (paused) {
    first.push_back({", ", TopStyle::kPlain});
    first.push_back({"paused", TopStyle::kBad});
  }

  const SampleTotals totals = model.TotalsOf(span);
  uint64_t dropped = 0;
  for (size_t i = 0; i < totals.drops.size(); ++i) {
    if (static_cast<DropReason>(i) != DropReason::kMissedTick) dropped += totals.drops[i];
  }
  std::string rate = "–";
  if (totals.sampled_ns > 0) {
    rate = fmt::format("{:.0f}", static_cast<double>(totals.ticks_taken) * 1e9 /
                                     static_cast<double>(totals.sampled_ns));
  }
  std::string sampling = fmt::format("{} of {} samples/s, missed: {}, dropped: {}", rate,
                                     FormatNumber(facts.rate_hz), totals.missed, dropped);
  const std::string consistency = DescribeConsistency(facts.consistency, totals);
  if (!consistency.empty()) sampling += ", " + consistency;

  std::array<size_t, kThreadStateCount> states{};
  size_t threads = 0;
  for (const TopModel::Thread& thread : model.threads()) {
    if (thread.ended) continue;
    ++threads;
    ++states[static_cast<size_t>(thread.state)];
  }
  std::string third = fmt::format("threads: {}", threads);
  const char* separator = " (";
  for (size_t i = 1; i <= kThreadStateCount; ++i) {
    const size_t state = i % kThreadStateCount;  // unknown, which is 0, last
    if (states[state] == 0) continue;
    third += fmt::format("{}{} {}", separator, states[state],
                         ThreadStateName(static_cast<ThreadState>(state)));
    separator = ", ";
  }
  if (separator[0] == ',') third += ")";
  const auto living = std::ranges::count_if(
      model.processes(), [](const TopModel::Process& process) { return !process.ended_ns; });
  if (model.processes().size() > 1)
    third += fmt::format(", processes: {} ({} ended)", living,
                         model.processes().size() - static_cast<size_t>(living));
  return {std::move(first),
          {{sampling,
            totals.missed + dropped > totals.ticks_due / 10 ? TopStyle::kWarm : TopStyle::kPlain}},
          {{third, TopStyle::kPlain}}};
}

TopRow TopRenderer::Tabs(const TopView& view) {
  TopRow row;
  for (size_t i = 0; i < kTopTabCount; ++i) {
    const auto tab = static_cast<TopTab>(i);
    if (tab == TopTab::kOutput && !view.has_output()) continue;
    row.push_back({fmt::format(" {} {} ", i + 1, kTabs[i]),
                   tab == view.tab() ? TopStyle::kSelected : TopStyle::kPlain});
  }
  return row;
}

TopRow TopRenderer::KeyLine(const TopView& view, int width) {
  if (view.typing()) {
    return {{"/", TopStyle::kBold},
            {Printable(*view.typing()), TopStyle::kPlain},
            {"   Enter keeps, Esc forgets", TopStyle::kDim}};
  }
  TopRow row;
  const auto add = [&](const char* key, const std::string& what) {
    const std::string gap = row.empty() ? "" : "  ";
    if (Width(row) + DisplayWidth(gap + key + what) + 1 > width) return;
    row.push_back({gap + key, TopStyle::kBold});
    row.push_back({" " + what, TopStyle::kPlain});
  };
  if (view.help() || view.opened()) {
    add("q", "back");
    add("PgDn", "more");
    return row;
  }
  const TopQuery query = view.Query();
  const bool figures = view.tab() == TopTab::kLines || view.tab() == TopTab::kFunctions;
  add("q", "quit");
  add("?", "help");
  if (view.tab() == TopTab::kOutput) return row;
  add("/", query.filter.empty() ? "filter" : "'" + Printable(query.filter) + "'");
  if (figures) add("s", fmt::format("by {}", kSorts[static_cast<size_t>(query.sort)]));
  add("i", query.span == TopSpan::kAll ? "since start" : "last interval");
  if (figures) add("w", query.weight == Weight::kCpu ? "CPU time" : "wall time");
  if (figures) add("a", query.all_code ? "all code" : "your code");
  add("p", view.paused() ? "go on" : "pause");
  add("z", "zero");
  add("Enter", "open");
  return row;
}

std::string TopRenderer::EmptyReason(const TopModel& model, const TopView& view,
                                     const TopFacts& facts) {
  const TopQuery query = view.Query();
  const SampleTotals totals = model.TotalsOf(query.span);
  if (!query.filter.empty())
    return fmt::format("nothing here has '{}' in it; Esc shows all rows", Printable(query.filter));
  if (model.totals().samples == 0)
    return facts.outcome.empty() ? "no sample yet" : "no sample was taken";
  if (totals.samples == 0) return "no sample in this time";
  if (query.weight == Weight::kCpu)
    return "no thread was on a CPU in this time; w counts waiting, too";
  if (!query.all_code)
    return "no time in your own code (" + Printable(facts.project_root) + "); a shows all code";
  return "no sample fell on Python code";
}

void TopRenderer::AddSource(const TopModel& model, uint32_t file, int32_t line, const TopView& view,
                            std::vector<TopRow>* rows) {
  const SourceText& source = sources_->Of(model.files()[file]);
  if (source.LineCount() == 0) {
    rows->push_back({{"the source is not available", TopStyle::kDim}});
    return;
  }
  const auto count = static_cast<int32_t>(source.LineCount());
  const int64_t span = model.SpanNs(view.span());
  for (int32_t at = std::max(1, line - kContext); at <= std::min(count, line + kContext); ++at) {
    std::string time, self;
    TopStyle heat = TopStyle::kPlain;
    if (const auto known = model.FindLine(file, at)) {
      const TopModel::Costs& costs = model.lines()[*known].tally.Of(view.span());
      const int64_t project = costs.project.Time(view.weight());
      const int64_t own = costs.self.Time(view.weight());
      if (project > 0) time = Percent(project, span);
      if (own > 0) self = Percent(own, span);
      heat = Heat(std::max(project, own), span);
    }
    rows->push_back({{fmt::format("{:>6}  {:>6}  ", time, self), heat},
                     {fmt::format("{:>5} ", at), TopStyle::kDim},
                     {Printable(source.Line(static_cast<uint32_t>(at))),
                      at == line ? TopStyle::kBold : TopStyle::kPlain}});
  }
}

void TopRenderer::AddStack(const TopModel& model, NodeId node, const TopFacts& facts,
                           std::vector<TopRow>* rows) {
  size_t frames = 0;
  for (NodeId at = node; at != kNoNode; at = model.nodes()[at].parent) {
    if (++frames > kStackFrames) {
      rows->push_back(
          {{unicode_ ? "    … and its callers" : "    ... and its callers", TopStyle::kDim}});
      return;
    }
    const TopModel::Line& line = model.lines()[model.nodes()[at].line];
    const TopModel::Function& function = model.functions()[model.nodes()[at].function];
    const std::string& file = model.file_of(line);
    const TopStyle style = function.in_project ? TopStyle::kPlain : TopStyle::kDim;
    rows->push_back(
        {{fmt::format("    {}  {}", FunctionName(function), Place(file, line.line, facts)), style},
         {"  " + SourceLine(file, line.line), TopStyle::kDim}});
  }
}

std::vector<TopRow> TopRenderer::Details(const TopModel& model, const TopView& view,
                                         const TopFacts& facts) {
  std::vector<TopRow> rows;
  const uint32_t opened = *view.opened();
  const int64_t all = model.SpanNs(TopSpan::kAll);
  const auto add_ways = [&](const std::function<bool(const TopModel::Node&)>& matches) {
    const auto ways = model.WaysTo(matches, view.weight(), kStacks);
    rows.emplace_back();
    rows.push_back({{ways.empty() ? "no stack that led here has time"
                                  : "Stacks that led here, since the start:",
                     TopStyle::kBold}});
    for (const TopModel::Way& way : ways) {
      const int64_t time = way.cost.Time(view.weight());
      rows.push_back(
          {{fmt::format("  {} %, {}", Percent(time, all), FormatDuration(time)), Heat(time, all)}});
      AddStack(model, way.node, facts, &rows);
    }
  };
  const TopRow columns = {{" Time%   Self%", TopStyle::kHeading}};
  switch (view.tab()) {
    case TopTab::kLines: {
      const TopModel::Line& line = model.lines()[opened];
      const TopModel::Function& function = model.functions()[line.function];
      rows.push_back({{Place(model.file_of(line), line.line, facts), TopStyle::kBold},
                      {" in " + FunctionName(function), TopStyle::kPlain}});
      rows.push_back(columns);
      AddSource(model, function.file, line.line, view, &rows);
      add_ways([opened](const TopModel::Node& node) { return node.line == opened; });
      break;
    }
    case TopTab::kFunctions: {
      const TopModel::Function& function = model.functions()[opened];
      rows.push_back({{FunctionName(function), TopStyle::kBold},
                      {"  " + Place(model.files()[function.file], function.first_line, facts),
                       TopStyle::kPlain}});
      rows.push_back(columns);
      // What is above a definition is another's; its body begins at it.
      AddSource(model, function.file, function.first_line + kContext - 1, view, &rows);
      add_ways([opened](const TopModel::Node& node) { return node.function == opened; });
      break;
    }
    case TopTab::kThreads: {
      const TopModel::Thread& thread = model.threads()[opened];
      rows.push_back(
          {{fmt::format("Thread {} \"{}\"", thread.tid, Printable(thread.name)), TopStyle::kBold},
           {fmt::format(", {}; newest call first",
                        thread.ended ? "ended" : ThreadStateName(thread.state)),
            TopStyle::kPlain}});
      if (thread.node == kNoNode) rows.push_back({{"    no Python code", TopStyle::kDim}});
      AddStack(model, thread.node, facts, &rows);
      break;
    }
    case TopTab::kProcesses: {
      const TopModel::Process& process = model.processes()[opened];
      const auto fact = [&](const char* name, const std::string& value) {
        rows.push_back(
            {{fmt::format("{:<12}", name), TopStyle::kDim}, {Printable(value), TopStyle::kPlain}});
      };
      rows.push_back({{fmt::format("Process {}", process.pid), TopStyle::kBold},
                      {", " + ProcessState(process), TopStyle::kPlain}});
      if (process.parent) {
        const TopModel::Process& parent = model.processes()[*process.parent];
        fact("parent", fmt::format("{}: {}", parent.pid, JoinCommand(parent.command)));
      }
      fact("command", JoinCommand(process.command));
      fact("executable", process.executable);
      fact("Python", process.python.empty() ? "none was found" : process.python);
      break;
    }
    case TopTab::kOutput:
      break;
  }
  return rows;
}

std::vector<TopRow> TopRenderer::Help() {
  std::vector<TopRow> rows;
  for (const auto& [key, what] : kHelpRows)
    rows.push_back({{fmt::format("{:<15}", key), TopStyle::kBold}, {what, TopStyle::kPlain}});
  return rows;
}

namespace {

// Whole rows in the style of a cursor.
TopRow Selected(const TopRow& row, int width) {
  std::string text;
  for (const TopText& part : row) text += part.text;
  text.append(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
  return {{text, TopStyle::kSelected}};
}

}  // namespace

TopFrame TopRenderer::Render(const TopModel& model, TopView& view, const TopFacts& facts, int width,
                             int height) {
  TopFrame frame;
  std::vector<TopRow>& rows = frame.rows;
  rows = Facts(model, facts, view.span(), view.paused());
  if (height < 12) rows.resize(1);
  rows.push_back(Tabs(view));
  const bool pane = view.has_output() && view.output_pane() && view.tab() != TopTab::kOutput &&
                    !view.help() && !view.opened() && !facts.output.empty() &&
                    height >= kPaneMinHeight;
  const int pane_rows = pane ? 1 + std::min(kPaneRows, static_cast<int>(facts.output.size())) : 0;
  const int body = std::max(0, height - static_cast<int>(rows.size()) - pane_rows - 1);

  const auto scrolled = [&](const std::vector<TopRow>& text) {
    const size_t first = view.ScrollText(text.size(), static_cast<size_t>(body));
    for (size_t i = first; i < text.size() && i < first + static_cast<size_t>(body); ++i)
      rows.push_back(text[i]);
  };
  const size_t body_begin = rows.size();
  if (view.help()) {
    scrolled(Help());
  } else if (view.tab() == TopTab::kOutput) {
    std::vector<TopRow> text;
    for (const std::string& line : facts.output) text.push_back({{line, TopStyle::kPlain}});
    if (text.empty()) text.push_back({{"no output yet: " + facts.output_place, TopStyle::kDim}});
    scrolled(text);
  } else if (view.opened()) {
    scrolled(Details(model, view, facts));
  } else if (body > 0) {
    const TopQuery query = view.Query();
    const TopPage page = view.Page(model, static_cast<size_t>(body - 1));
    const Table table = MakeTable(model, query, page, facts);
    const std::vector<int> widths = table.Widths(width);
    rows.push_back(Layout(table, widths, nullptr));
    for (size_t i = 0; i < table.rows.size(); ++i) {
      TopRow row = Layout(table, widths, &table.rows[i]);
      rows.push_back(page.first + i == view.cursor() ? Selected(row, width) : std::move(row));
    }
    if (table.rows.empty()) rows.push_back({{EmptyReason(model, view, facts), TopStyle::kDim}});
  }
  rows.resize(std::max(rows.size(), body_begin + static_cast<size_t>(body)));
  if (pane) {
    std::string rule = "output ";
    for (int i = DisplayWidth(rule); i < width; ++i) rule += unicode_ ? "─" : "-";
    rows.push_back({{rule, TopStyle::kDim}});
    for (size_t i = facts.output.size() - static_cast<size_t>(pane_rows - 1);
         i < facts.output.size(); ++i) {
      rows.push_back({{facts.output[i], TopStyle::kPlain}});
    }
  }
  rows.push_back(KeyLine(view, width));
  rows.resize(static_cast<size_t>(std::max(0, height)));
  for (TopRow& row : rows) row = FitRow(row, width);
  if (view.typing() && height > 0)
    frame.cursor = {height - 1, std::min(width - 1, 1 + DisplayWidth(Printable(*view.typing())))};
  return frame;
}

std::string TopRenderer::Text(const TopModel& model, const TopQuery& query, const TopFacts& facts,
                              size_t limit, std::optional<int> width) {
  std::string out;
  const auto add = [&](const TopRow& row) {
    std::string line;
    for (const TopText& text : width ? FitRow(row, *width) : row) line += text.text;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  for (const TopRow& row : Facts(model, facts, query.span, false)) add(row);
  const TopPage page = RankPage(model, query, std::nullopt, 0, 0, limit);
  if (page.rows.empty()) {
    TopView view({.weight = query.weight});
    out += EmptyReason(model, view, facts) + "\n";
    return out;
  }
  const Table table = MakeTable(model, query, page, facts);
  const std::vector<int> widths = table.Widths(width);
  add(Layout(table, widths, nullptr));
  for (const auto& row : table.rows) add(Layout(table, widths, &row));
  return out;
}

}  // namespace linescope
