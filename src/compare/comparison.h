#pragma once
// Two runs side by side: how the time of files, functions and lines changed from a base.
//
// A change is *noise* when sampling alone may well have made it: docs/comparing.md says how that
// is decided. Only changes that are none count as faster or slower.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/matching.h"
#include "compare/run_data.h"

namespace linescope {

// False discoveries among the changes that are called real, at most, on average.
inline constexpr double kFalseDiscoveries = 0.01;

enum class Scaling : uint8_t {
  kAuto,     // kNone for two whole runs, kElapsed where one is a part of its program's life
  kNone,     // times as they are
  kElapsed,  // times of the new run as if it had lasted as long as the base
};

struct Change {
  RunCost base, now;      // as measured
  int64_t now_scaled_ns;  // now.time_ns made comparable
  int64_t delta_ns = 0;   // now_scaled_ns - base.time_ns
  double chance = 1;      // that sampling made a difference of this size
  bool noise = true;
  // delta / base; none of nothing.
  [[nodiscard]] std::optional<double> relative() const;
};

struct FileChange {
  std::optional<uint32_t> base, now;  // at least one
  Change change;
};
struct FunctionChange {
  std::optional<uint32_t> base, now;
  Change change;
};
struct LineChange {
  MatchKind kind = MatchKind::kNone;
  std::optional<uint32_t> base_file, now_file;  // at least one
  uint32_t base_line = 0, now_line = 0;         // 0: not there
  Change change;
};

struct Comparison {
  RunData base, now;
  Matching matching;
  bool scaled = false;
  double scale = 1;  // of the new run's times
  Change total, project;
  // Those with samples on a side. Greatest change first: slower before faster of equal size, then
  // by place.
  std::vector<FileChange> files;
  std::vector<FunctionChange> functions;
  std::vector<LineChange> lines;
  std::vector<std::string> notes;  // sentences: what limits the comparison
};

struct CompareOptions {
  Scaling scaling = Scaling::kAuto;
};

// Fails with kUsage when the two count different things.
Result<Comparison> Compare(RunData base, RunData now, const CompareOptions& options = {});

// Names for people: "pkg/io.py:84", "pkg/io.py:Reader.read".
std::string PlaceOf(const Comparison& comparison, const LineChange& line);
std::string PlaceOf(const Comparison& comparison, const FileChange& file);
// The function's name, with its old one where it was renamed.
std::string NameOf(const Comparison& comparison, const FunctionChange& function);
// The line's text without indentation, that of the new run where it is there.
std::string TextOf(const Comparison& comparison, const LineChange& line);

// "moved from pkg/old.py:12", "new", "gone", "edited"; empty: the line stands where it stood.
std::string HistoryOf(const Comparison& comparison, const LineChange& line);

// One sentence on what the numbers are: how runs of different lengths are treated.
std::string ScaleText(const Comparison& comparison);

// "+1.23 s", "−45.6 ms", "0 ns".
std::string FormatDelta(int64_t ns);
// "+12.3%"; "new" or "gone" where there was, or is, nothing.
std::string FormatRelative(const Change& change);

}  // namespace linescope
