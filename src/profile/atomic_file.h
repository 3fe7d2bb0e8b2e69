#pragma once
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace linescope {

// Writes `.<name>.<pid>.partial` beside `path` and renames it, so that `path` holds the old bytes
// or the new ones, never some of them. Something that is no regular file (/dev/stdout, a pipe) is
// written to directly.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace linescope
