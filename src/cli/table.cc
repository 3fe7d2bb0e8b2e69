#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace linescope {

void TextTable::AddRow(std::vector<std::string> cells, const char* style) {
  styles_.push_back(style);
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Format(const Terminal& terminal, int indent) const {
  std::vector<int> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].heading);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_of) {
    std::string out(static_cast<size_t>(indent), ' ');
    int used = indent;
    for (size_t i = 0; i < columns_.size(); ++i) {
      std::string cell = cell_of(i);
      const bool last = i + 1 == columns_.size();
      if (last && terminal.width) cell = Ellipsize(cell, std::max(8, *terminal.width - used));
      const auto padding = static_cast<size_t>(std::max(0, widths[i] - DisplayWidth(cell)));
      if (columns_[i].align == Align::kRight) out.append(padding, ' ');
      out += cell;
      if (last) break;
      if (columns_[i].align == Align::kLeft) out.append(padding, ' ');
      out += "  ";
      used += widths[i] + 2;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  const std::string headings = line([&](size_t i) { return columns_[i].heading; });
  std::string out = terminal.colour ? "\x1b[2m" + headings + "\x1b[0m\n" : headings + "\n";
  for (size_t row = 0; row < rows_.size(); ++row) {
    const std::string text = line([&](size_t i) { return rows_[row][i]; });
    const bool styled = terminal.colour && *styles_[row] != '\0';
    out += styled ? fmt::format("\x1b[{}{}\x1b[0m\n", styles_[row], text) : text + "\n";
  }
  return out;
}

}  // namespace linescope
