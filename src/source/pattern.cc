#include "source/pattern.h"

#include <algorithm>

#include "source/target_files.h"

namespace linescope {
namespace {

// Whether `c` is in the set that begins after the '[' at `glob[0]`; `*length` is the length of the
// whole set.
bool InSet(std::string_view glob, char c, size_t* length) {
  size_t i = 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < glob.size() && (glob[i] != ']' || first); first = false) {
    const char low = glob[i];
    char high = low;
    if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
      high = glob[i + 2];
      i += 2;
    }
    ++i;
    if (low <= c && c <= high) found = true;
  }
  *length = std::min(i + 1, glob.size());
  return found != negated;
}

bool HasUnclosedSet(std::string_view glob) {
  for (size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] != '[') continue;
    size_t begin = i + 1;
    if (begin < glob.size() && (glob[begin] == '!' || glob[begin] == '^')) ++begin;
    const size_t end = glob.find(']', begin + 1);  // a ']' that comes first is a member
    if (end == std::string_view::npos) return true;
    i = end;
  }
  return false;
}

}  // namespace

// Remembers the last `*` and the last `**` and returns to them when what follows does not fit. An
// earlier one of either need not be remembered: whatever it could be made to match, the later one
// can too.
bool GlobMatch(std::string_view glob, std::string_view text, char separator) {
  constexpr size_t kNone = std::string_view::npos;
  size_t g = 0, t = 0;
  size_t star_glob = kNone, star_text = 0;
  size_t wide_glob = kNone, wide_text = 0;
  bool wide_names = false;  // "**/": stands for whole names only
  while (true) {
    if (g < glob.size() && glob.substr(g).starts_with("**")) {
      g += 2;
      // "a/**/b" also matches "a/b", but not "a/xb".
      wide_names = separator != 0 && g < glob.size() && glob[g] == separator &&
                   (t == 0 || text[t - 1] == separator) && (g == 2 || glob[g - 3] == separator);
      if (wide_names) ++g;
      wide_glob = g;
      wide_text = t;
      star_glob = kNone;
      continue;
    }
    if (g < glob.size() && glob[g] == '*') {
      star_glob = ++g;
      star_text = t;
      continue;
    }
    if (t < text.size() && g < glob.size()) {
      size_t length = 1;
      const bool fits = glob[g] == '?' ? text[t] != separator
                        : glob[g] == '['
                            ? text[t] != separator && InSet(glob.substr(g), text[t], &length)
                            : glob[g] == text[t];
      if (fits) {
        g += length;
        ++t;
        continue;
      }
    } else if (t == text.size() && g == glob.size()) {
      return true;
    }
    if (star_glob != kNone && star_text < text.size() && text[star_text] != separator) {
      g = star_glob;
      t = ++star_text;
    } else if (wide_glob != kNone && wide_text < text.size()) {
      const size_t next = wide_names ? text.find(separator, wide_text) : wide_text;
      if (next == kNone) return false;
      g = wide_glob;
      t = wide_text = next + 1;
      star_glob = kNone;
    } else {
      return false;
    }
  }
}

Result<ScopePattern> ScopePattern::Parse(std::string_view text, std::string_view root,
                                         std::string_view home) {
  ScopePattern pattern;
  pattern.text_ = text;
  if (text.empty()) return Fail(ErrorCode::kUsage, "an --include or --exclude pattern is empty");
  if (HasUnclosedSet(text)) {
    return Fail(ErrorCode::kUsage, "the pattern \"{}\" has a '[' without a ']'", text);
  }
  const bool has_slash = text.find('/') != std::string_view::npos;
  pattern.is_path_ =
      has_slash || text.ends_with(".py") || text.front() == '.' || text.front() == '~';
  if (!pattern.is_path_) {
    pattern.glob_ = text;
    return pattern;
  }
  if (!has_slash && text.front() != '.' && text.front() != '~') {
    pattern.any_depth_ = true;
    pattern.glob_ = text;
    return pattern;
  }
  std::string path(text);
  if (text == "~" || text.starts_with("~/")) path = std::string(home) + path.substr(1);
  if (text.starts_with("**/")) path = "/" + path;
  pattern.glob_ = AbsolutePath(path, root);
  return pattern;
}

bool ScopePattern::MatchesPath(std::string_view absolute_path) const {
  if (!is_path_) return false;
  if (any_depth_) {
    while (!absolute_path.empty()) {
      const size_t slash = absolute_path.rfind('/');
      const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
      if (GlobMatch(glob_, absolute_path.substr(begin), '/')) return true;
      absolute_path = absolute_path.substr(0, begin == 0 ? 0 : begin - 1);
    }
    return false;
  }
  // The path itself, then each folder above it.
  while (!absolute_path.empty()) {
    if (GlobMatch(glob_, absolute_path, '/')) return true;
    absolute_path = absolute_path.substr(0, absolute_path.rfind('/'));
  }
  return glob_ == "/";
}

bool ScopePattern::MatchesModule(std::string_view dotted_name) const {
  if (is_path_) return false;
  while (!dotted_name.empty()) {
    if (GlobMatch(glob_, dotted_name, 0)) return true;
    const size_t dot = dotted_name.rfind('.');
    dotted_name = dotted_name.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return false;
}

}  // namespace linescope
