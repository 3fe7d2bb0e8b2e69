#include "report/call_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/depth_first.h"

namespace linescope {
namespace {

struct EdgeKey {
  uint32_t caller = kNoCaller;
  uint32_t callee = kNoCaller;
  uint32_t line = 0;
  auto operator<=>(const EdgeKey&) const = default;
};

struct EdgeKeyHash {
  size_t operator()(const EdgeKey& key) const {
    uint64_t hash = (uint64_t{key.caller} << 32 | key.callee) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ key.line) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
  }
};

struct EdgeSum {
  Cost cost;
  bool direct = true;
  uint32_t open = 0;  // how often the call stands on the stack that is being visited
};

class Builder {
 public:
  Builder(const Profile& profile, const std::vector<uint32_t>& rows, size_t functions)
      : profile_(profile), tree_(profile.stacks), rows_(rows) {
    graph_.functions = static_cast<uint32_t>(functions);
  }

  CallGraph Build() && {
    AddUp();
    Visit();
    Finish();
    return std::move(graph_);
  }

 private:
  bool InProject(StackId stack) const { return rows_[tree_.function[stack]] != kNoCaller; }

  // The innermost frame above that is a function of the report.
  StackId ProjectAbove(StackId stack) const {
    const StackId parent = tree_.parent[stack];
    return parent == kNoStack ? kNoStack : project_[parent];
  }

  void AddUp() {
    const size_t size = tree_.size();
    std::vector<Cost> self(size);
    for (const StackCost& cost : profile_.stack_costs) {
      if (cost.stack != kNoStack) self[cost.stack] += cost.cost;
    }
    project_.resize(size);
    for (StackId id = 0; id < size; ++id) {
      if (InProject(id))
        project_[id] = id;
      else
        project_[id] = tree_.parent[id] == kNoStack ? kNoStack : project_[tree_.parent[id]];
    }
    subtree_ = self;
    // What a library frame took without the project functions that it calls.
    outside_ = std::move(self);
    for (size_t i = size; i-- > 0;) {
      const StackId parent = tree_.parent[i];
      if (parent == kNoStack) continue;
      subtree_[parent] += subtree_[i];
      if (!InProject(static_cast<StackId>(i))) outside_[parent] += outside_[i];
    }
  }

  uint32_t Outside(FunctionId function) {
    const FunctionInfo& info = profile_.functions[function];
    OutsideFunction made{
        .name = DisplayName(info), .file = LibraryLabel(info.file), .kind = info.kind};
    const auto key = std::tuple(made.name, made.file, made.kind);
    const auto [at, added] =
        outside_ids_.try_emplace(key, static_cast<uint32_t>(graph_.outside.size()));
    if (added) graph_.outside.push_back(std::move(made));
    return graph_.functions + at->second;
  }

  // The part of a path that says what it is: behind site-packages or the like, else its last parts.
  static std::string LibraryLabel(std::string_view path) {
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
      if (const size_t at = path.rfind(folder); at != path.npos)
        return std::string(path.substr(at + folder.size()));
    }
    size_t cut = path.rfind('/');
    if (cut == path.npos || cut == 0) return std::string(path);
    cut = path.rfind('/', cut - 1);
    // "python3.13/json.py" says no more than "json.py".
    const std::string_view last = path.substr(cut == path.npos ? 0 : cut + 1);
    if (last.starts_with("python3") || last.starts_with("lib/") || last.starts_with("lib64/"))
      return std::string(last.substr(last.find('/') + 1));
    return std::string(last);
  }

  uint32_t LineOf(StackId stack) const {
    return static_cast<uint32_t>(std::max(tree_.range[stack].line, 0));
  }

  // The call that brought this frame about; nullptr: none that is shown.
  EdgeSum* EdgeOf(StackId id, bool& whole) {
    const FunctionId function = tree_.function[id];
    const StackId above = ProjectAbove(id);
    EdgeKey key;
    bool direct = true;
    whole = InProject(id);
    if (whole) {
      key.callee = rows_[function];
      const StackId parent = tree_.parent[id];
      direct = above == parent;
      if (above != kNoStack) {
        key.caller = rows_[tree_.function[above]];
        key.line = LineOf(above);
      } else if (parent != kNoStack) {
        key.caller = Outside(tree_.function[parent]);
        key.line = LineOf(parent);
        direct = true;
      }
    } else {
      if (above == kNoStack || above != tree_.parent[id]) return nullptr;
      key.caller = rows_[tree_.function[above]];
      key.line = LineOf(above);
      key.callee = Outside(function);
    }
    EdgeSum& sum = edges_[key];
    sum.direct &= direct;
    return &sum;
  }

  void Visit() {
    std::vector<EdgeSum*> open(tree_.size(), nullptr);
    DepthFirst(tree_.parent)
        .Visit(
            [&](StackId id) {
              bool whole = false;
              open[id] = EdgeOf(id, whole);
              if (open[id] != nullptr && open[id]->open++ == 0)
                open[id]->cost += whole ? subtree_[id] : outside_[id];
            },
            [&](StackId id) {
              if (open[id] != nullptr) --open[id]->open;
            });
  }

  void Finish() {
    std::vector<std::pair<EdgeKey, EdgeSum>> all;
    for (const auto& [key, sum] : edges_) {
      if (sum.cost.samples > 0) all.emplace_back(key, sum);
    }
    const auto group = [&](auto of, auto other, std::vector<uint32_t>& start,
                           std::vector<CallEdge>& out) {
      std::ranges::sort(all, {}, [&](const auto& edge) {
        return std::tuple(of(edge.first), -profile_.Time(edge.second.cost),
                          UINT64_MAX - edge.second.cost.samples, other(edge.first),
                          edge.first.line);
      });
      auto at = all.begin();
      for (uint32_t function = 0; function < graph_.functions; ++function) {
        for (; at != all.end() && of(at->first) == function; ++at) {
          out.push_back({.function = other(at->first),
                         .line = at->first.line,
                         .direct = at->second.direct,
                         .samples = at->second.cost.samples,
                         .time_ns = profile_.Time(at->second.cost)});
        }
        start.push_back(static_cast<uint32_t>(out.size()));
      }
    };
    const auto caller = [](const EdgeKey& key) { return key.caller; };
    const auto callee = [](const EdgeKey& key) { return key.callee; };
    group(callee, caller, graph_.caller_start, graph_.callers);
    group(caller, callee, graph_.callee_start, graph_.callees);
  }

  const Profile& profile_;
  const StackTree& tree_;
  const std::vector<uint32_t>& rows_;
  CallGraph graph_;
  std::vector<StackId> project_;
  std::vector<Cost> subtree_, outside_;
  std::unordered_map<EdgeKey, EdgeSum, EdgeKeyHash> edges_;  // whose values stay where they are
  std::map<std::tuple<std::string, std::string, FunctionKind>, uint32_t> outside_ids_;
};

std::span<const CallEdge> Group(const std::vector<CallEdge>& edges,
                                const std::vector<uint32_t>& start, uint32_t function) {
  if (function + 1 >= start.size()) return {};
  return std::span(edges).subspan(start[function], start[function + 1] - start[function]);
}

}  // namespace

std::span<const CallEdge> CallGraph::CallersOf(uint32_t function) const {
  return Group(callers, caller_start, function);
}

std::span<const CallEdge> CallGraph::CalleesOf(uint32_t function) const {
  return Group(callees, callee_start, function);
}

CallGraph BuildCallGraph(const Profile& profile, const std::vector<uint32_t>& rows,
                         size_t functions) {
  return Builder(profile, rows, functions).Build();
}

}  // namespace linescope
