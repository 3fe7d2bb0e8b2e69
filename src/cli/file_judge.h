#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sampler/session.h"
#include "source/scope.h"

namespace linescope {

using FileJudge = std::function<SessionOptions::FileAnswer(const SessionOptions::FileRequest&)>;

// Says which files are the project's, and takes snapshots of those. `code` is the text of -c.
FileJudge MakeFileJudge(std::shared_ptr<ProjectScope> scope, std::string working_directory,
                        std::optional<std::string> code);

}  // namespace linescope
