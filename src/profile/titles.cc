#include "profile/titles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_name.h"

namespace linescope {

std::string TitleOf(const RunInfo& run) {
  if (!run.title.empty()) return run.title;
  const std::string_view program = run.command.empty() ? "" : FileName(run.command[0]);
  return std::string(program.empty() ? "Python program" : program);
}

std::string ProgramOf(const ProcessRecord& process) {
  const auto& words = process.command;
  if (words.empty()) return std::string(FileName(process.executable));
  if (process.python_version.empty()) return std::string(FileName(words[0]));
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-c") return "-c";
    if (words[i] == "-m" && i + 1 < words.size()) return "-m " + words[i + 1];
    if ((words[i] == "-W" || words[i] == "-X") && i + 1 < words.size()) {
      ++i;  // an option with a value
    } else if (!words[i].empty() && words[i][0] != '-') {
      return std::string(FileName(words[i]));
    }
  }
  return std::string(FileName(words[0]));
}

std::string ProcessTitle(const ProcessRecord& process) {
  const std::string program = ProgramOf(process);
  return program.empty() ? fmt::format("process {}", process.pid)
                         : fmt::format("process {} ({})", process.pid, program);
}

bool HasSeveralProcesses(const ProfileReader& reader) {
  const auto& threads = reader.threads();
  return std::ranges::any_of(threads, [&](const ThreadRecord& thread) {
    return thread.process != threads.front().process;
  });
}

std::string ThreadTitle(const ProfileReader& reader, ThreadId id) {
  const ThreadRecord& thread = reader.threads().at(id);
  std::string title = fmt::format("thread {} ({})", thread.name, thread.tid);
  if (HasSeveralProcesses(reader))
    title += fmt::format(" of process {}", reader.processes().at(thread.process).pid);
  return title;
}

}  // namespace linescope
