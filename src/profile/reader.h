#pragma once
// Reads a `.linescope` file: finished, or left behind by a recorder that was killed. FORMAT.md
// describes the database. The file is never changed: a finished one is opened as immutable; one
// with a write-ahead log beside it is read through the log, in place where that is possible and
// else in a private copy. Everything in the file is untrusted. Not thread-safe.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/model.h"
#include "profile/profile.h"

namespace linescope {

struct ProcessRecord : ProcessInfo {
  std::optional<int64_t> end_ns;  // nullopt: outlived the run, or not known
  std::optional<int> exit_code, term_signal;
};

struct ThreadRecord : ThreadInfo {
  std::optional<int64_t> end_ns;
};

// A snapshot without its text, which ProfileReader::SourceText unpacks on demand.
struct SourceRecord {
  std::string path, resolved_path;
  SourceKind kind = SourceKind::kPython;
  bool in_project = false;
  std::optional<bool> verified;
  std::string note;
  bool has_text = false;
  uint64_t text_bytes = 0;
  std::string sha256;  // lower-case hex of the text; empty without text
};

struct DropCount {
  std::string reason;  // DropReasonName, or that of a later version
  uint64_t count = 0;
};

class ProfileReader {
 public:
  // kIo: missing or unreadable; kCorrupt: not a LineScope profile, or damaged; kUnsupported:
  // written by a later major version of the format.
  static Result<std::unique_ptr<ProfileReader>> Open(const std::filesystem::path& path);
  // A database image in memory. `name` appears in errors.
  static Result<std::unique_ptr<ProfileReader>> FromBytes(std::span<const uint8_t> bytes,
                                                          const std::string& name);
  virtual ~ProfileReader() = default;

  // Everything small was read by Open.
  [[nodiscard]] virtual const RunInfo& run() const = 0;
  // The state is kInterrupted for a profile whose recorder was killed (or is still at work: a file
  // cannot tell); then elapsed_ns and samples are as of the last commit.
  [[nodiscard]] virtual const RunEnd& end() const = 0;
  [[nodiscard]] virtual const std::vector<ProcessRecord>& processes() const = 0;
  [[nodiscard]] virtual const std::vector<ThreadRecord>& threads() const = 0;
  [[nodiscard]] virtual const std::vector<SourceRecord>& sources() const = 0;
  [[nodiscard]] virtual const std::vector<DropCount>& drops() const = 0;
  [[nodiscard]] virtual const std::vector<Diagnostic>& diagnostics() const = 0;

  // kUsage: no such source, or its text is unavailable (see SourceRecord::note).
  virtual Result<std::string> SourceText(SourceId source) = 0;
  // Reads functions, stacks and samples, and adds them up.
  virtual Result<Profile> Load(Weight weight) = 0;
  // Load with the weight that the run asks for.
  Result<Profile> Load() { return Load(WeightOf(run())); }
  // Calls `visit` for every row of the sample table, by bucket. A row covers [bucket * width,
  // (bucket + buckets) * width) nanoseconds since the start of the run: where samples are few, or
  // steady, their time is only known that well. See ForEachBucket.
  virtual Status ForEachSample(const std::function<void(const SampleRow&)>& visit) = 0;
  // What each thread did over time: the same samples without their stacks (cell.stack is kNoStack),
  // in finer time and fewer rows.
  virtual Status ForEachActivity(const std::function<void(const SampleRow&)>& visit);
  [[nodiscard]] virtual int64_t bucket_width_ns() const = 0;
};

}  // namespace linescope
