#include "cli/figures.h"

#include <fmt/format.h>

#include <filesystem>

namespace linescope {

std::string FormatNumber(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string ShortPath(const std::string& name, const RunInfo& run) {
  const std::string path = std::filesystem::path(name).lexically_normal().string();
  for (const std::string& folder : {run.project_root, run.working_directory}) {
    if (folder.empty() || !path.starts_with(folder)) continue;
    if (folder == "/") return path.substr(1);
    if (path.size() > folder.size() + 1 && path[folder.size()] == '/')
      return path.substr(folder.size() + 1);
  }
  return path;
}

std::string JoinCommand(const std::vector<std::string>& words) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace linescope
