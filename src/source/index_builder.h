#pragma once
// One walk over a syntax tree that fills a SourceIndex. Private to this module.
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/index.h"
#include "source/syntax.h"
#include "source/token_writer.h"

namespace linescope {

// The walk keeps one Frame for each node between the root and the current one, and one Scope for
// each Python scope, so that it needs no recursion: the depth of a source is bounded by memory
// alone.
class IndexBuilder {
 public:
  IndexBuilder(const SourceText& source, SourceIndex& index)
      : source_(source), index_(index), tokens_(source, index.tokens), columns_(source) {}
  void Walk(TSNode root);

 private:
  struct Frame {
    NodeKind kind = NodeKind::kOther;
    uint32_t first_line = 0;
    uint32_t last_line = 0;    // of the last child that is neither a comment nor empty
    bool header_open = false;  // a compound statement whose colon has not come
    bool header_reliable = true;
    bool decorator_path = false;  // within '@' and the dotted name after it
    uint8_t opened_scopes = 0;    // of `scopes_`, to be closed with this node
    bool opened_error = false;
    uint32_t decorator_line = 0;  // decorated definition: its first decorator's expression
    uint32_t for_clauses = 0;     // comprehension: seen so far
    uint32_t format_begin = 0;    // format specification: what is not yet coloured, in bytes
    uint32_t format_end = 0;
    int32_t definition = -1;    // the definition that this node is
    size_t parameter_mark = 0;  // function: where its own begin in `parameters_`
  };
  struct Scope {
    std::string prefix;  // what a name in it is qualified by: "Outer.", "f.<locals>."
    std::unordered_set<std::string_view> globals = {};   // declared by `global`
    std::unordered_set<std::string_view> shadowed = {};  // built-in names bound here
    bool is_class = false;  // names bound here are not seen by scopes inside
  };

  // Handles a node; true when its children are to be visited.
  bool Enter(TSNode node, TSFieldId field);
  // Handles the end of the current frame and removes it.
  void Leave();

  // Enters the scope that the node in `field` of `parent` belongs to, where that is not its
  // parent's.
  void OpenScope(const Frame& parent, Frame& frame, TSFieldId field);
  void PushScope(const Definition& definition);
  void PopScope();
  // Notes that a built-in name is bound in the innermost scope.
  void Shadow(std::string_view name);
  // Follows the children of a compound statement up to the colon that ends its header.
  void WatchHeader(TSNode node, NodeKind kind);
  void AddWholeStatement(TSNode node);
  void AddStatement(uint32_t first_line, uint32_t last_line);
  size_t MaxQualifiedBytes() const;
  void AddDefinition(TSNode node, Frame& frame, DefinitionKind kind, std::string name,
                     TSNode name_node);
  void EnterNamedDefinition(TSNode node, Frame& frame, const Frame& parent);
  void EnterTypeExpression(TSNode node, Frame& frame, TSNode named);
  void EnterIdentifier(TSNode node, TSFieldId field, const Frame& parent);
  void AddToken(TSNode node, TokenClass token_class);
  bool IsShadowed(std::string_view name) const;
  std::string_view TextOf(TSNode node) const;

  const SourceText& source_;
  SourceIndex& index_;
  TokenWriter tokens_;
  ColumnCounter columns_;  // of definitions' names
  std::vector<Frame> frames_;
  std::vector<Scope> scopes_;
  std::vector<std::string_view>
      parameters_;  // built-in names that parameters of functions being entered bind
  std::unordered_map<std::string_view, uint32_t>
      shadows_;                 // how many open scopes, classes aside, bind a name
  size_t qualified_bytes_ = 0;  // in all qualified names
  int32_t definition_ = -1;     // the innermost open definition
  uint32_t error_depth_ = 0;
};

}  // namespace linescope
