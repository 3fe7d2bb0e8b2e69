#pragma once
#include <string>

#include "cli/dump_read.h"
#include "cli/dump_source.h"
#include "cli/terminal.h"

namespace linescope {

// What `dump` shows people: of each thread a heading and a line a frame, newest call first.
std::string DumpText(const ProcessDump& dump, DumpSources& sources, const Terminal& terminal);

// What `dump --json` prints: one object on one line; see DUMP.md.
std::string DumpJson(const ProcessDump& dump, DumpSources& sources);

}  // namespace linescope
