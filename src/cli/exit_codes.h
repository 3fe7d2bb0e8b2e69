#pragma once
// Exit statuses of LineScope's own failures. They lie between the statuses of death by a signal
// (128 + 1 … 64) and those that systemd gives a meaning (200 and up), because everything lower is
// taken: sysexits.h, timeout, xargs and Python, which ends with 120 when it cannot flush its
// output. 126 and 127 mean what they mean in a shell.
#include "base/result.h"

namespace linescope {

enum ExitCode : int {
  kExitOk = 0,
  kExitOver = 1,           // check: over the budget, or slower than the baseline
  kExitNotRunnable = 126,  // the script or program exists but cannot be run
  kExitNotFound = 127,     // the script, program or interpreter does not exist
  kExitUsage = 193,        // the command line or a configuration file makes no sense
  kExitGone = 194,         // there is no such process, or it ended
  kExitDenied = 195,       // the system forbids reading the process
  kExitNotPython = 196,    // there is no Python interpreter in the process
  kExitUnsupported = 197,  // this Python or this profile is of a version that is not supported
  kExitFile = 198,         // a profile or an output cannot be read or written
  kExitInternal = 199,     // a mistake of ours
};

// The status for an error that ended a command.
ExitCode ExitCodeFor(ErrorCode code);

// The table above for --help.
extern const char kExitCodesHelp[];

}  // namespace linescope
