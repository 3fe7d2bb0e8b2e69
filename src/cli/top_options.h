#pragma once

namespace CLI {
class App;
}

namespace linescope {

struct TopRun;

// The options that only `top` has.
void AddViewOptions(CLI::App& app, TopRun* run);

}  // namespace linescope
