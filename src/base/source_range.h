#pragma once
// Where a piece of Python source stands in its file.
#include <cstdint>

namespace linescope {

inline constexpr int32_t kNoLine = 0;
inline constexpr int32_t kNoColumn = -1;

// As CPython says it (PEP 657): lines count from 1, columns are bytes of the line in UTF-8 and
// count from 0, the end is exclusive. Without columns end_line is kNoLine too.
struct SourceRange {
  int32_t line = kNoLine, end_line = kNoLine;
  int32_t column = kNoColumn, end_column = kNoColumn;

  [[nodiscard]] bool has_columns() const { return column != kNoColumn; }
  auto operator<=>(const SourceRange&) const = default;
};

}  // namespace linescope
