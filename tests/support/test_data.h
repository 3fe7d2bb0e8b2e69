#pragma once
// Where the tests' own files lie.
#include <filesystem>

namespace linescope {

// `name` below tests/ of the source tree. The tree's place is known to one object file, so that all
// others are the same in every clone.
std::filesystem::path TestData(const std::filesystem::path& name);

}  // namespace linescope
