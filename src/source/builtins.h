#pragma once
#include <string_view>

namespace linescope {

// True for names that Python's `builtins` module holds (functions, types, exceptions; 3.8 to 3.15),
// except True, False, None.
bool IsBuiltinName(std::string_view name);

}  // namespace linescope
