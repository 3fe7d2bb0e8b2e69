#include "source/index_builder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "source/builtins.h"

namespace linescope {
namespace {

struct CursorDeleter {
  void operator()(TSTreeCursor* cursor) const { ts_tree_cursor_delete(cursor); }
};

uint32_t FirstLine(TSNode node) { return ts_node_start_point(node).row + 1; }

// A node that ends with the line break (a column of 0) ends in the line before.
uint32_t LastLine(TSNode node) {
  const TSPoint end = ts_node_end_point(node);
  return end.column == 0 && end.row + 1 > FirstLine(node) ? end.row : end.row + 1;
}

bool HasHeader(NodeKind kind) {
  return kind == NodeKind::kCompoundStatement || kind == NodeKind::kForStatement ||
         kind == NodeKind::kFunction || kind == NodeKind::kClass;
}

bool IsComprehension(NodeKind kind) {
  return kind == NodeKind::kListComprehension || kind == NodeKind::kSetComprehension ||
         kind == NodeKind::kDictComprehension || kind == NodeKind::kGenerator;
}

const char* ComprehensionName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kListComprehension:
      return "<listcomp>";
    case NodeKind::kSetComprehension:
      return "<setcomp>";
    case NodeKind::kDictComprehension:
      return "<dictcomp>";
    default:
      return "<genexpr>";
  }
}

// True where an identifier in `field` of a `parent` binds the name.
bool Binds(NodeKind parent, TSFieldId field) {
  switch (parent) {
    case NodeKind::kParameters:
    case NodeKind::kPattern:
    case NodeKind::kAsTarget:
    case NodeKind::kImportedName:
      return true;
    case NodeKind::kParameter:  // `*args` and `name: type` have no field for the name
      return field == 0 || field == Fields().name;
    case NodeKind::kNamedExpression:
    case NodeKind::kFunction:
    case NodeKind::kClass:
      return field == Fields().name;
    case NodeKind::kAssignment:
    case NodeKind::kForStatement:
    case NodeKind::kForInClause:
      return field == Fields().left;
    default:
      return false;
  }
}

}  // namespace

void IndexBuilder::Walk(TSNode root) {
  scopes_.emplace_back();
  frames_.emplace_back();  // above the root, so that every node has a parent
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  const std::unique_ptr<TSTreeCursor, CursorDeleter> owner(&cursor);
  while (true) {
    const bool descend =
        Enter(ts_tree_cursor_current_node(&cursor), ts_tree_cursor_current_field_id(&cursor));
    if (descend && ts_tree_cursor_goto_first_child(&cursor)) continue;
    Leave();
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) return;
      Leave();
    }
  }
}

bool IndexBuilder::Enter(TSNode node, TSFieldId field) {
  const NodeKind kind = KindOf(node);
  frames_.push_back({.kind = kind, .first_line = FirstLine(node)});
  Frame& frame = frames_.back();
  Frame& parent = frames_[frames_.size() - 2];
  WatchHeader(node, kind);
  OpenScope(parent, frame, field);
  frame.header_open = HasHeader(kind);
  const bool empty = ts_node_start_byte(node) == ts_node_end_byte(node);
  if (!empty && kind != NodeKind::kComment && kind != NodeKind::kLineContinuation) {
    frame.last_line = LastLine(node);
  }

  if (parent.kind == NodeKind::kFormatSpecifier) {
    if (kind != NodeKind::kFormatExpression) return false;
    tokens_.Add(parent.format_begin, ts_node_start_byte(node), TokenClass::kInterpolation);
    parent.format_begin = ts_node_end_byte(node);
    return true;
  }

  switch (kind) {
    case NodeKind::kError:
      ++error_depth_;
      frame.opened_error = true;
      return true;
    case NodeKind::kComment:
      AddToken(node, TokenClass::kComment);
      return false;
    case NodeKind::kStringPart:
      AddToken(node, TokenClass::kString);
      return false;
    case NodeKind::kNumber:
      AddToken(node, TokenClass::kNumber);
      return false;
    case NodeKind::kKeyword:
      AddToken(node, TokenClass::kKeyword);
      return false;
    case NodeKind::kTypeConversion:
      AddToken(node, TokenClass::kInterpolation);
      return false;
    case NodeKind::kFormatSpecifier:
      frame.format_begin = ts_node_start_byte(node);
      frame.format_end = ts_node_end_byte(node);
      return true;
    case NodeKind::kInterpolationMark:
      if (parent.kind == NodeKind::kInterpolation || parent.kind == NodeKind::kFormatExpression) {
        AddToken(node, TokenClass::kInterpolation);
      }
      return false;
    case NodeKind::kAt:
    case NodeKind::kDot:
      if (parent.decorator_path) AddToken(node, TokenClass::kDecorator);
      return false;
    case NodeKind::kIdentifier:
      EnterIdentifier(node, field, parent);
      return false;

    case NodeKind::kSimpleStatement:
    case NodeKind::kGlobalStatement:
      AddWholeStatement(node);
      return true;
    case NodeKind::kTypeAlias:
      AddWholeStatement(node);
      EnterTypeExpression(node, frame, ts_node_child_by_field_id(node, Fields().left));
      return true;
    case NodeKind::kTypeBound:
      EnterTypeExpression(node, frame, node);
      return true;
    case NodeKind::kDecorator:
      AddWholeStatement(node);
      frame.decorator_path = true;
      if (parent.kind == NodeKind::kDecoratedDefinition && parent.decorator_line == 0) {
        const TSNode expression = ts_node_named_child(node, 0);
        parent.decorator_line =
            ts_node_is_null(expression) ? frame.first_line : FirstLine(expression);
      }
      return true;
    case NodeKind::kAttribute:
      frame.decorator_path =
          parent.decorator_path && (parent.kind != NodeKind::kCall || field == Fields().function);
      return true;
    case NodeKind::kCall:
      frame.decorator_path = parent.decorator_path && parent.kind == NodeKind::kDecorator;
      return true;

    case NodeKind::kFunction:
    case NodeKind::kClass:
      EnterNamedDefinition(node, frame, parent);
      return true;
    case NodeKind::kLambda:
      AddDefinition(node, frame, DefinitionKind::kLambda, "<lambda>", node);
      frame.parameter_mark = parameters_.size();
      return true;
    case NodeKind::kListComprehension:
    case NodeKind::kSetComprehension:
    case NodeKind::kDictComprehension:
    case NodeKind::kGenerator:
      AddDefinition(node, frame, DefinitionKind::kComprehension, ComprehensionName(kind), node);
      if (kind == NodeKind::kGenerator) {
        PushScope(index_.definitions.back());
        ++frame.opened_scopes;
      }
      return true;
    case NodeKind::kForInClause:
      ++parent.for_clauses;
      return true;
    default:
      return true;
  }
}

