#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/depth_first.h"
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
    line_of[i] = line_index.Of(profile.function_file[function], tree.range[i].line);
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

// Self and project costs of each distinct piece of source.
void AddUpExpressions(Profile& profile, const std::vector<Cost>& self) {
  const StackTree& tree = profile.stacks;
  std::map<std::pair<FileId, SourceRange>, ExpressionStats> sums;
  auto at = [&](StackId stack) -> ExpressionStats* {
    if (!tree.range[stack].has_columns()) return nullptr;
    const std::pair key(profile.function_file[tree.function[stack]], tree.range[stack]);
    return &sums.try_emplace(key, key.first, key.second).first->second;
  };
  for (StackId id = 0; id < tree.size(); ++id) {
    if (IsZero(self[id])) continue;
    if (ExpressionStats* stats = at(id)) stats->self += self[id];
    if (tree.project[id] == kNoStack) continue;
    if (ExpressionStats* stats = at(tree.project[id])) stats->project += self[id];
  }
  profile.expressions.reserve(sums.size());
  for (const auto& [key, stats] : sums) profile.expressions.push_back(stats);
}

}  // namespace

Weight WeightOf(const RunInfo& run) {
  if (run.mode == "cpu") return Weight::kCpu;
  if (run.mode == "gil") return Weight::kGil;
  return run.idle ? Weight::kWall : Weight::kActive;
}

bool Counts(Weight weight, ThreadState state) {
  switch (weight) {
    case Weight::kWall:
      return true;
    case Weight::kActive:
      return state != ThreadState::kIdle;
    case Weight::kCpu:
      return IsOnCpu(state);
    case Weight::kGil:
      return HoldsGil(state).value_or(false);
  }
  return true;
}

std::span<const LineStats> Profile::LinesOf(FileId file) const {
  return std::ranges::equal_range(lines, file, {}, &LineStats::file);
}

std::span<const ExpressionStats> Profile::ExpressionsOf(FileId file, int32_t line) const {
  return std::ranges::equal_range(
      expressions, std::pair(file, line), {},
      [](const ExpressionStats& stats) { return std::pair(stats.file, stats.range.line); });
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
  if (!Counts(profile_.weight, cell.state)) return;
  costs_[{cell.stack, cell.thread, cell.state}] += Cost{cell.count, cell.wall_ns, cell.cpu_ns};
}

void Aggregator::AddActivity(const SampleRow& row) {
  if (!Counts(profile_.weight, row.cell.state)) return;
  ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
    buckets_[bucket][static_cast<size_t>(row.cell.state)] += cost;
  });
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
  AddUpExpressions(profile_, self);
  return std::move(profile_);
}

size_t Aggregator::KeyHash::operator()(const Key& key) const {
  uint64_t hash =
      (uint64_t{key.thread} << 36 ^ uint64_t{key.stack} << 4 ^ static_cast<uint64_t>(key.state)) *
      0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace linescope
