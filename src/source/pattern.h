#pragma once
// The patterns of --include and --exclude.
#include <string>
#include <string_view>

#include "base/result.h"

namespace linescope {

// A path glob or a dotted module name. A pattern with a '/' or ending in ".py", or beginning with
// '.' or '~', is a path; anything else is a module. Either matches what it names and everything
// below it.
//
// Paths: `*` and `?` stay within one name, `**` spans folders, `[a-z]` and `[!a-z]` are sets. A
// path without a '/' ("*_test.py") matches a name at any depth; a relative one is taken from the
// project's root. Modules: `*`, `?` and sets as well; `*` also spans dots.
class ScopePattern {
 public:
  // `home` replaces a leading "~/". Fails with kUsage for an empty pattern and an unclosed '['.
  static Result<ScopePattern> Parse(std::string_view text, std::string_view root,
                                    std::string_view home);

  bool is_path() const { return is_path_; }
  const std::string& text() const { return text_; }  // as the user wrote it
  bool MatchesPath(std::string_view absolute_path) const;
  bool MatchesModule(std::string_view dotted_name) const;

 private:
  std::string text_;
  std::string glob_;
  bool is_path_ = false;
  bool any_depth_ = false;
};

// One glob against one whole text. `separator` is what `*` and `?` do not match; 0: they match
// everything.
bool GlobMatch(std::string_view glob, std::string_view text, char separator);

}  // namespace linescope
