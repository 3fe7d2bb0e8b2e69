#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/profile.h"

namespace linescope {
namespace {

// Dense index of (file, line) pairs, which is also the index of Profile::lines before sorting.
class LineIndex {
 public:
  explicit LineIndex(std::vector<LineStats>& lines) : lines_(lines) {}

  uint32_t Of(FileId file, int32_t line) {
    auto [at, added] = ids_.try_emplace(uint64_t{file} << 32 | static_cast<uint32_t>(line),
                                        static_cast<uint32_t>(lines_.size()));
    if (added)
      lines_.push_back({.file = file, .line = line, .self = {}, .project = {}, .inclusive = {}});
    return at->second;
  }

 private:
  std::vector<LineStats>& lines_;
  std::unordered_map<uint64_t, uint32_t> ids_;
};

// Visits a forest depth first, calling `enter` on the way down and `leave` on the way up. Without
// recursion: stacks are as deep as the target's.
class DepthFirst {
 public:
  explicit DepthFirst(const std::vector<StackId>& parent)
      : parent_(parent), first_child_(parent.size(), kNoStack), next_(parent.size(), kNoStack) {
    for (size_t i = parent.size(); i-- > 0;) {
      auto id = static_cast<StackId>(i);
      StackId& head = parent[i] == kNoStack ? first_root_ : first_child_[parent[i]];
      next_[i] = std::exchange(head, id);
    }
  }

  template <class Enter, class Leave>
  void Visit(Enter enter, Leave leave) const {
    StackId at = first_root_;
    while (at != kNoStack) {
      enter(at);
      if (first_child_[at] != kNoStack) {
        at = first_child_[at];
        continue;
      }
      leave(at);
      while (next_[at] == kNoStack && parent_[at] != kNoStack) {
        at = parent_[at];
        leave(at);
      }
      at = next_[at];
    }
  }

 private:
  const std::vector<StackId>& parent_;
  StackId first_root_ = kNoStack;
  std::vector<StackId> first_child_, next_;
};

// Adds a subtree's cost to a key where the path from the root meets the key for the first time.
class OncePerStack {
 public:
  explicit OncePerStack(size_t keys) : depth_(keys, 0) {}
  bool Enter(uint32_t key) { return depth_[key]++ == 0; }
  void Leave(uint32_t key) { --depth_[key]; }

