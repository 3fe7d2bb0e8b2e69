#include "cli/thread_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cli/figures.h"
#include "cli/table.h"
#include "report/format.h"

namespace linescope {
namespace {

using Align = TextTable::Align;

constexpr char kDash[] = "–";

// The columns that a table of these times has: those that nobody was in are left out.
class StateColumns {
 public:
  explicit StateColumns(const StateTimes& run) {
    auto add = [&](const char* heading, auto part) {
      columns_.push_back({heading, [part](const StateTimes& times) -> std::string {
                            const std::optional<int64_t> ns = part(times);
                            return ns ? FormatShare(static_cast<double>(*ns),
                                                    static_cast<double>(times.total.wall_ns))
                                      : kDash;
                          }});
    };
    auto add_state = [&](const char* heading, ThreadState state) {
      if (run.In(state).samples == 0) return;
      add(heading,
          [state](const StateTimes& times) { return std::optional(times.In(state).wall_ns); });
    };
    add("Running", [](const StateTimes& times) { return std::optional(times.running_ns()); });
    add("Holds GIL", [](const StateTimes& times) { return times.holding_gil_ns(); });
    add("GIL wait", [](const StateTimes& times) {
      return times.gil_known ? std::optional(times.In(ThreadState::kGilWait).wall_ns)
                             : std::nullopt;
    });
    add("Waiting", [](const StateTimes& times) { return std::optional(times.waiting_ns()); });
    add("Idle", [](const StateTimes& times) {
      return std::optional(times.In(ThreadState::kIdle).wall_ns);
    });
    add_state("GC", ThreadState::kCollecting);
    add_state("Stopped", ThreadState::kStopped);
    add_state("Unknown", ThreadState::kUnknown);
  }

  void AppendHeadings(std::vector<TextTable::Column>* columns) const {
    columns->push_back({"CPU time", Align::kRight});
    for (const Column& column : columns_) columns->push_back({column.heading, Align::kRight});
  }
  void AppendCells(const StateTimes& times, std::vector<std::string>* cells) const {
    cells->push_back(FormatDuration(times.total.cpu_ns));
    for (const Column& column : columns_) cells->push_back(column.cell(times));
  }

 private:
  struct Column {
    std::string heading;
    std::function<std::string(const StateTimes&)> cell;
  };
  std::vector<Column> columns_;
};

// Those with samples, most CPU time first.
std::vector<uint32_t> Busiest(const std::vector<StateTimes>& times) {
  std::vector<uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](uint32_t id) { return times[id].total.samples == 0; });
  std::ranges::stable_sort(
      order, [&](uint32_t a, uint32_t b) { return times[a].total.cpu_ns > times[b].total.cpu_ns; });
  return order;
}

std::string ProcessTable(const ProfileReader& reader, const ThreadTimes& times, size_t limit,
                         const StateColumns& states, const Terminal& terminal) {
  std::vector<TextTable::Column> columns = {{"Pid", Align::kRight}};
  states.AppendHeadings(&columns);
  columns.push_back({"Command", Align::kLeft});
  TextTable table(std::move(columns));
  const std::vector<uint32_t> order = Busiest(times.processes);
  for (size_t i = 0; i < std::min(limit, order.size()); ++i) {
    const ProcessRecord& process = reader.processes()[order[i]];
    std::vector<std::string> cells = {std::to_string(process.pid)};
    states.AppendCells(times.processes[order[i]], &cells);
    cells.push_back(JoinCommand(process.command));
    table.AddRow(std::move(cells));
  }
  return table.Format(terminal, 2);
}

std::string ThreadTable(const ProfileReader& reader, const ThreadTimes& times, size_t limit,
                        bool with_pid, const StateColumns& states, const Terminal& terminal) {
  std::vector<TextTable::Column> columns;
  if (with_pid) columns.push_back({"Pid", Align::kRight});
  columns.push_back({"Tid", Align::kRight});
  states.AppendHeadings(&columns);
  columns.push_back({"Thread", Align::kLeft});
  TextTable table(std::move(columns));
  const std::vector<uint32_t> order = Busiest(times.threads);
  const size_t shown = order.size() <= limit + 1 ? order.size() : limit;
  auto add = [&](const std::string& pid, const std::string& tid, const StateTimes& of,
                 const std::string& name) {
    std::vector<std::string> cells;
    if (with_pid) cells.push_back(pid);
    cells.push_back(tid);
    states.AppendCells(of, &cells);
    cells.push_back(name);
    table.AddRow(std::move(cells));
  };
  for (size_t i = 0; i < shown; ++i) {
    const ThreadRecord& thread = reader.threads()[order[i]];
    add(std::to_string(reader.processes()[thread.process].pid), std::to_string(thread.tid),
        times.threads[order[i]], thread.name);
  }
  if (shown < order.size()) {
    StateTimes rest;
    for (size_t i = shown; i < order.size(); ++i) rest += times.threads[order[i]];
    add("", "", rest, fmt::format("({} more)", order.size() - shown));
  }
  return table.Format(terminal, 2);
}

void WriteStates(const StateTimes& times, JsonWriter& json) {
  json.Field("cpu_ns", times.total.cpu_ns).Field("wall_ns", times.total.wall_ns);
  json.Field("samples", times.total.samples).Field("holding_gil_ns", times.holding_gil_ns());
  json.Key("states").BeginObject();
  for (size_t i = 0; i < kThreadStateCount; ++i) {
    const Cost& cost = times.by_state[i];
    if (cost.samples == 0) continue;
    json.Key(ThreadStateName(static_cast<ThreadState>(i))).BeginObject();
    json.Field("samples", cost.samples).Field("wall_ns", cost.wall_ns);
    json.Field("cpu_ns", cost.cpu_ns).EndObject();
  }
  json.EndObject();
}

}  // namespace

std::string ThreadTables(const ProfileReader& reader, const ThreadTimes& times, size_t limit,
                         const Terminal& terminal) {
  const StateColumns states(times.run);
  const bool several = Busiest(times.processes).size() > 1;
  const char* bold = terminal.colour ? "\x1b[1m" : "";
  const char* plain = terminal.colour ? "\x1b[0m" : "";
  std::string out;
  if (several) {
    out += fmt::format("\n{}Processes{}\n{}", bold, plain,
                       ProcessTable(reader, times, limit, states, terminal));
  }
  out += fmt::format("\n{}Threads{}\n{}", bold, plain,
                     ThreadTable(reader, times, limit, several, states, terminal));
  return out;
}

void WriteThreadTimes(const ProfileReader& reader, const ThreadTimes& times, JsonWriter& json) {
  json.Key("run_states").BeginObject();
  WriteStates(times.run, json);
  json.EndObject();
  json.Key("processes").BeginArray();
  for (ProcessId id = 0; id < times.processes.size(); ++id) {
    const ProcessRecord& process = reader.processes()[id];
    json.BeginObject().Field("pid", process.pid);
    json.Field("parent", process.parent ? std::optional(reader.processes()[*process.parent].pid)
                                        : std::nullopt);
    json.List("command", process.command);
    WriteStates(times.processes[id], json);
    json.EndObject();
  }
  json.EndArray().Key("threads").BeginArray();
  for (ThreadId id = 0; id < times.threads.size(); ++id) {
    const ThreadRecord& thread = reader.threads()[id];
    json.BeginObject().Field("name", thread.name).Field("tid", thread.tid);
    json.Field("pid", reader.processes()[thread.process].pid).Field("is_main", thread.is_main);
    json.Field("start_ns", thread.start_ns).Field("end_ns", thread.end_ns);
    WriteStates(times.threads[id], json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace linescope
