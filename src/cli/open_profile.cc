#include "cli/open_profile.h"

#include "cli/terminal.h"

namespace linescope {

void WarnUnfinished(const std::string& path) {
  PrintWarning(
      fmt::format("'{}' was not finished: the recording was cut off, or goes on; this is what was "
                  "stored so far",
                  Printable(path)));
}

Result<OpenedProfile> OpenProfile(const std::string& path) {
  LS_TRY(reader, ProfileReader::Open(path));
  LS_TRY(profile, reader->Load());
  if (reader->end().state != ProfileState::kComplete) WarnUnfinished(path);
  return OpenedProfile{std::move(reader), std::move(profile)};
}

}  // namespace linescope