void IndexBuilder::Leave() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  Frame& parent = frames_.back();
  if (frame.kind == NodeKind::kFormatSpecifier) {
    tokens_.Add(frame.format_begin, frame.format_end, TokenClass::kInterpolation);
  }
  for (uint8_t i = 0; i < frame.opened_scopes; ++i) PopScope();
  if (frame.opened_error) --error_depth_;
  if (frame.definition >= 0) {
    Definition& definition = index_.definitions[static_cast<size_t>(frame.definition)];
    definition.last_line = std::max(definition.line, frame.last_line);
    definition.reliable = frame.header_reliable && error_depth_ == 0;
    definition_ = definition.parent;
  }
  if (frame.last_line != 0) parent.last_line = frame.last_line;
}

void IndexBuilder::WatchHeader(TSNode node, NodeKind kind) {
  Frame& parent = frames_[frames_.size() - 2];
  if (!parent.header_open) return;
  if (ts_node_has_error(node) || ts_node_is_missing(node)) parent.header_reliable = false;
  if (kind != NodeKind::kColon) return;
  parent.header_open = false;
  if (parent.header_reliable && error_depth_ == 0) {
    AddStatement(parent.first_line, FirstLine(node));
  }
}

void IndexBuilder::OpenScope(const Frame& parent, Frame& frame, TSFieldId field) {
  if (field == Fields().body && parent.definition >= 0 && !IsComprehension(parent.kind)) {
    PushScope(index_.definitions[static_cast<size_t>(parent.definition)]);
    if (parent.kind != NodeKind::kClass) {
      const auto own = parameters_.begin() + static_cast<ptrdiff_t>(parent.parameter_mark);
      std::for_each(own, parameters_.end(), [this](std::string_view name) { Shadow(name); });
      parameters_.erase(own, parameters_.end());
    }
    ++frame.opened_scopes;
  } else if (field == Fields().right && parent.kind == NodeKind::kForInClause) {
    // The first iterable of a generator is evaluated outside it.
    const Frame& generator = frames_[frames_.size() - 3];
    if (generator.kind == NodeKind::kGenerator && generator.for_clauses == 1) {
      scopes_.push_back({.prefix = scopes_[scopes_.size() - 2].prefix});
      ++frame.opened_scopes;
    }
  }
}

void IndexBuilder::PushScope(const Definition& definition) {
  // As CPython's compiler does it: "<locals>" stands for the scope of functions and lambdas only.
  const bool is_class = definition.kind == DefinitionKind::kClass;
  const bool has_locals = !is_class && definition.kind != DefinitionKind::kComprehension;
  scopes_.push_back({.prefix = definition.qualified_name + (has_locals ? ".<locals>." : "."),
                     .is_class = is_class});
}

void IndexBuilder::PopScope() {
  const Scope& scope = scopes_.back();
  if (!scope.is_class) {
    for (std::string_view name : scope.shadowed) --shadows_[name];
  }
  scopes_.pop_back();
}

void IndexBuilder::AddWholeStatement(TSNode node) {
  if (error_depth_ == 0 && !ts_node_has_error(node)) AddStatement(FirstLine(node), LastLine(node));
}

