#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/dump_read.h"
#include "profile/model.h"
#include "source/index.h"
#include "source/text.h"

namespace linescope {

struct DumpSourceLine {
  std::optional<std::string> text;  // without the blanks around it
  std::string note;                 // what there is to say of the file; empty: nothing
};

// The source lines of a dump's frames, from the files as the target sees them. A file that has
// changed since it was loaded shows nothing, or, where the function still stands where it stood,
// its line and a note.
class DumpSources {
 public:
  explicit DumpSources(const ProcessDump& dump)
      : pid_(dump.pid),
        working_directory_(dump.working_directory),
        started_unix_ns_(dump.started_unix_ns) {}

  DumpSourceLine LineOf(const DumpFrame& frame);

 private:
  struct File {
    SourceSnapshot snapshot;
    SourceText text;
    std::optional<SourceIndex> index;  // where it is needed as evidence
  };
  File& Open(const std::string& name);

  int pid_;
  std::string working_directory_;
  int64_t started_unix_ns_;
  std::map<std::string, File> files_;
};

}  // namespace linescope
