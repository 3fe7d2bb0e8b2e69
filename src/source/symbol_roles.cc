// What the nodes of the grammar mean to SymbolBuilder.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/symbol_builder.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace linescope {

SymbolBuilder::Role SymbolBuilder::RoleOf(TSNode node) {
  using enum Role;
  static const std::vector<Role> table = [] {
    const std::unordered_map<std::string_view, Role> roles = {
        {"comment", kIgnored},
        {"line_continuation", kIgnored},
        {"future_import_statement", kIgnored},
        {"identifier", kIdentifier},
        {"attribute", kAttribute},
        {"call", kCall},
        {"parenthesized_expression", kParenthesized},
        {"pattern_list", kGroup},
        {"tuple_pattern", kGroup},
        {"list_pattern", kGroup},
        {"tuple", kGroup},
        {"list", kGroup},
        {"expression_list", kGroup},
        {"list_splat", kGroup},
        {"as_pattern_target", kGroup},
        {"argument_list", kArguments},
        {"keyword_argument", kKeywordArgument},
        {"assignment", kAssignment},
        {"augmented_assignment", kAugmentedAssignment},
        {"named_expression", kNamedExpression},
        {"none", kNoneLiteral},
        {"function_definition", kFunction},
        {"class_definition", kClass},
        {"decorated_definition", kDecorated},
        {"decorator", kDecorator},
        {"lambda", kLambda},
        {"parameters", kParameters},
        {"lambda_parameters", kParameters},
        {"default_parameter", kDefaultParameter},
        {"typed_default_parameter", kDefaultParameter},
        {"typed_parameter", kTypedParameter},
        {"list_splat_pattern", kSplatParameter},
        {"dictionary_splat_pattern", kSplatParameter},
        {"splat_type", kSplatParameter},
        {"type_parameter", kTypeParameters},
        {"type", kType},
        {"constrained_type", kTypeBound},
        {"type_alias_statement", kTypeAlias},
        {"list_comprehension", kComprehension},
        {"set_comprehension", kComprehension},
        {"dictionary_comprehension", kComprehension},
        {"generator_expression", kComprehension},
        {"for_in_clause", kForIn},
        {"for_statement", kFor},
        {"if_statement", kConditional},
        {"elif_clause", kConditional},
        {"else_clause", kConditional},
        {"while_statement", kConditional},
        {"try_statement", kConditional},
        {"case_clause", kConditional},
        {"except_clause", kExcept},
        {"except_group_clause", kExcept},
        {"block", kBlock},
        {"as_pattern", kAsPattern},
        {"delete_statement", kDelete},
        {"import_statement", kImport},
        {"import_from_statement", kImportFrom},
        {"wildcard_import", kWildcard},
        {"global_statement", kGlobal},
        {"nonlocal_statement", kNonlocal},
        {"case_pattern", kCasePattern},
        {"union_pattern", kCasePattern},
        {"dict_pattern", kCasePattern},
        {"splat_pattern", kCasePattern},
        {"class_pattern", kClassPattern},
        {"keyword_pattern", kKeywordPattern},
        {"dotted_name", kDottedName},
    };
    const TSLanguage* language = tree_sitter_python();
    std::vector<Role> made(ts_language_symbol_count(language), kOther);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto symbol = static_cast<TSSymbol>(i);
      const std::string_view type = ts_language_symbol_name(language, symbol);
      if (ts_language_symbol_type(language, symbol) == TSSymbolTypeAnonymous) {
        made[i] = type == "as" ? kAs : kIgnored;
      } else if (const auto found = roles.find(type); found != roles.end()) {
        made[i] = found->second;
      }
    }
    return made;
  }();
  const TSSymbol symbol = ts_node_symbol(node);
  return symbol < table.size() ? table[symbol] : kError;
}

}  // namespace linescope
