#include "cli/dump_source.h"

#include "source/snapshot.h"

namespace linescope {
namespace {

// Files above are generated, and would only be slow to read.
constexpr uint64_t kSizeLimit = 8'000'000;
constexpr char kBlanks[] = " \t\f\r";

std::string Trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin));
}

}  // namespace

DumpSources::File& DumpSources::Open(const std::string& name) {
  const auto [entry, fresh] = files_.try_emplace(name);
  File& file = entry->second;
  if (!fresh) return file;
  file.snapshot = TakeSnapshot({.file = name,
                                .pid = pid_,
                                .working_directory = working_directory_,
                                .process_start_unix_ns = started_unix_ns_,
                                .size_limit = kSizeLimit});
  file.text = DecodeSource(file.snapshot.text);
  return file;
}

DumpSourceLine DumpSources::LineOf(const DumpFrame& frame) {
  if (frame.native || !frame.line || *frame.line <= 0) return {};
  File& file = Open(frame.file);
  if (file.snapshot.resolved_path.empty()) return {std::nullopt, file.snapshot.note};
  const auto line = static_cast<uint32_t>(*frame.line);
  std::string note;
  if (file.snapshot.verified != true) {
    // Newer than the process, which may have loaded it before or after the change.
    if (!file.index) file.index = IndexPython(file.text);
    const bool has_evidence = frame.name != "<module>" && file.index->complete;
    if (!has_evidence || line > file.text.LineCount() ||
        !Matches(*file.index, frame.name, static_cast<uint32_t>(frame.first_line))) {
      return {std::nullopt, "the file changed after the process started"};
    }
    note = "the file changed after the process started; the function is where it was";
  }
  return {Trimmed(file.text.Line(line)), note};
}

}  // namespace linescope
