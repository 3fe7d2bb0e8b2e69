#include "source/snapshot.h"

#include <fmt/format.h>

#include "source/index.h"
#include "source/target_files.h"
#include "source/text.h"

namespace linescope {
namespace {

// Start times of processes come in clock ticks since a boot time that is known to the second.
constexpr int64_t kClockSlackNs = 1'000'000'000;

// Why something in angle brackets has no source.
std::string PseudoFileNote(std::string_view file) {
  if (file.empty()) return "the code object names no file";
  if (file.starts_with("<frozen ")) return "frozen into the interpreter";
  if (file == "<string>") return "compiled from a string at run time";
  if (file == "<stdin>") return "read from standard input";
  if (file.starts_with("<ipython-input-")) return "a notebook cell; its text is in the notebook";
  if (file.starts_with("<__array_function__") || file.starts_with("<attrs generated") ||
      file.starts_with("<decorator-gen")) {
    return "generated at run time";
  }
  return "not a file";
}

// The archive that `path` lies in, "/a/lib.zip" of "/a/lib.zip/pkg/mod.py"; empty: none.
std::string ArchiveOf(const TargetFiles& files, const std::string& path) {
  for (size_t slash = path.rfind('/'); slash != 0 && slash != path.npos;
       slash = path.rfind('/', slash - 1)) {
    std::string above = path.substr(0, slash);
    if (!files.Exists(above)) continue;
    return files.IsDirectory(above) ? std::string() : above;
  }
  return {};
}

// The file, or the member of an archive, that code was loaded from.
Result<FileContents> ReadSource(const TargetFiles& files, const std::string& path,
                                uint64_t size_limit) {
  Result<FileContents> contents = files.Read(path, size_limit);
  if (contents) return contents;
  const std::string archive = ArchiveOf(files, path);
  if (archive.empty()) return contents;
  return files.ReadMember(archive, path.substr(archive.size() + 1), size_limit);
}

std::string MissingNote(const std::string& path, const std::string& error) {
  if (path.find("/ipykernel_") != path.npos) return "a notebook cell; its text is in the notebook";
  return error;
}

// Sets `verified` and the note of a snapshot that has its text.
void Verify(const SnapshotRequest& request, int64_t changed_unix_ns, SourceSnapshot& snapshot) {
  const bool has_evidence = !request.function_name.empty() && request.function_name != "<module>";
  if (has_evidence) {
    const SourceIndex index = IndexPython(DecodeSource(snapshot.text));
    if (!Matches(index, request.function_name, request.first_line)) {
      snapshot.verified = false;
      snapshot.note = fmt::format("not what was loaded: {} was at line {} when it ran",
                                  request.function_name, request.first_line);
      return;
    }
  }
  if (request.process_start_unix_ns == 0) return;
  if (changed_unix_ns <= request.process_start_unix_ns + kClockSlackNs) {
    snapshot.verified = true;
  } else if (has_evidence) {
    snapshot.note = "changed after the process started; what was running is still where it was";
  } else {
    snapshot.verified = false;
    snapshot.note = "changed after the process started: lines may have moved";
  }
}

}  // namespace

SourceSnapshot TakeSnapshot(const SnapshotRequest& request) {
  SourceSnapshot snapshot;
  snapshot.path = request.file;
  snapshot.in_project = request.in_project;
  if (IsPseudoFile(request.file)) {
    if (request.file == "<string>" && request.code) {
      snapshot.resolved_path = request.file;
      snapshot.text = *request.code;
      snapshot.verified = true;
      snapshot.note = "the code given by -c";
    } else {
      snapshot.note = PseudoFileNote(request.file);
    }
    return snapshot;
  }
  const TargetFiles files(request.pid);
  std::string folder = request.working_directory;
  if (folder.empty() && !request.file.starts_with('/')) folder = files.WorkingDirectory();
  const std::string path = AbsolutePath(request.file, folder);
  Result<FileContents> contents = ReadSource(files, path, request.size_limit);
  if (!contents) {
    snapshot.note = MissingNote(path, contents.error().what);
    return snapshot;
  }
  snapshot.resolved_path = path;
  snapshot.text = std::move(contents->bytes);
  Verify(request, contents->changed_unix_ns, snapshot);
  return snapshot;
}

}  // namespace linescope
