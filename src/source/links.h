#pragma once
// Source navigation: which names of a project's sources lead to which definitions in it. Follows
// imports, aliases, `self`, instances and base classes through the files it is given. What is in
// doubt has no link: an absent link is better than a wrong one.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source/index.h"

namespace linescope {

// A piece of a line that names a definition, in UTF-16 units; `file` and `target_line` are where
// that begins: the line of its `def` or `class`, or line 1 of a module.
struct Link {
  uint32_t line = 0, column = 0, length = 0;
  uint32_t file = 0, target_line = 0;
  bool operator==(const Link&) const = default;
};

struct LinkSource {
  std::string_view path;
  const SourceIndex* index = nullptr;  // nullptr: its text is not known
};

// Folders that the program imports from.
struct ImportRoots {
  // Searched before the standard library: the folders of the scripts that were run.
  std::vector<std::string> scripts;
  // Searched after it.
  std::vector<std::string> others;
};

// The links of each source, by line and column. Further roots are learnt from files that name their
// own package in an import. The same sources give the same links.
std::vector<std::vector<Link>> ResolveLinks(std::span<const LinkSource> sources,
                                            const ImportRoots& roots);

}  // namespace linescope
