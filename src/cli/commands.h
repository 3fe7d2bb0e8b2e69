#pragma once
// The commands. Each takes the words after its name and returns the exit status.
#include <span>
#include <string>
#include <vector>

namespace linescope {

using Arguments = std::vector<std::string>;

struct Command {
  const char* name;
  const char* summary;
  int (*main)(const Arguments& arguments);
};
std::span<const Command> Commands();

int RunMain(const Arguments& arguments);
int AttachMain(const Arguments& arguments);
int DumpMain(const Arguments& arguments);
int TopMain(const Arguments& arguments);
int ReportMain(const Arguments& arguments);
int StatsMain(const Arguments& arguments);
int ExportMain(const Arguments& arguments);
int DiffMain(const Arguments& arguments);
int CheckMain(const Arguments& arguments);
int DoctorMain(const Arguments& arguments);

// `linescope` as a whole: chooses the command; a script, -m, -c or an option in its place means
// `run`.
int LineScopeMain(const Arguments& arguments);

}  // namespace linescope
