#include "source/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace linescope {
namespace {

constexpr std::string_view kEllipsis = "…";

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\f") == line.npos; }

// The white space that all lines with something in them begin with.
std::string_view CommonIndentation(const std::vector<std::string_view>& lines) {
  std::string_view common;
  bool first = true;
  for (std::string_view line : lines) {
    if (IsBlank(line)) continue;
    const std::string_view indentation = line.substr(0, line.find_first_not_of(" \t\f"));
    if (first) {
      common = indentation;
      first = false;
    } else {
      const auto end = std::ranges::mismatch(common, indentation).in1;
      common = common.substr(0, static_cast<size_t>(end - common.begin()));
    }
  }
  return common;
}

// Which lines of `statement` to show: all, or the first, a window around `line`, and the last.
std::vector<uint32_t> ChooseLines(LineRange statement, uint32_t line, uint32_t limit) {
  const uint32_t count = statement.last - statement.first + 1;
  std::vector<uint32_t> chosen;
  if (count <= limit) {
    for (uint32_t i = statement.first; i <= statement.last; ++i) chosen.push_back(i);
    return chosen;
  }
  const uint32_t window = limit - 2;
  const uint32_t highest_start = statement.last - window;
  uint32_t start = line > window / 2 ? line - window / 2 : 1;
  start = std::clamp(start, statement.first + 1, highest_start);
  chosen.push_back(statement.first);
  for (uint32_t i = start; i < start + window; ++i) chosen.push_back(i);
  chosen.push_back(statement.last);
  return chosen;
}

}  // namespace

Excerpt StatementExcerpt(const SourceText& source, const SourceIndex& index, uint32_t line,
                         const ExcerptLimits& limits) {
  Excerpt excerpt;
  excerpt.lines = {line, line};
  if (line == 0 || line > source.LineCount()) return excerpt;
  excerpt.lines = index.StatementAt(line).value_or(excerpt.lines);

  const std::vector<uint32_t> numbers =
      ChooseLines(excerpt.lines, line, std::max(limits.lines, 3U));
  std::vector<std::string_view> lines;
  for (uint32_t number : numbers) lines.push_back(source.Line(number));
  const size_t indentation = CommonIndentation(lines).size();

  uint32_t previous = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (previous != 0) excerpt.text += '\n';
    if (previous != 0 && numbers[i] != previous + 1) {
      const uint32_t gap = numbers[i] - previous - 1;
      excerpt.text += fmt::format("{} {} line{}\n", kEllipsis, gap, gap == 1 ? "" : "s");
      excerpt.hidden_lines += gap;
    }
    previous = numbers[i];
    std::string_view shown = IsBlank(lines[i]) ? std::string_view() : lines[i].substr(indentation);
    const uint32_t cut = ByteColumn(shown, limits.columns);
    excerpt.text += shown.substr(0, cut);
    if (cut < shown.size()) {
      excerpt.text += kEllipsis;
      excerpt.cut_lines = true;
    }
  }
  return excerpt;
}

}  // namespace linescope
