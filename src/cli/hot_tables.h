#pragma once
// The hottest lines and functions of a profile as tables: for `stats` and for the summary after a
// run.
#include <map>
#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "profile/profile.h"
#include "profile/reader.h"
#include "profile/stats.h"
#include "source/text.h"

namespace linescope {

// Each is empty when no row has a sample.
std::string HotLinesTable(ProfileReader& reader, const Profile& profile, const RankOptions& rank,
                          const Terminal& terminal);
std::string HotFunctionsTable(const RunInfo& run, const Profile& profile, const RankOptions& rank,
                              const Terminal& terminal);

// Looks up lines of the sources that a profile holds; decodes each of them once.
class SourceLines {
 public:
  SourceLines(ProfileReader& reader, const Profile& profile) : reader_(reader), profile_(profile) {}
  // Without indentation; empty when the source or the line is unavailable.
  std::string Line(FileId file, int32_t line);
  // The same with it; valid as long as this object.
  std::string_view Whole(FileId file, int32_t line);

 private:
  ProfileReader& reader_;
  const Profile& profile_;
  std::map<FileId, SourceText> texts_;
};

}  // namespace linescope
