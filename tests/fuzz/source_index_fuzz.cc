// Decoding, index and excerpts of arbitrary bytes: nothing may crash, and what the report relies on
// must hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/excerpt.h"
#include "source/index.h"
#include "source/links.h"
#include "source/text.h"

namespace {

using namespace linescope;

void Check(bool holds) {
  if (!holds) abort();
}

void CheckText(const SourceText& source) {
  std::string text = source.text;
  Check(MakeValidUtf8(text) == 0);
  Check(source.text.find('\r') == std::string::npos);
  Check((source.LineCount() == 0) == source.text.empty());
  uint32_t previous = 0;
  for (uint32_t i = 1; i < source.LineCount(); ++i) {
    const uint32_t start = source.line_starts[i];
    Check(start > previous && start < source.text.size() && source.text[start - 1] == '\n');
    previous = start;
  }
}

void CheckTokens(const SourceText& source, const SourceIndex& index) {
  uint32_t line = 0, end = 0;
  for (const Token& token : index.tokens) {
    Check(token.line >= line && token.line <= source.LineCount() && token.length > 0);
    if (token.line > line) end = 0;
    Check(token.column >= end);
    line = token.line;
    end = token.column + token.length;
    Check(end <= Utf16Length(source.Line(line)));
  }
}

void CheckRanges(const SourceText& source, const SourceIndex& index) {
  uint32_t last = 0;
  for (const LineRange& range : index.statements) {
    Check(range.first > last && range.last >= range.first && range.last <= source.LineCount());
    last = range.last;
  }
  for (size_t i = 0; i < index.definitions.size(); ++i) {
    const Definition& definition = index.definitions[i];
    Check(definition.first_line >= 1 && definition.first_line <= definition.line);
    Check(definition.line <= definition.last_line);
    Check(definition.last_line <= source.LineCount());
    Check(definition.parent < static_cast<int32_t>(i));
    Check(Matches(index, definition.name, definition.first_line));
  }
}

// Links are names of their line, in order and apart, and lead to a line that is there.
void CheckLinks(const SourceText& source, const SourceIndex& index) {
  const LinkSource sources[] = {{"/p/a/__init__.py", &index}, {"/p/a/b.py", &index}};
  for (const auto& links : ResolveLinks(sources, {.scripts = {"/p"}, .others = {}})) {
    uint32_t line = 0, end = 0;
    for (const Link& link : links) {
      Check(link.line >= line && link.length > 0);
      if (link.line > line) end = 0;
      Check(link.column >= end);
      line = link.line;
      end = link.column + link.length;
      Check(end <= Utf16Length(source.Line(line)));
      Check(link.file < 2 && link.target_line >= 1);
      Check(link.target_line <= std::max(1u, source.LineCount()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const SourceText source =
      DecodeSource(std::string_view(reinterpret_cast<const char*>(data), size));
  CheckText(source);
  const SourceIndex index = IndexPython(source);
  CheckTokens(source, index);
  CheckRanges(source, index);
  CheckLinks(source, index);
  for (uint32_t line = 0; line <= source.LineCount() + 1 && line < 50; ++line) {
    const Excerpt excerpt = StatementExcerpt(source, index, line, {.lines = 4, .columns = 20});
    std::string text = excerpt.text;
    Check(MakeValidUtf8(text) == 0);
    index.EnclosingDefinition(line);
  }
  return 0;
}
