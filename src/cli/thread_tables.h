#pragma once
// Processes and threads of a profile with what they did, as `stats` shows them.
#include <string>

#include "cli/terminal.h"
#include "profile/reader.h"
#include "profile/thread_times.h"
#include "report/json_writer.h"

namespace linescope {

// Threads with the most CPU time first, at most `limit`; what is left out is one more row. Above
// them, where there are several, the processes that were sampled.
std::string ThreadTables(const ProfileReader& reader, const ThreadTimes& times, size_t limit,
                         const Terminal& terminal);

// "processes", "threads" and "states" (of all) into the object that is open.
void WriteThreadTimes(const ProfileReader& reader, const ThreadTimes& times, JsonWriter& json);

}  // namespace linescope
