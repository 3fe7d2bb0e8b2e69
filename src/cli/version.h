#pragma once

namespace linescope {

// The project's, as CMake has it.
inline constexpr char kVersion[] = LINESCOPE_VERSION;

}  // namespace linescope
