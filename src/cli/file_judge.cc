#include "cli/file_judge.h"

#include <algorithm>

#include "source/snapshot.h"

namespace linescope {

FileJudge MakeFileJudge(std::shared_ptr<ProjectScope> scope, std::string working_directory,
                        std::optional<std::string> code) {
  return [scope = std::move(scope), code = std::move(code),
          working_directory =
              std::move(working_directory)](const SessionOptions::FileRequest& request) {
    SessionOptions::FileAnswer answer;
    ScopeFile file;
    file.file = request.file;
    file.stdlib_dir = request.stdlib_dir;
    answer.in_project = scope->InProject(file);
    if (!answer.in_project) return answer;
    SnapshotRequest snapshot;
    snapshot.file = request.file;
    snapshot.pid = request.pid;
    snapshot.working_directory = working_directory;
    snapshot.process_start_unix_ns = request.process_start_unix_ns;
    snapshot.in_project = true;
    snapshot.code = code;
    snapshot.function_name = request.function_name;
    snapshot.first_line = static_cast<uint32_t>(std::max(0, request.first_line));
    answer.snapshot = TakeSnapshot(snapshot);
    return answer;
  };
}

}  // namespace linescope
