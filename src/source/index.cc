#include "source/index.h"

#include <algorithm>
#include <numeric>

#include "source/index_builder.h"
#include "source/symbol_builder.h"
#include "source/syntax.h"

namespace linescope {

SourceIndex IndexPython(const SourceText& source) {
  SourceIndex index;
  const SyntaxTree tree = ParsePython(source.text);
  if (!tree) {
    index.complete = false;
    return index;
  }
  const TSNode root = ts_tree_root_node(tree.get());
  index.has_errors = ts_node_has_error(root);
  IndexBuilder(source, index).Walk(root);
  index.symbols = SymbolBuilder(source, index).Build(root);
  index.by_first_line.resize(index.definitions.size());
  std::iota(index.by_first_line.begin(), index.by_first_line.end(), 0U);
  std::ranges::stable_sort(index.by_first_line, {},
                           [&](uint32_t i) { return index.definitions[i].first_line; });
  return index;
}

const Definition* SourceIndex::FindDefinition(std::string_view name, uint32_t first_line,
                                              std::string_view qualified_name) const {
  // The scope of a function's or class's type parameters is a code object of its own.
  constexpr std::string_view kGeneric = "<generic parameters of ";
  if (name.starts_with(kGeneric) && name.ends_with('>')) {
    name = name.substr(kGeneric.size(), name.size() - kGeneric.size() - 1);
  }
  const auto line_of = [this](uint32_t i) { return definitions[i].first_line; };
  const Definition* found = nullptr;
  for (uint32_t i : std::ranges::equal_range(by_first_line, first_line, {}, line_of)) {
    const Definition& definition = definitions[i];
    if (definition.name != name) continue;
    if (qualified_name.empty() || definition.qualified_name == qualified_name) return &definition;
    if (found == nullptr) found = &definition;
  }
  return found;
}

const Definition* SourceIndex::EnclosingDefinition(uint32_t line) const {
  auto after = std::ranges::upper_bound(definitions, line, {}, &Definition::line);
  auto i = static_cast<int32_t>(after - definitions.begin()) - 1;
  while (i >= 0) {
    const Definition& definition = definitions[static_cast<size_t>(i)];
    if (definition.last_line >= line && definition.kind <= DefinitionKind::kClass) {
      return &definition;
    }
    i = definition.parent;
  }
  return nullptr;
}

std::optional<LineRange> SourceIndex::StatementAt(uint32_t line) const {
  auto after = std::ranges::upper_bound(statements, line, {}, &LineRange::first);
  if (after == statements.begin()) return std::nullopt;
  const LineRange& statement = *std::prev(after);
  if (line > statement.last) return std::nullopt;
  return statement;
}

bool Matches(const SourceIndex& index, std::string_view name, uint32_t first_line) {
  if (!index.complete || name.empty() || name == "<module>") return true;
  if (index.FindDefinition(name, first_line) != nullptr) return true;
  constexpr std::string_view kKnown[] = {"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>",
                                         "<genexpr>"};
  if (name.front() == '<' && std::ranges::find(kKnown, name) == std::end(kKnown)) return true;
  // Around a syntax error definitions may be missed.
  return index.has_errors;
}

}  // namespace linescope
