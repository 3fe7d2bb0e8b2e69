#pragma once
// What a run, its processes and threads are called. Texts are as the profile has them and may hold
// any bytes.
#include <string>

#include "profile/reader.h"

namespace linescope {

// Its title, else its program.
std::string TitleOf(const RunInfo& run);
// What it runs: the script or module of a Python process, else the program. Empty: not known.
std::string ProgramOf(const ProcessRecord& process);
// "process 4712 (worker.py)".
std::string ProcessTitle(const ProcessRecord& process);
// "thread MainThread (4712)"; where other processes have threads, too, " of process 4712" is added.
std::string ThreadTitle(const ProfileReader& reader, ThreadId thread);

// More than one process has threads.
bool HasSeveralProcesses(const ProfileReader& reader);

}  // namespace linescope
