#include "report/hot_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_name.h"

namespace linescope {
namespace {

std::string LabelOf(const std::string& path, LineRange lines) {
  if (lines.first == lines.last) return fmt::format("{}:{}", FileName(path), lines.first);
  return fmt::format("{}:{}-{}", FileName(path), lines.first, lines.last);
}

// At most kQuotedLines of `statement`, with `line` among them and its start if that is near.
LineRange Window(LineRange statement, uint32_t line) {
  const uint32_t count = statement.last - statement.first + 1;
  if (count <= kQuotedLines) return statement;
  const uint32_t latest = statement.last - kQuotedLines + 1;
  const uint32_t centred = line - std::min(line, kQuotedLines / 2);
  const uint32_t first = std::clamp(centred, statement.first, latest);
  return {.first = first, .last = first + kQuotedLines - 1};
}

size_t Indentation(std::string_view line) {
  return std::min(line.find_first_not_of(" \t\f"), line.size());
}

// The white space that all lines with text share, in bytes (which are UTF-16 units here).
size_t SharedIndentation(const SourceText& text, LineRange lines) {
  std::optional<std::string_view> shared;
  for (uint32_t n = lines.first; n <= lines.last; ++n) {
    const std::string_view line = text.Line(n);
    const std::string_view indentation = line.substr(0, Indentation(line));
    if (indentation.size() == line.size()) continue;  // blank
    if (!shared) {
      shared = indentation;
    } else {
      const auto end = std::ranges::mismatch(*shared, indentation).in1;
      shared = shared->substr(0, static_cast<size_t>(end - shared->begin()));
    }
  }
  return shared ? shared->size() : 0;
}

void Quote(const ReportSource& source, HotLine& hot) {
  const size_t indentation = SharedIndentation(source.text, hot.shown);
  std::string text;
  for (uint32_t n = hot.shown.first; n <= hot.shown.last; ++n) {
    std::string_view line = source.text.Line(n);
    line.remove_prefix(std::min(indentation, Indentation(line)));
    const size_t end = ByteColumn(line, kQuotedColumns);
    text += line.substr(0, end);
    if (end < line.size()) text += "…";
    if (n != hot.shown.last) text += '\n';
  }
  hot.text = std::move(text);

  const auto& tokens = source.index.tokens;
  auto token = std::ranges::lower_bound(tokens, hot.shown.first, {}, &Token::line);
  for (; token != tokens.end() && token->line <= hot.shown.last; ++token) {
    Token moved = *token;
    moved.line -= hot.shown.first;
    const auto removed =
        static_cast<uint32_t>(std::min(indentation, Indentation(source.text.Line(token->line))));
    // White space at the start of a line can be part of a string.
    const uint32_t cut = removed - std::min(removed, moved.column);
    if (cut >= moved.length) continue;
    moved.length -= cut;
    moved.column = moved.column + cut - removed;
    if (moved.column >= kQuotedColumns) continue;
    moved.length = std::min(moved.length, kQuotedColumns - moved.column);
    hot.tokens.push_back(moved);
  }
}

}  // namespace

HotLine QuoteLine(const ReportFile& file, uint32_t file_id, uint32_t line,
                  const ReportMetrics& metrics) {
  HotLine hot{.file = file_id,
              .line = line,
              .statement = {.first = line, .last = line},
              .label = {},
              .function = {},
              .metrics = metrics,
              .text = std::nullopt,
              .shown = {.first = line, .last = line},
              .tokens = {}};
  if (file.source && line <= file.source->text.LineCount()) {
    const ReportSource& source = *file.source;
    hot.statement = source.index.StatementAt(line).value_or(hot.statement);
    hot.shown = Window(hot.statement, line);
    const Definition* definition = source.index.EnclosingDefinition(line);
    hot.function = definition != nullptr ? definition->qualified_name : "<module>";
    Quote(source, hot);
  }
  hot.label = LabelOf(file.path, hot.statement);
  return hot;
}

}  // namespace linescope
