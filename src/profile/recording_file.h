#pragma once
// Where a recording is written, so that no run destroys what it should not:
//
//   nothing at `path`, or an empty file   recorded at `path` itself, findable whatever dies
//   a LineScope profile                   recorded at `path`.partial (.partial2, …), which takes
//   its
//                                         place when the run is finished
//   anything else                         refused
#include <filesystem>

#include "base/result.h"

namespace linescope {

struct RecordingFile {
  std::filesystem::path final_path;      // absolute, symbolic links resolved
  std::filesystem::path recording_path;  // equal to final_path, or beside it

  // kUsage: the place is impossible; the sentence says why.
  static Result<RecordingFile> Choose(const std::filesystem::path& path);
  // Moves a finished recording (one file, closed) to its final place.
  [[nodiscard]] Status Publish() const;
  // Removes the recording; only for one that could not even begin.
  void Remove() const;
};

// Reads the first 100 bytes: an SQLite database with LineScope's application id?
bool LooksLikeProfile(const std::filesystem::path& path);

}  // namespace linescope
