#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "export/export.h"
#include "export/places.h"
#include "profile/depth_first.h"

namespace linescope {
namespace {

// Lines are the format's only structure; a name must not make one, nor be none at all.
std::string OneLine(const std::string& text) {
  std::string clean = ValidText(text);
  std::ranges::replace_if(
      clean, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return clean.find_first_not_of(' ') == std::string::npos ? "???" : clean;
}

// A name is spelled out where it occurs first, and a number after that.
class Names {
 public:
  std::string Of(const std::string& text) {
    const auto [at, fresh] = known_.try_emplace(text, known_.size() + 1);
    return fresh ? fmt::format("({}) {}", at->second, text) : fmt::format("({})", at->second);
  }

 private:
  std::map<std::string, size_t> known_;
};

struct Call {
  int32_t line = 0;
  FunctionId callee = 0;
  auto operator<=>(const Call&) const = default;
};

struct FunctionCosts {
  std::map<int32_t, Cost> self;  // by line
  std::map<Call, Cost> calls;    // inclusive, once a stack however often it recurs
};

std::vector<FunctionCosts> AddUp(const Profile& profile) {
  const StackTree& tree = profile.stacks;
  std::vector<FunctionCosts> costs(profile.functions.size());
  std::vector<Cost> subtree(tree.size());
  for (const StackCost& stack : profile.stack_costs) {
    if (stack.stack == kNoStack) continue;
    subtree[stack.stack] += stack.cost;
    costs[tree.function[stack.stack]].self[std::max(tree.range[stack.stack].line, 0)] += stack.cost;
  }
  for (size_t id = tree.size(); id-- > 0;) {
    if (tree.parent[id] != kNoStack) subtree[tree.parent[id]] += subtree[id];
  }
  // A subtree's cost belongs to the call that leads into it, unless the same call is on the way
  // already.
  using Into = std::pair<FunctionId, Call>;
  const auto into = [&](StackId id) -> Into {
    const StackId caller = tree.parent[id];
    return {tree.function[caller], {std::max(tree.range[caller].line, 0), tree.function[id]}};
  };
  std::map<Into, size_t> open;
  DepthFirst(tree.parent)
      .Visit(
          [&](StackId id) {
            if (tree.parent[id] == kNoStack || open[into(id)]++ != 0) return;
            const auto& [caller, call] = into(id);
            costs[caller].calls[call] += subtree[id];
          },
          [&](StackId id) {
            if (tree.parent[id] != kNoStack) --open[into(id)];
          });
  return costs;
}

}  // namespace

std::string CallgrindText(const ProfileReader& reader, const Profile& profile) {
  const auto numbers = [&](const Cost& cost) {
    return fmt::format("{} {}\n", profile.Time(cost), cost.samples);
  };
  std::string command;
  for (const std::string& word : reader.run().command)
    command += (command.empty() ? "" : " ") + OneLine(word);
  std::string out = "# callgrind format\nversion: 1\n";
  out += "creator: " + OneLine(Creator(reader.run())) + "\n";
  out += "cmd: " + command + "\n";
  out += fmt::format("desc: Time: {}, in nanoseconds\n", TimeName(profile.weight));
  out += "desc: Calls: not counted; 1 stands for at least one\n";
  out += "positions: line\nevents: Time Samples\n";
  out += "summary: " + numbers(profile.total);

  Names files, functions;
  const auto name_of = [&](FunctionId id) {
    const FunctionInfo& function = profile.functions[id];
    return OneLine(DisplayName(function));
  };
  const std::vector<FunctionCosts> costs = AddUp(profile);
  for (FunctionId id = 0; id < costs.size(); ++id) {
    if (costs[id].self.empty() && costs[id].calls.empty()) continue;
    out += "\nfl=" + files.Of(OneLine(profile.functions[id].file)) + "\n";
    out += "fn=" + functions.Of(name_of(id)) + "\n";
    for (const auto& [line, cost] : costs[id].self) out += fmt::format("{} ", line) + numbers(cost);
    for (const auto& [call, cost] : costs[id].calls) {
      const FunctionInfo& callee = profile.functions[call.callee];
      out += "cfi=" + files.Of(OneLine(callee.file)) + "\n";
      out += "cfn=" + functions.Of(name_of(call.callee)) + "\n";
      out += fmt::format("calls=1 {}\n{} ", std::max(callee.first_line, 0), call.line);
      out += numbers(cost);
    }
  }
  if (profile.without_frames.samples > 0) {
    out += "\nfl=" + files.Of("???") + "\nfn=" + functions.Of(std::string(kNoPython)) + "\n0 ";
    out += numbers(profile.without_frames);
  }
  out += "\ntotals: " + numbers(profile.total);
  return out;
}

}  // namespace linescope
