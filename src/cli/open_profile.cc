#include "cli/open_profile.h"

#include "cli/terminal.h"

namespace linescope {

Result<OpenedProfile> OpenProfile(const std::string& path) {
  LS_TRY(reader, ProfileReader::Open(path));
  LS_TRY(profile, reader->Load());
  if (reader->end().state != ProfileState::kComplete) {
    PrintWarning(
        fmt::format("'{}' was not finished: the recording was cut off, or goes on; this is what "
                    "was stored so far",
                    Printable(path)));
  }
  return OpenedProfile{std::move(reader), std::move(profile)};
}

}  // namespace linescope
