#pragma once
// Who called whom, and when: the stacks of a run as one tree, with its samples over time. What the
// page draws flame graphs from, and adds every number up again from when only a part of the run is
// looked at.
//
// Stacks that differ in the columns of a line only are one node here. Nodes stand in preorder.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace linescope {

inline constexpr uint32_t kNoCallNode = UINT32_MAX;

struct CallFunction {
  FunctionId id = 0;  // in the profile
  std::string name;   // qualified
  std::string path;
  FunctionKind kind = FunctionKind::kPython;
  bool in_project = false;
  // Filled in by the report's model: where the report shows it.
  std::optional<uint32_t> file;  // of the project
  std::optional<uint32_t> row;   // in the report's functions
};

struct CallFrame {
  uint32_t function = 0;
  uint32_t line = 0;  // 0: unknown
};

struct CallNode {
  uint32_t depth = 0;  // 0: a root
  uint32_t frame = 0;
};

// Samples of one thread in one bucket with the same stack and state. Samples that the run's mode
// does not count are here, too.
struct CallCell {
  uint32_t bucket = 0;
  ThreadId thread = 0;
  uint32_t node = kNoCallNode;  // of a thread without Python frames: none
  ThreadState state = ThreadState::kUnknown;
  Cost cost;
};

struct CallTree {
  std::vector<CallFunction> functions;  // functions and frames by first use in `nodes`
  std::vector<CallFrame> frames;
  std::vector<CallNode> nodes;
  std::vector<CallCell> cells;  // by bucket, thread, node (none first), state
  int64_t bucket_width_ns = 0;
  uint32_t joined_buckets = 1;  // of the profile, in each bucket
};

class CallTreeBuilder {
 public:
  explicit CallTreeBuilder(const Profile& profile);
  void Add(const SampleRow& row) { rows_.push_back(row); }
  // Samples of several buckets are spread over them. Joins neighbouring buckets, two at a time,
  // while there are more than `most_cells` cells. Leaves the builder empty.
  CallTree Finish(size_t most_cells);

 private:
  void AddNodes(const Profile& profile);
  // Cells of all rows in buckets of `joined` of the profile's, when none are added up.
  [[nodiscard]] size_t CountCells(uint32_t joined) const;
  void AddCells(const SampleRow& row);

  CallTree tree_;
  std::vector<SampleRow> rows_;
  std::vector<uint32_t> node_of_;  // by StackId
};

}  // namespace linescope
