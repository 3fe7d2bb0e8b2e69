#pragma once
// Reads one table out of a TOML document: what a configuration needs, without keeping the rest. The
// whole document is scanned by TOML 1.0's rules for keys, strings, arrays and inline tables, so
// that nothing inside another tool's settings is mistaken for ours. Dates are accepted and kept as
// text.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linescope {

struct TomlValue {
  enum class Kind { kString, kNumber, kBoolean, kArray, kOther };
  Kind kind = Kind::kOther;
  std::string text;              // a string's content; a number without underscores; true or false
  std::vector<TomlValue> items;  // of an array
};

struct TomlEntry {
  std::string key;  // below the table; dotted for what lies deeper
  TomlValue value;
  int line = 0;  // 1-based
};

// The entries of `table` ("tool.linescope"; empty: the document's root), in the document's order,
// whichever way they are written: under a header, as dotted keys, or as an inline table. Fails with
// kCorrupt, naming the line.
Result<std::vector<TomlEntry>> ReadTomlTable(std::string_view document, std::string_view table);

}  // namespace linescope