void IndexBuilder::AddStatement(uint32_t first_line, uint32_t last_line) {
  auto& statements = index_.statements;
  if (!statements.empty() && first_line <= statements.back().last) {
    statements.back().last = std::max(statements.back().last, last_line);
  } else {
    statements.push_back({first_line, last_line});
  }
}

// Each level of nesting repeats the names above it. A source of ten thousand nested lambdas, which
// no Python would compile, must not take gigabytes: beyond this, names stay unqualified.
size_t IndexBuilder::MaxQualifiedBytes() const { return 1'000'000 + 16 * source_.text.size(); }

void IndexBuilder::AddDefinition(TSNode node, Frame& frame, DefinitionKind kind, std::string name,
                                 TSNode name_node) {
  Definition definition;
  definition.kind = kind;
  const Scope& scope = scopes_.back();
  const bool is_bare = scope.globals.contains(name) || qualified_bytes_ > MaxQualifiedBytes();
  definition.qualified_name = is_bare ? name : scope.prefix + name;
  qualified_bytes_ += definition.qualified_name.size();
  definition.name = std::move(name);
  definition.first_line = definition.line = FirstLine(node);
  definition.name_line = FirstLine(name_node);
  definition.name_column = columns_.At(definition.name_line, ts_node_start_byte(name_node));
  definition.parent = definition_;
  definition_ = frame.definition = static_cast<int32_t>(index_.definitions.size());
  index_.definitions.push_back(std::move(definition));
}

void IndexBuilder::EnterNamedDefinition(TSNode node, Frame& frame, const Frame& parent) {
  const TSNode name = ts_node_child_by_field_id(node, Fields().name);
  if (ts_node_is_null(name) || ts_node_is_missing(name)) return;
  DefinitionKind kind = DefinitionKind::kClass;
  if (frame.kind == NodeKind::kFunction) {
    const bool is_async = TextOf(ts_node_child(node, 0)) == "async";
    kind = is_async ? DefinitionKind::kAsyncFunction : DefinitionKind::kFunction;
    frame.parameter_mark = parameters_.size();
  }
  AddDefinition(node, frame, kind, std::string(TextOf(name)), name);
  if (parent.decorator_line != 0) {
    index_.definitions.back().first_line = parent.decorator_line;
  }
}

void IndexBuilder::EnterTypeExpression(TSNode node, Frame& frame, TSNode named) {
  if (ts_node_is_null(named)) return;
  // "Name[T]" or "T: bound"
  const std::string_view text = TextOf(named);
  const std::string_view name = text.substr(0, text.find_first_of(" \t[:"));
  AddDefinition(node, frame, DefinitionKind::kTypeExpression, std::string(name), named);
}

void IndexBuilder::EnterIdentifier(TSNode node, TSFieldId field, const Frame& parent) {
  if (parent.decorator_path && (parent.kind != NodeKind::kCall || field == Fields().function)) {
    AddToken(node, TokenClass::kDecorator);
    return;
  }
  if (parent.definition >= 0 && field == Fields().name) AddToken(node, TokenClass::kDefinition);
  const std::string_view name = TextOf(node);
  if (parent.kind == NodeKind::kGlobalStatement) scopes_.back().globals.insert(name);
  if (!IsBuiltinName(name)) return;
  if (parent.kind == NodeKind::kAttribute && field == Fields().attribute) return;
  if (parent.kind == NodeKind::kKeywordArgument && field == Fields().name) return;
  // Dotted names also stand in patterns (`case int():`), where they are used.
  const bool imports = parent.kind != NodeKind::kImportedName ||
                       frames_[frames_.size() - 3].kind == NodeKind::kSimpleStatement ||
                       frames_[frames_.size() - 3].kind == NodeKind::kImportedName;
  if (imports && Binds(parent.kind, field)) {
    if (parent.kind == NodeKind::kParameters || parent.kind == NodeKind::kParameter) {
      parameters_.push_back(name);
    } else {
      Shadow(name);
    }
  } else if (!IsShadowed(name)) {
    AddToken(node, TokenClass::kBuiltin);
  }
}

void IndexBuilder::AddToken(TSNode node, TokenClass token_class) {
  tokens_.Add(ts_node_start_byte(node), ts_node_end_byte(node), token_class);
}

void IndexBuilder::Shadow(std::string_view name) {
  Scope& scope = scopes_.back();
  if (scope.shadowed.insert(name).second && !scope.is_class) ++shadows_[name];
}

bool IndexBuilder::IsShadowed(std::string_view name) const {
  const auto found = shadows_.find(name);
  return (found != shadows_.end() && found->second > 0) || scopes_.back().shadowed.contains(name);
}

std::string_view IndexBuilder::TextOf(TSNode node) const {
  const uint32_t begin = ts_node_start_byte(node);
  return std::string_view(source_.text).substr(begin, ts_node_end_byte(node) - begin);
}

}  // namespace linescope
