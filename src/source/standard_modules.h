#pragma once
#include <string_view>

namespace linescope {

// True for a top-level module of CPython's standard library (3.8 to 3.15).
bool IsStandardModule(std::string_view name);
// True for those that an interpreter has imported before it runs a script, or has built in: no file
// of a program can take their place.
bool IsStartupModule(std::string_view name);

}  // namespace linescope
