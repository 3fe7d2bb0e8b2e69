#pragma once
// Reading the kernel's small text files, which have no size and change while they are read.
#include <string>

#include "base/result.h"

namespace linescope {

// The whole of `path`, in as few reads as the file allows. kGone when the process it belongs to has
// ended, kDenied when the kernel forbids it, else kIo.
Result<std::string> ReadProcFile(const std::string& path);

// Where the symbolic link `path` points, of any length. Same errors.
Result<std::string> ReadProcLink(const std::string& path);

// What an errno from a file below /proc/PID means.
ErrorCode ProcErrorCode(int error);

}  // namespace linescope
