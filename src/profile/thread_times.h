#pragma once
// What the threads and processes of a run did with their time, whatever the run's mode counts.
#include <array>
#include <optional>
#include <vector>

#include "base/result.h"
#include "profile/model.h"
#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

struct StateTimes {
  std::array<Cost, kThreadStateCount> by_state;
  Cost total;
  // Any sample told whether the GIL was held. Without, "holding the GIL" is unknown, not zero.
  bool gil_known = false;

  void Add(ThreadState state, const Cost& cost);
  StateTimes& operator+=(const StateTimes& other);
  [[nodiscard]] const Cost& In(ThreadState state) const {
    return by_state[static_cast<size_t>(state)];
  }
  // Wall time.
  [[nodiscard]] int64_t running_ns() const;  // on a CPU
  [[nodiscard]] int64_t waiting_ns() const;  // off the CPU, and none of the states below
  [[nodiscard]] std::optional<int64_t> holding_gil_ns() const;  // on a CPU or off it
  // `part` of all wall time, 0 to 1; 0 of nothing.
  [[nodiscard]] double Share(int64_t part_ns) const;
};

struct ThreadTimes {
  std::vector<StateTimes> threads;    // by ThreadId; gil_known is that of the process
  std::vector<StateTimes> processes;  // by ProcessId
  StateTimes run;
};

Result<ThreadTimes> AddUpThreads(ProfileReader& reader);

}  // namespace linescope
