#pragma once
// The call tree and its samples as parts of a report (DATA.md sections 2.3 and 2.4).
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/call_tree.h"

namespace linescope {

// Functions, frames and nodes.
std::string CallTreeContainer(const CallTree& calls);

// Nanoseconds that stored times count: 1, or coarser where exact times would fill the report.
int64_t TimeUnitOf(const CallTree& calls);

// The cells, cut into parts that can be encoded independently: [first, end) of each.
std::vector<std::pair<size_t, size_t>> CellParts(const CallTree& calls);

// Times of cells in units. The sum of a node's cells over any time from the start of the run is off
// by at most half a unit, however many they are.
class RoundedTimes {
 public:
  explicit RoundedTimes(const CallTree& calls);
  struct Times {
    int64_t wall = 0, cpu = 0;
  };
  const std::vector<Times>& cells() const { return cells_; }

 private:
  std::vector<Times> cells_;
};

std::string CellsContainer(const CallTree& calls, const RoundedTimes& times,
                           std::pair<size_t, size_t> part);

}  // namespace linescope
