#pragma once
// The syntax tree of a Python source. Private to this module: it shows tree-sitter's types.
#include <tree_sitter/api.h>

#include <memory>
#include <string_view>

namespace linescope {

struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using SyntaxTree = std::unique_ptr<TSTree, TreeDeleter>;

// nullptr when the parser gave up: the text is larger than 16 MB, nests deeper than the grammar can
// hold, or takes more steps than any source of its size that a person or a generator would write.
SyntaxTree ParsePython(std::string_view text);

// What a node means to the index. Everything that needs no treatment is kOther.
enum class NodeKind : uint8_t {
  kOther,
  kComment,
  kLineContinuation,
  kKeyword,
  kNumber,
  kIdentifier,
  kString,
  kStringPart,  // start, content or end of a string
  kInterpolation,
  kFormatSpecifier,
  kFormatExpression,
  kTypeConversion,
  kInterpolationMark,  // '{', '}' and '=', of interest inside an interpolation
  kColon,
  kAt,
  kDot,
  kSimpleStatement,
  kGlobalStatement,
  kCompoundStatement,  // and its clauses: what has a header that ends in a colon
  kForStatement,
  kFunction,
  kClass,
  kDecoratedDefinition,
  kDecorator,
  kLambda,
  kTypeAlias,
  kTypeBound,
  kListComprehension,
  kSetComprehension,
  kDictComprehension,
  kGenerator,
  kForInClause,
  kAttribute,
  kCall,
  kKeywordArgument,
  kParameters,
  kParameter,  // with a type, a default or a star
  kPattern,    // targets of an unpacking assignment
  kAsTarget,
  kNamedExpression,
  kAssignment,
  kImportedName,
  kError,
};
NodeKind KindOf(TSNode node);

// Field ids of the grammar.
struct FieldIds {
  TSFieldId name, body, left, right, function, attribute;
};
const FieldIds& Fields();

}  // namespace linescope
