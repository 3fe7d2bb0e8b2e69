#include "process/maps.h"

#include <algorithm>
#include <charconv>

#include "process/proc_file.h"

namespace linescope {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Takes a number up to `separator` off the front of `line`; false when there is none.
template <class T>
bool TakeNumber(std::string_view* line, int base, char separator, T* value) {
  const auto [stop, error] =
      std::from_chars(line->data(), line->data() + line->size(), *value, base);
  const size_t length = static_cast<size_t>(stop - line->data());
  if (error != std::errc() || length == line->size() || *stop != separator) return false;
  line->remove_prefix(length + 1);
  return true;
}

std::string Unescape(std::string_view escaped) {
  std::string path;
  path.reserve(escaped.size());
  while (!escaped.empty()) {
    const size_t at = std::min(escaped.find("\\012"), escaped.size());
    path += escaped.substr(0, at);
    escaped.remove_prefix(at);
    if (escaped.empty()) break;
    path += '\n';
    escaped.remove_prefix(4);
  }
  return path;
}

bool ParseLine(std::string_view line, Mapping* mapping) {
  if (!TakeNumber(&line, 16, '-', &mapping->start) || !TakeNumber(&line, 16, ' ', &mapping->end))
    return false;
  if (mapping->end <= mapping->start || line.size() < 5 || line[4] != ' ') return false;
  mapping->readable = line[0] == 'r';
  mapping->writable = line[1] == 'w';
  mapping->executable = line[2] == 'x';
  mapping->shared = line[3] == 's';
  line.remove_prefix(5);
  if (!TakeNumber(&line, 16, ' ', &mapping->offset) ||
      !TakeNumber(&line, 16, ':', &mapping->device_major) ||
      !TakeNumber(&line, 16, ' ', &mapping->device_minor)) {
    return false;
  }
  // The inode ends the line of anonymous memory, on old kernels without a space.
  const size_t digits = std::min(line.find(' '), line.size());
  const auto [stop, error] = std::from_chars(line.data(), line.data() + digits, mapping->inode);
  if (error != std::errc() || stop != line.data() + digits) return false;
  line.remove_prefix(digits);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (mapping->inode != 0 && line.ends_with(kDeleted)) {
    mapping->deleted = true;
    line.remove_suffix(kDeleted.size());
  }
  mapping->path = Unescape(line);
  return true;
}

}  // namespace

Result<std::vector<Mapping>> ParseMaps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Mapping& mapping = mappings.emplace_back();
    if (!ParseLine(line, &mapping)) {
      return Fail(ErrorCode::kCorrupt, "line {} of a maps file of /proc makes no sense: {}",
                  mappings.size(), line);
    }
  }
  return mappings;
}

Result<std::vector<Mapping>> ReadMaps(int pid) {
  LS_TRY(text, ReadProcFile(fmt::format("/proc/{}/maps", pid)));
  return ParseMaps(text);
}

}  // namespace linescope
