#pragma once
// What threads and processes are called in exports. Texts are as the profile has them and may hold
// any bytes.
#include <string>

#include "profile/reader.h"

namespace linescope {

// What it runs: the script or module of a Python process, else the program. Empty: not known.
std::string ProgramOf(const ProcessRecord& process);
// "process 4712 (worker.py)".
std::string ProcessTitle(const ProcessRecord& process);
// "thread MainThread (4712)"; where other processes have threads, too, " of process 4712" is added.
std::string ThreadTitle(const ProfileReader& reader, ThreadId thread);

// More than one process has threads.
bool HasSeveralProcesses(const ProfileReader& reader);

}  // namespace linescope
