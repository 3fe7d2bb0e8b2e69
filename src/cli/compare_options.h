#pragma once
// What `diff` and `check` share.
#include "compare/comparison.h"

namespace CLI {
class App;
}

namespace linescope {

void AddScaleOption(CLI::App& app, const char* group, Scaling* scaling);

}  // namespace linescope
