#include "report/call_chunks.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "report/container.h"
#include "source/text.h"

namespace linescope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint8_t kInProject = 1 << 2;  // beside the kind, in the lowest two bits

// The lowest bits of a time are noise that does not compress: 2 bytes a cell and more.
constexpr size_t kMostExactCells = 100'000;
constexpr int64_t kCoarseUnit = 1000;

// What one core compresses in a fraction of a second.
constexpr size_t kPartCells = 1 << 17;

// Sums stay in what a JavaScript number holds exactly; only a damaged profile has more.
constexpr uint64_t kLargestNumber = uint64_t{1} << 53;

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

// Rounds amounts so that their sum so far is always rounded right.
class Rounding {
 public:
  int64_t Next(int64_t amount, int64_t unit) {
    constexpr auto kMost = static_cast<int64_t>(kLargestNumber);
    exact_ = std::min(exact_ + std::min(amount, kMost), kMost);
    const int64_t rounded = (exact_ + unit / 2) / unit;
    return rounded - std::exchange(given_, rounded);
  }

 private:
  int64_t exact_ = 0;
  int64_t given_ = 0;
};

}  // namespace

std::string CallTreeContainer(const CallTree& calls) {
  StringColumn names, paths;
  std::vector<uint32_t> file, row;
  std::vector<uint8_t> flags;
  for (const CallFunction& function : calls.functions) {
    std::string name = function.name;
    MakeValidUtf8(name);
    names.Push(name);
    std::string path = function.file ? "" : function.path;  // else it is in the index
    MakeValidUtf8(path);
    paths.Push(path);
    file.push_back(function.file.value_or(kNone));
    row.push_back(function.row.value_or(kNone));
    flags.push_back(static_cast<uint8_t>(function.kind) | (function.in_project ? kInProject : 0));
  }
  VarintColumn frame_function, frame_line, node_up, node_frame;
  for (const CallFrame& frame : calls.frames) {
    frame_function.Push(frame.function);
    frame_line.Push(frame.line);
  }
  uint32_t deepest = 0;  // that the next node can have
  for (const CallNode& node : calls.nodes) {
    node_up.Push(deepest - node.depth);
    node_frame.Push(node.frame);
    deepest = node.depth + 1;
  }
  for (VarintColumn* column : {&frame_function, &frame_line, &node_up, &node_frame})
    column->EndGroup();

  ContainerBuilder container;
  names.AddTo(container, "function_name");
  paths.AddTo(container, "function_path");
  container.Add("function_file", std::span(std::as_const(file)));
  container.Add("function_row", std::span(std::as_const(row)));
  container.Add("function_flags", std::span(std::as_const(flags)));
  frame_function.AddTo(container, "frame_function");
  frame_line.AddTo(container, "frame_line");
  node_up.AddTo(container, "node_up");
  node_frame.AddTo(container, "node_frame");
  return container.Build();
}

int64_t TimeUnitOf(const CallTree& calls) {
  return calls.cells.size() > kMostExactCells ? kCoarseUnit : 1;
}

std::vector<std::pair<size_t, size_t>> CellParts(const CallTree& calls) {
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t first = 0; first < calls.cells.size(); first += kPartCells)
    parts.emplace_back(first, std::min(first + kPartCells, calls.cells.size()));
  return parts;
}

RoundedTimes::RoundedTimes(const CallTree& calls) {
  const int64_t unit = TimeUnitOf(calls);
  struct Sums {
    Rounding wall, cpu;
  };
  std::vector<Sums> by_node(calls.nodes.size() + 1);
  cells_.reserve(calls.cells.size());
  for (const CallCell& cell : calls.cells) {
    Sums& sums = by_node[cell.node + 1];  // none is 0
    cells_.push_back({.wall = sums.wall.Next(cell.cost.wall_ns, unit),
                      .cpu = sums.cpu.Next(cell.cost.cpu_ns, unit)});
  }
}

std::string CellsContainer(const CallTree& calls, const RoundedTimes& times,
                           std::pair<size_t, size_t> part) {
  VarintColumn group_bucket, group_thread, group_cells, node, count, wall, cpu;
  std::vector<uint8_t> state;
  uint32_t last_bucket = 0;
  for (size_t at = part.first; at < part.second;) {
    const CallCell& first = calls.cells[at];
    const size_t begin = at;
    uint32_t last_node = 0;
    for (; at < part.second; ++at) {
      const CallCell& cell = calls.cells[at];
      if (cell.bucket != first.bucket || cell.thread != first.thread) break;
      node.Push(cell.node + 1 - last_node);  // none is 0
      last_node = cell.node + 1;
      state.push_back(static_cast<uint8_t>(cell.state));
      count.Push(std::min(cell.cost.samples, kLargestNumber));
      const RoundedTimes::Times& time = times.cells()[at];
      wall.Push(static_cast<uint64_t>(time.wall));
      // Of a thread on a CPU it is nearly the wall time, of others 0.
      cpu.Push(time.cpu == 0 ? 0 : ZigZag(time.cpu - time.wall) + 1);
    }
    group_bucket.Push(first.bucket - last_bucket);
    last_bucket = first.bucket;
    group_thread.Push(first.thread);
    group_cells.Push(at - begin);
  }
  ContainerBuilder container;
  const auto add = [&](VarintColumn& column, const char* name) {
    column.EndGroup();
    column.AddTo(container, name);
  };
  add(group_bucket, "group_bucket");
  add(group_thread, "group_thread");
  add(group_cells, "group_cells");
  add(node, "cell_node");
  container.Add("cell_state", std::span(std::as_const(state)));
  add(count, "cell_count");
  add(wall, "cell_wall");
  add(cpu, "cell_cpu");
  return container.Build();
}

}  // namespace linescope
