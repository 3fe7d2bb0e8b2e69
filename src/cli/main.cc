#include <exception>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "process/launch.h"

int main(int argc, char** argv) {
  // Before anything else: the target gets the signals' dispositions and mask as they are now.
  linescope::SaveInheritedSignals();
  try {
    return linescope::LineScopeMain({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    linescope::PrintError(error.what());
    return linescope::kExitInternal;
  }
}
