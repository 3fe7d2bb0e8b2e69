#pragma once
// A copy of a source file, taken while the program that loaded it runs.
#include <cstdint>
#include <optional>
#include <string>

#include "profile/model.h"

namespace linescope {

struct SnapshotRequest {
  std::string file = {};               // co_filename
  int pid = 0;                         // whose root and working directory apply; 0: ours
  std::string working_directory = {};  // of the target; empty: asked from `pid`
  int64_t process_start_unix_ns = 0;   // CLOCK_REALTIME; 0: unknown, nothing is verified
  bool in_project = false;
  std::optional<std::string> code = {};  // text of -c, the source of "<string>"
  // A code object of this file, if one is at hand: evidence beside the file's times.
  std::string function_name = {};
  uint32_t first_line = 0;
  uint64_t size_limit = 32'000'000;  // bytes; larger files are not stored, and the note says so
};

// Always gives a snapshot. Without text (`resolved_path` empty) the note says why, and `verified`
// is empty. With text, `verified` is
//   true   the file has not changed since the process started, and the code object stands where the
//   file says false  it has, or the file contradicts the code object; the note tells which empty
//   cannot be told: the process's start is unknown, or the file is newer than the process but
//   agrees with the code object
SourceSnapshot TakeSnapshot(const SnapshotRequest& request);

}  // namespace linescope
