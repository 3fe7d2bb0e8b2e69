#include "cli/compare_options.h"

#include "cli/option_types.h"

namespace linescope {

void AddScaleOption(CLI::App& app, const char* group, Scaling* scaling) {
  AddChoice<Scaling>(
      app,
      {"--scale", "",
       "times of the new run as they are (none), or as if it had lasted as long as the base "
       "(elapsed); auto, the default, takes times as they are unless one of the runs was attached "
       "to or cut off",
       group},
      {{"auto", Scaling::kAuto}, {"none", Scaling::kNone}, {"elapsed", Scaling::kElapsed}},
      scaling);
}

}  // namespace linescope
