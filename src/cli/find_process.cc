#include "cli/find_process.h"

#include <unistd.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "cli/terminal.h"
#include "process/namespaces.h"
#include "process/procfs.h"

namespace linescope {
namespace {

constexpr size_t kListedMatches = 8;

struct Match {
  int pid = 0;
  std::string command;
};

Result<std::vector<Match>> FindByCommand(const std::string& pattern) {
  std::regex expression;
  try {
    expression.assign(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    return Fail(ErrorCode::kUsage, "--name: '{}' is not a regular expression", Printable(pattern));
  }
  LS_TRY(pids, ListProcesses());
  const auto ancestry = Ancestry(::getpid()).value_or(std::vector<int>());
  std::vector<Match> matches;
  for (const int pid : pids) {
    if (std::ranges::find(ancestry, pid) != ancestry.end()) continue;
    const auto words = ReadCommandLine(pid);
    if (!words || words->empty()) continue;
    std::string command;
    for (const std::string& word : *words) command += (command.empty() ? "" : " ") + word;
    if (std::regex_search(command, expression)) matches.push_back({pid, command});
  }
  return matches;
}

}  // namespace

Result<int> FindProcessByName(const std::string& pattern) {
  LS_TRY(matches, FindByCommand(pattern));
  if (matches.empty())
    return Fail(ErrorCode::kGone, "no process has '{}' in its command line", Printable(pattern));
  if (matches.size() == 1) return matches[0].pid;
  std::string list;
  for (size_t i = 0; i < std::min(matches.size(), kListedMatches); ++i)
    list +=
        fmt::format("\n  {:>7}  {}", matches[i].pid, Ellipsize(Printable(matches[i].command), 80));
  if (matches.size() > kListedMatches) list += "\n  …";
  return Fail(ErrorCode::kUsage,
              "{} processes have '{}' in their command line; choose one with --pid:{}",
              matches.size(), Printable(pattern), list);
}

void PrintPidHint(int pid) {
  const std::string hint = WrongPidHint(pid);
  if (!hint.empty()) PrintNote(Printable(hint));
}

}  // namespace linescope
