#pragma once
// As whom LineScope works when root has started it.
#include <optional>
#include <string>

#include "process/user.h"

namespace linescope {

// Becomes `user` (a name or number, from --user) or, where that is empty and sudo has started us,
// who called sudo: the program and all results are that user's. Returns the exit status after a
// failure, which it prints.
std::optional<int> RunAs(const std::string& user, KeepFiles files, bool verbose);

}  // namespace linescope
