#pragma once
// Tables of text for the terminal.
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace linescope {

// Columns as wide as their widest cell, two blanks apart. The last column is cut where the terminal
// ends. Cells are made printable.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns. `style` is what follows "\x1b[" to colour the row, where
  // there are colours.
  void AddRow(std::vector<std::string> cells, const char* style = "");
  // Lines that end in '\n', each begun by `indent` blanks. Headings are dimmed where there are
  // colours.
  [[nodiscard]] std::string Format(const Terminal& terminal, int indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<const char*> styles_;  // by row
};

}  // namespace linescope
