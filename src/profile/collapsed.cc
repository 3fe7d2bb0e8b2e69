#include "profile/collapsed.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "profile/titles.h"

namespace linescope {
namespace {

// What separates must not be part of what is separated.
std::string Clean(std::string_view text, bool colon_is_special) {
  std::string clean(text);
  for (char& c : clean) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      c = ' ';
    } else if (c == ';') {
      c = ',';
    } else if (c == ':' && colon_is_special) {
      c = '.';
    }
  }
  return clean;
}

std::vector<std::string> FramePrefixes(const Profile& profile) {
  std::vector<std::string> prefixes;
  prefixes.reserve(profile.functions.size());
  for (const FunctionInfo& function : profile.functions)
    prefixes.push_back(Clean(function.file, false) + ":" + Clean(function.qualified_name, true) +
                       ":");
  return prefixes;
}

}  // namespace

std::vector<std::string> SplitTitles(const ProfileReader& reader, StackSplit split) {
  if (split == StackSplit::kAuto)
    split = HasSeveralProcesses(reader) ? StackSplit::kThread : StackSplit::kNone;
  std::vector<std::string> titles(reader.threads().size());
  if (split == StackSplit::kNone) return titles;
  for (ThreadId id = 0; id < titles.size(); ++id) {
    titles[id] = split == StackSplit::kThread
                     ? ThreadTitle(reader, id)
                     : ProcessTitle(reader.processes().at(reader.threads()[id].process));
  }
  return titles;
}

std::string CollapsedText(const Profile& profile, const std::vector<std::string>& titles) {
  const std::vector<std::string> prefixes = FramePrefixes(profile);
  std::vector<std::string> roots;
  for (const std::string& title : titles) roots.push_back(Clean(title, false));
  const StackTree& tree = profile.stacks;
  std::map<std::string, uint64_t> lines;
  std::vector<StackId> path;
  for (const StackCost& cost : profile.stack_costs) {
    if (cost.stack == kNoStack || cost.cost.samples == 0) continue;
    path.clear();
    for (StackId id = cost.stack; id != kNoStack; id = tree.parent[id]) path.push_back(id);
    std::string text = roots.empty() ? std::string() : roots.at(cost.thread);
    for (size_t i = path.size(); i-- > 0;) {
      if (!text.empty()) text += ';';
      text += prefixes[tree.function[path[i]]];
      text += std::to_string(tree.range[path[i]].line);
    }
    lines[std::move(text)] += cost.cost.samples;
  }
  std::string text;
  for (const auto& [stack, count] : lines) text.append(fmt::format("{} {}\n", stack, count));
  return text;
}

}  // namespace linescope
