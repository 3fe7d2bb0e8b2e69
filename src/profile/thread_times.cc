#include "profile/thread_times.h"

namespace linescope {

void StateTimes::Add(ThreadState state, const Cost& cost) {
  by_state[static_cast<size_t>(state)] += cost;
  total += cost;
  gil_known |= HoldsGil(state).has_value();
}

StateTimes& StateTimes::operator+=(const StateTimes& other) {
  for (size_t i = 0; i < by_state.size(); ++i) by_state[i] += other.by_state[i];
  total += other.total;
  gil_known |= other.gil_known;
  return *this;
}

int64_t StateTimes::running_ns() const {
  Cost sum;
  for (size_t i = 0; i < by_state.size(); ++i) {
    if (IsOnCpu(static_cast<ThreadState>(i))) sum += by_state[i];
  }
  return sum.wall_ns;
}

int64_t StateTimes::waiting_ns() const {
  Cost sum = In(ThreadState::kWaiting);
  sum += In(ThreadState::kWaitingWithGil);
  return sum.wall_ns;
}

std::optional<int64_t> StateTimes::holding_gil_ns() const {
  if (!gil_known) return std::nullopt;
  Cost sum;
  for (size_t i = 0; i < by_state.size(); ++i) {
    if (HoldsGil(static_cast<ThreadState>(i)).value_or(false)) sum += by_state[i];
  }
  return sum.wall_ns;
}

double StateTimes::Share(int64_t part_ns) const {
  return total.wall_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(total.wall_ns) : 0;
}

Result<ThreadTimes> AddUpThreads(ProfileReader& reader) {
  ThreadTimes times;
  times.threads.resize(reader.threads().size());
  times.processes.resize(reader.processes().size());
  LS_CHECK_OK(reader.ForEachActivity([&](const SampleRow& row) {
    const SampleCell& cell = row.cell;
    times.threads[cell.thread].Add(cell.state, {cell.count, cell.wall_ns, cell.cpu_ns});
  }));
  for (ThreadId id = 0; id < times.threads.size(); ++id) {
    times.processes[reader.threads()[id].process] += times.threads[id];
  }
  // A thread that only ever slept says nothing of the GIL that its process has.
  for (ThreadId id = 0; id < times.threads.size(); ++id) {
    times.threads[id].gil_known = times.processes[reader.threads()[id].process].gil_known;
  }
  for (const StateTimes& process : times.processes) times.run += process;
  return times;
}

}  // namespace linescope
