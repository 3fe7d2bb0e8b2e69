#include "report/import_roots.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace linescope {
namespace {

// `python -m` and `python -c` import from the working directory.
bool ImportsFromWorkingDirectory(const std::vector<std::string>& command) {
  for (size_t i = 0; i < std::min<size_t>(command.size(), 8); ++i) {
    if (command[i] == "-m" || command[i] == "-c") return true;
    if (command[i].ends_with(".py")) return false;
  }
  return false;
}

}  // namespace

std::string AbsolutePath(const std::string& path, const RunInfo& run) {
  if (path.empty() || path.front() == '/' || path.front() == '<') return path;
  return (std::filesystem::path(run.working_directory) / path).lexically_normal().string();
}

ImportRoots ImportRootsOf(const Profile& profile, const RunInfo& run) {
  std::set<std::string> scripts;
  if (ImportsFromWorkingDirectory(run.command)) scripts.insert(run.working_directory);
  // A module that nothing imports is a script.
  const StackTree& tree = profile.stacks;
  std::vector<bool> under_python(tree.size());
  for (StackId id = 0; id < tree.size(); ++id) {
    const FunctionInfo& function = profile.functions[tree.function[id]];
    const StackId parent = tree.parent[id];
    const bool first = parent == kNoStack || !under_python[parent];
    if (first && function.in_project && function.name == "<module>") {
      const std::string path = AbsolutePath(function.file, run);
      if (const size_t slash = path.rfind('/'); slash != path.npos && path.front() == '/')
        scripts.insert(path.substr(0, slash));
    }
    under_python[id] = !first || function.kind == FunctionKind::kPython;
  }
  ImportRoots roots{.scripts = {scripts.begin(), scripts.end()}, .others = {}};
  if (!run.project_root.empty()) {
    roots.others = {run.project_root, run.project_root + "/src"};
  }
  return roots;
}

}  // namespace linescope
