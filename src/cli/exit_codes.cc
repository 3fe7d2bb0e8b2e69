#include "cli/exit_codes.h"

namespace linescope {

ExitCode ExitCodeFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kGone:
      return kExitGone;
    case ErrorCode::kDenied:
      return kExitDenied;
    case ErrorCode::kNotPython:
      return kExitNotPython;
    case ErrorCode::kUnsupported:
      return kExitUnsupported;
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
      return kExitFile;
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kInternal:
      break;
  }
  return kExitInternal;
}

const char kExitCodesHelp[] =
    "  126  the script or program exists but cannot be run\n"
    "  127  the script, program or interpreter does not exist\n"
    "  193  the command line or a configuration file makes no sense\n"
    "  194  there is no such process, or it ended\n"
    "  195  the system forbids reading the process\n"
    "  196  there is no Python interpreter in the process\n"
    "  197  this Python or this profile is of a version that is not supported\n"
    "  198  a profile or an output cannot be read or written\n"
    "  199  a mistake of LineScope's own\n";

}  // namespace linescope
