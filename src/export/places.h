#pragma once
// What the formats share: names for places, threads and processes, and the order of samples.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/reader.h"

namespace linescope {

// A function's line as most formats know it, without columns.
struct Place {
  FunctionId function = 0;
  int32_t line = 0;  // 0: unknown
};

// The distinct places of a profile's stacks. The last one stands for kNoPython, and is there only
// when it is needed.
struct Places {
  std::vector<Place> places;
  std::vector<uint32_t> of_stack;  // by StackId
  uint32_t no_python = UINT32_MAX;

  // Root first; `no_python` alone for kNoStack.
  [[nodiscard]] std::vector<uint32_t> Path(const StackTree& tree, StackId stack) const;
};
Places CollectPlaces(const Profile& profile);

// Any bytes as valid UTF-8.
std::string ValidText(std::string text);
// The function's qualified name, valid; kNoPython for that place.
std::string PlaceName(const Profile& profile, const Places& places, uint32_t place);
std::string PlaceFile(const Profile& profile, const Places& places, uint32_t place);

// "LineScope 0.1.0".
std::string Creator(const RunInfo& run);
// The run's title, else its program; never empty.
std::string RunTitle(const RunInfo& run);
// "wall time", "time on a CPU", …: what the profile's Time is.
const char* TimeName(Weight weight);

// Time of one stack in one thread, as it is laid out along the run: within a bucket of the profile
// the order of samples is not known, so stacks with a common beginning stand side by side.
struct Slice {
  int64_t start_ns = 0, duration_ns = 0;
  StackId stack = kNoStack;
};
// By thread, in order of time; slices of a thread never overlap. Where a thread's samples stand for
// more time than their bucket lasts, what follows comes later.
Result<std::vector<std::vector<Slice>>> LayOutSlices(ProfileReader& reader, const Profile& profile);

// A frame that lasts from `start_ns` on, while the slices' stacks have it at `depth`.
struct FrameEvent {
  bool open = false;
  int64_t at_ns = 0;
  uint32_t place = 0;
};
// The slices of one thread as frames that open and close, properly nested. `places` says what is
// one frame: stacks that differ only in columns are not told apart.
std::vector<FrameEvent> FrameEvents(const StackTree& tree, const Places& places,
                                    const std::vector<Slice>& slices);

}  // namespace linescope