 private:
  std::vector<uint32_t> depth_;
};

bool IsZero(const Cost& cost) { return cost == Cost{}; }

// Files by path, so that equal profiles give equal indices.
void IndexFiles(Profile& profile) {
  for (const FunctionInfo& function : profile.functions) {
    FileStats file;
    file.path = function.file;
    profile.files.push_back(std::move(file));
  }
  std::ranges::sort(profile.files, {}, &FileStats::path);
  auto repeated = std::ranges::unique(profile.files, {}, &FileStats::path);
  profile.files.erase(repeated.begin(), repeated.end());
  for (const FunctionInfo& function : profile.functions) {
    auto at = std::ranges::lower_bound(profile.files, function.file, {}, &FileStats::path);
    at->in_project |= function.in_project;
    profile.function_file.push_back(static_cast<FileId>(at - profile.files.begin()));
  }
}

void FindProjectAncestors(Profile& profile) {
  StackTree& tree = profile.stacks;
  tree.project.assign(tree.size(), kNoStack);
  for (size_t i = 0; i < tree.size(); ++i) {
    if (profile.functions[tree.function[i]].in_project) {
      tree.project[i] = static_cast<StackId>(i);
    } else if (tree.parent[i] != kNoStack) {
      tree.project[i] = tree.project[tree.parent[i]];
    }
  }
}

void AddUpLinesFunctionsFiles(Profile& profile, const std::vector<Cost>& self) {
  const StackTree& tree = profile.stacks;
  LineIndex line_index(profile.lines);
  std::vector<uint32_t> line_of(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    FunctionId function = tree.function[i];
    line_of[i] = line_index.Of(profile.function_file[function], tree.line[i]);
    profile.lines[line_of[i]].in_project |= profile.functions[function].in_project;
  }
  std::vector<FunctionStats> functions(profile.functions.size());
  auto function_at = [&](size_t stack) -> FunctionStats& {
    return functions[tree.function[stack]];
  };
  auto file_at = [&](size_t stack) -> FileStats& {
    return profile.files[profile.function_file[tree.function[stack]]];
  };

  std::vector<Cost> subtree = self;
  for (size_t i = tree.size(); i-- > 0;) {
    profile.lines[line_of[i]].self += self[i];
    function_at(i).self += self[i];
    file_at(i).self += self[i];
    if (StackId project = tree.project[i]; project != kNoStack) {
      profile.lines[line_of[project]].project += self[i];
      function_at(project).project += self[i];
      file_at(project).project += self[i];
      profile.project += self[i];
    }
    if (tree.parent[i] != kNoStack) subtree[tree.parent[i]] += subtree[i];
  }

  OncePerStack line_once(profile.lines.size()), function_once(functions.size()),
      file_once(profile.files.size());
  DepthFirst(tree.parent)
      .Visit(
          [&](StackId id) {
            FunctionId function = tree.function[id];
            if (line_once.Enter(line_of[id])) profile.lines[line_of[id]].inclusive += subtree[id];
            if (function_once.Enter(function)) functions[function].inclusive += subtree[id];
            if (file_once.Enter(profile.function_file[function]))
              file_at(id).inclusive += subtree[id];
          },
          [&](StackId id) {
            FunctionId function = tree.function[id];
            line_once.Leave(line_of[id]);
            function_once.Leave(function);
            file_once.Leave(profile.function_file[function]);
          });

  std::erase_if(profile.lines, [](const LineStats& line) { return IsZero(line.inclusive); });
  std::ranges::sort(profile.lines, {},
                    [](const LineStats& line) { return std::tuple(line.file, line.line); });
  for (FunctionId id = 0; id < functions.size(); ++id) {
    if (IsZero(functions[id].inclusive)) continue;
    functions[id].function = id;
    functions[id].file = profile.function_file[id];
    profile.function_stats.push_back(functions[id]);
  }
}

}  // namespace

Weight WeightOfMode(const std::string& mode) {
  return mode == "cpu" ? Weight::kCpu : Weight::kWall;
}

std::span<const LineStats> Profile::LinesOf(FileId file) const {
  return std::ranges::equal_range(lines, file, {}, &LineStats::file);
}

Aggregator::Aggregator(Weight weight, std::vector<FunctionInfo> functions, StackTree stacks,
                       int64_t bucket_width_ns) {
  profile_.weight = weight;
  profile_.functions = std::move(functions);
  profile_.stacks = std::move(stacks);
  profile_.bucket_width_ns = bucket_width_ns;
}

void Aggregator::Add(const SampleRow& row) {
  const SampleCell& cell = row.cell;
  if (profile_.weight == Weight::kCpu && cell.state != ThreadState::kRunning) return;
  const Cost cost{cell.count, cell.wall_ns, cell.cpu_ns};
  costs_[{cell.stack, cell.thread, cell.state}] += cost;
  buckets_[row.bucket][static_cast<size_t>(cell.state)] += cost;
}

Profile Aggregator::Finish() {
  IndexFiles(profile_);
  FindProjectAncestors(profile_);
  std::vector<Cost> self(profile_.stacks.size());
  for (const auto& [key, cost] : costs_) {
    profile_.stack_costs.push_back({key.stack, key.thread, key.state, cost});
    profile_.total += cost;
    (key.stack == kNoStack ? profile_.without_frames : self[key.stack]) += cost;
  }
  std::ranges::sort(profile_.stack_costs, {}, [](const StackCost& cost) {
    return std::tuple(cost.stack, cost.thread, cost.state);
  });
  for (const auto& [bucket, by_state] : buckets_)
    profile_.timeline.push_back({bucket * profile_.bucket_width_ns, by_state});
  AddUpLinesFunctionsFiles(profile_, self);
  return std::move(profile_);
}

size_t Aggregator::KeyHash::operator()(const Key& key) const {
  uint64_t hash =
      (uint64_t{key.thread} << 34 ^ uint64_t{key.stack} << 2 ^ static_cast<uint64_t>(key.state)) *
      0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace linescope
