#include "source/syntax.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python(void);

namespace linescope {
namespace {

constexpr size_t kMaxBytes = 16'000'000;  // a tree takes about 20 times its text

// The parser reports every 100 steps. Usual sources take 0.005 reports a byte, broken ones, random
// bytes and the densest valid ones ("a;a;a;…") up to 0.06. What takes more is in error recovery
// that grows faster than the text.
constexpr size_t kBytesPerReport = 4;
constexpr size_t kFreeReports = 10'000;

// The grammar's scanner keeps its stack of indentations in 1,024 bytes, two a level, beside up to
// 257 bytes of other state, and does not look whether they fit. Its stack cannot grow beyond the
// number of different indentations. CPython allows 100 levels.
constexpr size_t kMaxIndentations = 380;
constexpr size_t kMaxIndentation = UINT16_MAX;

bool IndentationFits(std::string_view text) {
  std::vector<bool> seen;
  size_t different = 0;
  size_t width = 0;
  bool indenting = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      indenting = true;
      width = 0;
    } else if (!indenting) {
      continue;
    } else if (c == ' ') {
      ++width;
    } else if (c == '\t') {
      width += 8;
    } else if (c == '\f') {
      width = 0;
    } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;  // the indentation goes on in the next line
    } else {
      indenting = false;
      if (width >= kMaxIndentation) return false;
      if (width >= seen.size()) seen.resize(width + 1);
      if (!seen[width]) {
        seen[width] = true;
        if (++different > kMaxIndentations) return false;
      }
    }
  }
  return true;
}

struct Input {
  std::string_view text;
  size_t reports_left;
};

const char* ReadInput(void* payload, uint32_t byte, TSPoint, uint32_t* length) {
  const auto& text = static_cast<Input*>(payload)->text;
  const size_t at = std::min<size_t>(byte, text.size());
  *length = static_cast<uint32_t>(text.size() - at);
  return text.data() + at;
}

bool IsOutOfReports(TSParseState* state) {
  auto& left = static_cast<Input*>(state->payload)->reports_left;
  return left-- == 0;
}

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

bool IsWord(std::string_view type) {
  return !type.empty() && type != "__future__" &&
         std::ranges::all_of(type, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }) &&
         type != "_";
}

NodeKind KindOfAnonymous(std::string_view type) {
  if (type == ":") return NodeKind::kColon;
  if (type == "@") return NodeKind::kAt;
  if (type == ".") return NodeKind::kDot;
  if (type == "{" || type == "}" || type == "=") return NodeKind::kInterpolationMark;
  return IsWord(type) ? NodeKind::kKeyword : NodeKind::kOther;
}

NodeKind KindOfNamed(const std::string& type) {
  using enum NodeKind;
  static const std::unordered_map<std::string_view, NodeKind> kinds = {
      {"comment", kComment},
      {"line_continuation", kLineContinuation},
      {"true", kKeyword},
      {"false", kKeyword},
      {"none", kKeyword},
      {"integer", kNumber},
      {"float", kNumber},
      {"identifier", kIdentifier},
      {"string", kString},
      {"string_start", kStringPart},
      {"string_content", kStringPart},
      {"string_end", kStringPart},
      {"interpolation", kInterpolation},
      {"format_specifier", kFormatSpecifier},
      {"format_expression", kFormatExpression},
      {"type_conversion", kTypeConversion},
      {"global_statement", kGlobalStatement},
      {"if_statement", kCompoundStatement},
      {"elif_clause", kCompoundStatement},
      {"else_clause", kCompoundStatement},
      {"while_statement", kCompoundStatement},
      {"for_statement", kForStatement},
      {"with_statement", kCompoundStatement},
      {"try_statement", kCompoundStatement},
      {"except_clause", kCompoundStatement},
      {"except_group_clause", kCompoundStatement},
      {"finally_clause", kCompoundStatement},
      {"match_statement", kCompoundStatement},
      {"case_clause", kCompoundStatement},
      {"function_definition", kFunction},
      {"class_definition", kClass},
      {"decorated_definition", kDecoratedDefinition},
      {"decorator", kDecorator},
      {"lambda", kLambda},
      {"type_alias_statement", kTypeAlias},
      {"constrained_type", kTypeBound},
      {"list_comprehension", kListComprehension},
      {"set_comprehension", kSetComprehension},
      {"dictionary_comprehension", kDictComprehension},
      {"generator_expression", kGenerator},
      {"for_in_clause", kForInClause},
      {"attribute", kAttribute},
      {"call", kCall},
      {"keyword_argument", kKeywordArgument},
      {"parameters", kParameters},
      {"lambda_parameters", kParameters},
      {"default_parameter", kParameter},
      {"typed_parameter", kParameter},
      {"typed_default_parameter", kParameter},
      {"list_splat_pattern", kParameter},
      {"dictionary_splat_pattern", kParameter},
      {"pattern_list", kPattern},
      {"tuple_pattern", kPattern},
      {"list_pattern", kPattern},
      {"as_pattern_target", kAsTarget},
      {"named_expression", kNamedExpression},
      {"assignment", kAssignment},
      {"dotted_name", kImportedName},
      {"aliased_import", kImportedName},
  };
  if (auto found = kinds.find(type); found != kinds.end()) return found->second;
  return type.ends_with("_statement") ? kSimpleStatement : kOther;
}

std::vector<NodeKind> MakeKindTable() {
  const TSLanguage* language = tree_sitter_python();
  std::vector<NodeKind> table(ts_language_symbol_count(language), NodeKind::kOther);
  for (size_t i = 0; i < table.size(); ++i) {
    const auto symbol = static_cast<TSSymbol>(i);
    const std::string type = ts_language_symbol_name(language, symbol);
    switch (ts_language_symbol_type(language, symbol)) {
      case TSSymbolTypeRegular:
        table[i] = KindOfNamed(type);
        break;
      case TSSymbolTypeAnonymous:
        table[i] = KindOfAnonymous(type);
        break;
      default:
        break;
    }
  }
  return table;
}

FieldIds MakeFieldIds() {
  const auto id = [](std::string_view name) {
    return ts_language_field_id_for_name(tree_sitter_python(), name.data(),
                                         static_cast<uint32_t>(name.size()));
  };
  return {id("name"), id("body"), id("left"), id("right"), id("function"), id("attribute")};
}

}  // namespace

SyntaxTree ParsePython(std::string_view text) {
  if (text.size() > kMaxBytes || !IndentationFits(text)) return nullptr;
  std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) return nullptr;
  // The lexer takes NUL for the end of the text. Nothing that Python runs has one outside a comment
  // or a string.
  std::string without_nul;
  if (text.find('\0') != text.npos) {
    without_nul = text;
    std::ranges::replace(without_nul, '\0', ' ');
    text = without_nul;
  }
  Input input{text, kFreeReports + text.size() / kBytesPerReport};
  const TSInput reader = {
      .payload = &input, .read = ReadInput, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  const TSParseOptions options = {.payload = &input, .progress_callback = IsOutOfReports};
  return SyntaxTree(ts_parser_parse_with_options(parser.get(), nullptr, reader, options));
}

NodeKind KindOf(TSNode node) {
  static const std::vector<NodeKind> table = MakeKindTable();
  const TSSymbol symbol = ts_node_symbol(node);
  if (symbol < table.size()) return table[symbol];
  return NodeKind::kError;  // the error node has a number of its own, far above the grammar's
}

const FieldIds& Fields() {
  static const FieldIds ids = MakeFieldIds();
  return ids;
}

}  // namespace linescope
