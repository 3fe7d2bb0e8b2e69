#include "source/symbol_builder.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

extern "C" const TSLanguage* tree_sitter_python(void);

namespace linescope {

namespace {

struct CursorDeleter {
  void operator()(TSTreeCursor* cursor) const { ts_tree_cursor_delete(cursor); }
};

// A longer one is in no program; each part costs a reference and a copy of what stands before it.
constexpr uint32_t kMaxModuleParts = 32;

struct FieldNames {
  TSFieldId name, body, left, right, function, attribute, object, value, type, alias, parameters,
      type_parameters, superclasses, module_name;
};

const FieldNames& Field() {
  static const FieldNames ids = [] {
    const auto id = [](std::string_view name) {
      return ts_language_field_id_for_name(tree_sitter_python(), name.data(),
                                           static_cast<uint32_t>(name.size()));
    };
    return FieldNames{.name = id("name"),
                      .body = id("body"),
                      .left = id("left"),
                      .right = id("right"),
                      .function = id("function"),
                      .attribute = id("attribute"),
                      .object = id("object"),
                      .value = id("value"),
                      .type = id("type"),
                      .alias = id("alias"),
                      .parameters = id("parameters"),
                      .type_parameters = id("type_parameters"),
                      .superclasses = id("superclasses"),
                      .module_name = id("module_name")};
  }();
  return ids;
}

// The last part of a dotted, called or subscripted name: "dataclass" of `dataclasses.dataclass(…)`.
std::string_view LastPart(std::string_view text) {
  text = text.substr(0, text.find_first_of("([ \t\n#"));
  return text.substr(text.rfind('.') + 1);
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

bool IsAccessor(std::string_view decorator) {
  return IsOneOf(decorator, {"setter", "deleter", "getter"});
}

}  // namespace

SymbolBuilder::SymbolBuilder(const SourceText& source, const SourceIndex& index)
    : source_(source), index_(index), columns_(source), shown_columns_(source) {
  for (uint32_t i = 0; i < index.definitions.size(); ++i) {
    const Definition& definition = index.definitions[i];
    if (definition.kind > DefinitionKind::kClass || !definition.reliable) continue;
    definitions_.emplace(uint64_t{definition.name_line} << 32 | definition.name_column, i);
  }
}

Symbols SymbolBuilder::Build(TSNode root) && {
  scopes_.emplace_back();
  frames_.push_back(
      {.role = Role::kOther, .suite = {}});  // above the root, so that every node has a parent
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  const std::unique_ptr<TSTreeCursor, CursorDeleter> owner(&cursor);
  while (true) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    // Half of all nodes.
    if (const Role role = RoleOf(node); role != Role::kIgnored) {
      if (Enter(node, role, ts_tree_cursor_current_field_id(&cursor)) &&
          ts_tree_cursor_goto_first_child(&cursor)) {
        continue;
      }
      Leave();
    }
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        ResolveNames();
        AddAttributes();
        Prune();
        SortScopes();
        return std::move(out_);
      }
      Leave();
    }
  }
}

// How names that stand directly in a child of `parent` are meant.
SymbolBuilder::Mode SymbolBuilder::ModeOf(const Frame& parent, TSFieldId field, Role role) const {
  switch (parent.role) {
    case Role::kGroup:
    case Role::kParenthesized:
    case Role::kSplatParameter:
    case Role::kType:
      return parent.mode;
    case Role::kTypeParameters:
      return parent.mode;
    case Role::kTypeBound:  // `T: bound`
      return parent.children == 0 ? parent.mode : Mode::kLoad;
    case Role::kAssignment:
    case Role::kAugmentedAssignment:
    case Role::kFor:
    case Role::kForIn:
      return field == Field().left ? Mode::kStore : Mode::kLoad;
    case Role::kNamedExpression:
      return field == Field().name ? Mode::kStore : Mode::kLoad;
    case Role::kExcept:
      return field == Field().alias ? Mode::kStore : Mode::kLoad;
    case Role::kDelete:
      return Mode::kStore;
    case Role::kAsPattern:
      if (parent.mode == Mode::kPattern) return Mode::kPattern;
      return field == Field().alias ? Mode::kStore : Mode::kLoad;
    case Role::kCasePattern:
    case Role::kClassPattern:
    case Role::kKeywordPattern:
      return Mode::kPattern;
    case Role::kFunction:
    case Role::kClass:
      return role == Role::kTypeParameters ? Mode::kStore : Mode::kLoad;
    default:
      return role == Role::kCasePattern ? Mode::kPattern : Mode::kLoad;
  }
}

bool SymbolBuilder::Enter(TSNode node, Role role, TSFieldId field) {
  {
    const Frame& parent = frames_.back();
    Frame entered{.role = role, .suite = suite_};
    entered.mode = ModeOf(parent, field, role);
    entered.field = field;
    entered.node = node;
    entered.scope = scope_;
    entered.mark = decorators_.size();
    frames_.push_back(entered);
  }
  Frame& frame = frames_.back();
  Frame& parent = frames_[frames_.size() - 2];

  if (role == Role::kError) {
    ++error_depth_;
    return true;
  }
  if (error_depth_ > 0) {
    if (role == Role::kIdentifier) Poison(node);
    return true;
  }
  const bool has_body =
      parent.role == Role::kFunction || parent.role == Role::kLambda || parent.role == Role::kClass;
  if (has_body && field == Field().body) EnterBody(parent);

  switch (role) {
    case Role::kIdentifier:
      return EnterIdentifier(node, field, frame, parent);
    case Role::kNoneLiteral:
      frame.is_none = true;
      return false;
    case Role::kFunction:
      EnterFunction(node, frame, parent);
      return true;
    case Role::kLambda:
      frame.mark = parameters_.size();
      return true;
    case Role::kClass:
      EnterClass(node, frame, parent);
      return true;
    case Role::kArguments:
      if (parent.role == Role::kClass && field == Field().superclasses)
        frame.class_index = parent.class_index;
      return true;
    case Role::kDecorator: {
      const TSNode expression = ts_node_named_child(node, 0);
      decorators_.push_back(ts_node_is_null(expression) ? "" : LastPart(TextOf(expression)));
      return true;
    }
    case Role::kComprehension:
      scope_ = OpenScope(ScopeKind::kComprehension, scope_);
      return true;
    case Role::kBlock:
      if (parent.role == Role::kConditional || parent.role == Role::kExcept ||
          parent.role == Role::kFor) {
        suite_ = {ts_node_start_byte(node), ts_node_end_byte(node)};
      }
      return true;
    case Role::kAs:
      parent.seen_as = true;
      return false;
    case Role::kImportFrom:
      module_.clear();
      level_ = 0;
      return true;
    case Role::kWildcard:
      scopes_[scope_].star = ts_node_end_byte(node);
      if (scope_ == 0) out_.has_star_import = true;
      return false;
    case Role::kDottedName:
      if (parent.role == Role::kImport) {
        ImportModule(node, TSNode{});
      } else if (parent.role == Role::kImportFrom) {
        if (field == Field().module_name)
          ReadModuleName(node);
        else
          ImportName(node, TSNode{});
      } else if (parent.mode == Mode::kPattern) {
        const bool is_class = parent.role == Role::kClassPattern && parent.children == 0;
        const bool is_capture = !is_class && ts_node_named_child_count(node) == 1;
        if (is_capture && TextOf(node) != "_")
          Bind(ts_node_named_child(node, 0), SymbolKind::kUnknown, 0);
        // `Color.RED` and `Point(…)` are looked up: their parts are visited.
        return !is_capture;
      }
      return false;
    default:
      break;
  }
  if (parent.role == Role::kImport || parent.role == Role::kImportFrom) {
    // `name as alias`, or a relative module name.
    if (parent.role == Role::kImportFrom && field == Field().module_name) {
      ReadModuleName(node);
      return false;
    }
    const TSNode name = ts_node_child_by_field_id(node, Field().name);
    const TSNode alias = ts_node_child_by_field_id(node, Field().alias);
    if (ts_node_is_null(name) || ts_node_is_null(alias)) return false;
    if (parent.role == Role::kImport)
      ImportModule(name, alias);
    else
      ImportName(name, alias);
    return false;
  }
  if (role == Role::kTypeAlias) {
    BindTypeAlias(node);
    return false;
  }
  if (parent.role == Role::kForIn && field == Field().right) {
    // The first iterable of a comprehension is evaluated outside it.
    const Frame& comprehension = frames_[frames_.size() - 3];
    if (comprehension.role == Role::kComprehension && comprehension.clauses == 0)
      scope_ = scopes_[scope_].parent;
  }
  return true;
}

// `type Name[T] = …`: what it stands for is evaluated in a scope of its own, which is not looked
// into.
void SymbolBuilder::BindTypeAlias(TSNode node) {
  TSNode name = ts_node_child_by_field_id(node, Field().left);
  while (!ts_node_is_null(name) && RoleOf(name) != Role::kIdentifier)
    name = ts_node_named_child(name, 0);
  if (!ts_node_is_null(name)) Bind(name, SymbolKind::kUnknown, 0);
}

bool SymbolBuilder::EnterIdentifier(TSNode node, TSFieldId field, Frame& frame, Frame& parent) {
  if (ts_node_is_missing(node)) return false;
  switch (parent.role) {
    case Role::kFunction:
    case Role::kClass:
      if (field == Field().name) return false;
      break;
    case Role::kAttribute:
      if (field == Field().attribute) return false;
      break;
    case Role::kKeywordArgument:
      if (field == Field().name) return false;
      break;
    case Role::kKeywordPattern:
      if (parent.children == 0) return false;
      break;
    case Role::kGlobal:
      scopes_[scope_].globals.insert(Name(TextOf(node)));
      return false;
    case Role::kNonlocal:
      scopes_[scope_].nonlocals.insert(Name(TextOf(node)));
      return false;
    case Role::kParameters:
      parameters_.push_back({node, kNoSymbol, true});
      return false;
    case Role::kDefaultParameter:
      if (field == Field().name) {
        parent.target = node;
        return false;
      }
      break;
    case Role::kTypedParameter:
      if (field == 0) {
        parent.target = node;
        return false;
      }
      break;
    case Role::kSplatParameter: {
      const Role above = frames_[frames_.size() - 3].role;
      if (above == Role::kParameters || above == Role::kTypedParameter) {
        parameters_.push_back({node, kNoSymbol, false});
        return false;
      }
      break;
    }
    case Role::kAssignment:
      if (field == Field().left) {
        parent.target = node;
        return false;
      }
      break;
    case Role::kAsPattern:
      if (parent.mode == Mode::kPattern) {
        if (parent.seen_as) Bind(node, SymbolKind::kUnknown, 0);
        return false;
      }
      break;
    case Role::kDottedName: {  // in a pattern: `Color.RED`
      if (parent.children == 0) {
        parent.result = AddReference(ReferenceKind::kSymbol, 0, node, Name(TextOf(node)));
      } else if (parent.result != kNoSymbol) {
        parent.result =
            AddReference(ReferenceKind::kAttribute, parent.result, node, Name(TextOf(node)));
      }
      return false;
    }
    default:
      break;
  }
  if (frame.mode != Mode::kLoad) {
    Bind(node, SymbolKind::kUnknown, 0);
    return false;
  }
  frame.result = AddReference(ReferenceKind::kSymbol, 0, node, Name(TextOf(node)));
  return false;
}

void SymbolBuilder::EnterFunction(TSNode node, Frame& frame, const Frame& parent) {
  frame.mark = parameters_.size();
  // Decorators of this definition stand behind those of the definitions around it.
  frame.clauses =
      static_cast<uint32_t>(parent.role == Role::kDecorated ? parent.mark : decorators_.size());
  const TSNode name = ts_node_child_by_field_id(node, Field().name);
  if (!ts_node_is_null(name) && !ts_node_is_missing(name)) {
    const bool accessor = std::any_of(decorators_.begin() + frame.clauses, decorators_.end(),
                                      [](std::string_view d) { return IsAccessor(d); });
    const uint32_t definition = DefinitionOf(name);
    if (IsDecorated(frame, "overload")) {
      // It declares a type; what is called stands behind it.
    } else if (accessor && scopes_[scope_].symbols.contains(Name(TextOf(name)))) {
      // `@x.setter`: reading x still calls the first one.
    } else if (definition == kNoSymbol) {
      Poison(name);
    } else {
      Bind(name, SymbolKind::kFunction, definition);
    }
  }
  // Whose method it is, before the scope of its type parameters opens.
  frame.class_index =
      scopes_[scope_].kind == ScopeKind::kClass ? scopes_[scope_].class_index : kNoSymbol;
  if (!ts_node_is_null(ts_node_child_by_field_id(node, Field().type_parameters)))
    scope_ = OpenScope(ScopeKind::kTypeParameters, scope_);
}

void SymbolBuilder::EnterClass(TSNode node, Frame& frame, const Frame& parent) {
  frame.clauses =
      static_cast<uint32_t>(parent.role == Role::kDecorated ? parent.mark : decorators_.size());
  frame.class_index = static_cast<uint32_t>(out_.classes.size());
  ClassSymbols made;
  made.opaque = std::any_of(
      decorators_.begin() + frame.clauses, decorators_.end(), [](std::string_view decorator) {
        return !IsOneOf(decorator, {"dataclass", "define", "frozen", "mutable", "attrs",
                                    "total_ordering", "final", "runtime_checkable", "unique"});
      });
  const TSNode name = ts_node_child_by_field_id(node, Field().name);
  if (!ts_node_is_null(name) && !ts_node_is_missing(name)) {
    made.definition = DefinitionOf(name);
    if (made.definition == kNoSymbol)
      Poison(name);
    else
      Bind(name, SymbolKind::kClass, frame.class_index);
  }
  out_.classes.push_back(std::move(made));
  class_scopes_.push_back(kNoSymbol);
  if (!ts_node_is_null(ts_node_child_by_field_id(node, Field().type_parameters)))
    scope_ = OpenScope(ScopeKind::kTypeParameters, scope_);
}

void SymbolBuilder::EnterBody(Frame& parent) {
  suite_ = {};
  if (parent.role == Role::kClass) {
    scope_ = OpenScope(ScopeKind::kClass, scope_);
    scopes_[scope_].class_index = scopes_[scope_].text_class = parent.class_index;
    class_scopes_[parent.class_index] = scope_;
    return;
  }
  scope_ = OpenScope(ScopeKind::kFunction, scope_);
  const uint32_t method_of = parent.role == Role::kFunction ? parent.class_index : kNoSymbol;
  scopes_[scope_].class_index = method_of;
  BindParameters(parent, method_of);
  parameters_.resize(parent.mark);
}

void SymbolBuilder::BindParameters(const Frame& function, uint32_t method_of) {
  for (size_t i = function.mark; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (i == function.mark && method_of != kNoSymbol && parameter.plain) {
      const SymbolKind kind = KindOfFirstParameter(function, TextOf(parameter.name));
      if (kind != SymbolKind::kUnknown) {
        Bind(parameter.name, kind, method_of);
        continue;
      }
    }
    const bool known = parameter.plain && parameter.annotation != kNoSymbol;
    Bind(parameter.name, known ? SymbolKind::kAnnotated : SymbolKind::kUnknown,
         parameter.annotation);
  }
}

SymbolKind SymbolBuilder::KindOfFirstParameter(const Frame& function, std::string_view name) const {
  if (IsDecorated(function, "staticmethod")) return SymbolKind::kUnknown;
  const TSNode name_node = ts_node_child_by_field_id(function.node, Field().name);
  const std::string_view called = TextOf(name_node);
  if (IsDecorated(function, "classmethod") ||
      IsOneOf(called, {"__new__", "__init_subclass__", "__class_getitem__"})) {
    return SymbolKind::kSelfClass;
  }
  const bool decorated = function.clauses < decorators_.size();
  // A decorator may make anything of a function: then the name tells what is meant.
  if (!decorated || name == "self") return SymbolKind::kSelf;
  return name == "cls" ? SymbolKind::kSelfClass : SymbolKind::kUnknown;
}

bool SymbolBuilder::IsDecorated(const Frame& definition, std::string_view name) const {
  return std::find(decorators_.begin() + definition.clauses, decorators_.end(), name) !=
         decorators_.end();
}

void SymbolBuilder::Leave() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  Frame& parent = frames_.back();
  scope_ = frame.scope;
  suite_ = frame.suite;
  if (frame.role == Role::kError) --error_depth_;
  if (frame.role == Role::kDecorated) decorators_.resize(frame.mark);
  if (frame.role == Role::kFunction || frame.role == Role::kLambda)
    parameters_.resize(std::min(parameters_.size(), frame.mark));
  if (error_depth_ > 0) return;
  LeaveInto(frame, parent);
  ++parent.children;
}

// Tells the parent what a node turned out to be.
void SymbolBuilder::LeaveInto(const Frame& frame, Frame& parent) {
  uint32_t result = frame.result;
  switch (frame.role) {
    case Role::kParenthesized:
    case Role::kType:
      if (frame.children == 1) result = frame.value;
      break;
    case Role::kAttribute: {
      const TSNode name = ts_node_child_by_field_id(frame.node, Field().attribute);
      if (frame.base == kNoSymbol || ts_node_is_null(name) || ts_node_is_missing(name)) break;
      if (frame.mode == Mode::kLoad) {
        result = AddReference(ReferenceKind::kAttribute, frame.base, name, Name(TextOf(name)));
      } else if (parent.role == Role::kAssignment && frame.field == Field().left) {
        parent.target = name;
        parent.base = frame.base;
      } else {
        self_stores_.push_back({frame.base, Name(TextOf(name)), kNoSymbol, false});
      }
      break;
    }
    case Role::kCall: {
      if (frame.base == kNoSymbol) break;
      const Reference& called = out_.references[frame.base];
      const bool is_super = called.kind == ReferenceKind::kSymbol &&
                            out_.names[uses_[frame.base].name] == "super" && frame.clauses == 0;
      if (!is_super) {
        result = AddReference(ReferenceKind::kCall, frame.base, {}, kNoSymbol);
        break;
      }
      uint32_t scope = scope_;
      while (scope != kNoSymbol && !(scopes_[scope].kind == ScopeKind::kFunction &&
                                     scopes_[scope].class_index != kNoSymbol)) {
        scope = scopes_[scope].parent;
      }
      if (scope != kNoSymbol && !IsBound(scope_, uses_[frame.base].name)) {
        result = AddReference(ReferenceKind::kSuper, scopes_[scope].class_index, {}, kNoSymbol);
      }
      break;
    }
    case Role::kArguments:
      if (parent.role == Role::kCall) parent.clauses = frame.children;
      break;
    case Role::kAssignment: {
      result = frame.value;
      if (ts_node_is_null(frame.target)) break;
      const bool value = frame.value != kNoSymbol;
      if (frame.base != kNoSymbol) {
        self_stores_.push_back(
            {frame.base, Name(TextOf(frame.target)), frame.value, frame.value_is_none});
      } else if (frame.value_is_none) {
        Bind(frame.target, SymbolKind::kNone, 0);
      } else if (frame.has_value) {
        Bind(frame.target, value ? SymbolKind::kValue : SymbolKind::kUnknown, frame.value);
      } else {
        const bool annotated = frame.annotation != kNoSymbol;
        Bind(frame.target, annotated ? SymbolKind::kAnnotated : SymbolKind::kUnknown,
             frame.annotation);
      }
      break;
    }
    case Role::kDefaultParameter:
    case Role::kTypedParameter:
      if (!ts_node_is_null(frame.target))
        parameters_.push_back({frame.target, frame.annotation, true});
      break;
    case Role::kForIn:
      ++parent.clauses;
      break;
    default:
      break;
  }

  switch (parent.role) {
    case Role::kParenthesized:
    case Role::kType:
      parent.value = result;
      break;
    case Role::kAttribute:
      if (frame.field == Field().object) parent.base = result;
      break;
    case Role::kCall:
      if (frame.field == Field().function) parent.base = result;
      break;
    case Role::kAssignment:
      if (frame.field == Field().right) {
        parent.has_value = true;
        parent.value = result;
        parent.value_is_none = frame.is_none || frame.value_is_none;
      } else if (frame.field == Field().type) {
        parent.annotation = result;
      }
      break;
    case Role::kDefaultParameter:
    case Role::kTypedParameter:
      if (frame.field == Field().type) parent.annotation = result;
      break;
    case Role::kArguments:
      if (parent.class_index != kNoSymbol) {
        Frame named = frame;
        named.result = result;
        AddBase(named, parent);
      }
      break;
    default:
      break;
  }
}

void SymbolBuilder::AddBase(const Frame& child, Frame& bases) {
  ClassSymbols& of = out_.classes[bases.class_index];
  if (child.role == Role::kKeywordArgument) {
    const TSNode name = ts_node_child_by_field_id(child.node, Field().name);
    const TSNode value = ts_node_child_by_field_id(child.node, Field().value);
    if (!ts_node_is_null(name) && TextOf(name) == "metaclass" && !ts_node_is_null(value) &&
        LastPart(TextOf(value)) != "ABCMeta") {
      of.opaque = true;
    }
    return;
  }
  // These come last in any order of bases and have no methods that a program calls.
  const std::string_view last = LastPart(TextOf(child.node));
  if (IsOneOf(last, {"object", "ABC", "Generic", "Protocol"})) return;
  of.bases.push_back(child.result);
}

void SymbolBuilder::ReferToModules(TSNode dotted_name, uint32_t level) {
  const uint32_t parts = ts_node_named_child_count(dotted_name);
  if (parts > kMaxModuleParts) return;
  std::string module;
  for (uint32_t i = 0; i < parts; ++i) {
    const TSNode part = ts_node_named_child(dotted_name, i);
    module += (module.empty() ? "" : ".") + std::string(TextOf(part));
    AddReference(ReferenceKind::kImport, AddImport(module, level, kNoSymbol), part, kNoSymbol);
  }
}

void SymbolBuilder::ImportModule(TSNode name, TSNode alias) {
  if (ts_node_has_error(name)) return;
  ReferToModules(name, 0);
  const bool bare = ts_node_is_null(alias);
  const TSNode first = ts_node_named_child(name, 0);
  if (ts_node_is_null(first)) return;
  const uint32_t import = AddImport(std::string(TextOf(bare ? first : name)), 0, kNoSymbol);
  Bind(bare ? first : alias, SymbolKind::kModule, import);
}

void SymbolBuilder::ReadModuleName(TSNode node) {
  TSNode dotted = node;
  if (RoleOf(node) != Role::kDottedName) {
    const TSNode prefix = ts_node_named_child(node, 0);
    const std::string_view dots = ts_node_is_null(prefix) ? "" : TextOf(prefix);
    level_ = static_cast<uint32_t>(std::ranges::count(dots, '.'));
    dotted = ts_node_named_child(node, 1);
  }
  if (ts_node_is_null(dotted)) return;
  const uint32_t parts = ts_node_named_child_count(dotted);
  for (uint32_t i = 0; i < std::min(parts, kMaxModuleParts + 1); ++i) {
    module_ += (i > 0 ? "." : "") + std::string(TextOf(ts_node_named_child(dotted, i)));
  }
  ReferToModules(dotted, level_);
}

void SymbolBuilder::ImportName(TSNode name, TSNode alias) {
  const TSNode first = ts_node_named_child(name, 0);
  if (ts_node_is_null(first)) return;
  const uint32_t import = AddImport(module_, level_, Name(TextOf(first)));
  AddReference(ReferenceKind::kImport, import, first, kNoSymbol);
  Bind(ts_node_is_null(alias) ? first : alias, SymbolKind::kImported, import);
}

uint32_t SymbolBuilder::OpenScope(ScopeKind kind, uint32_t parent) {
  Scope scope;
  scope.kind = kind;
  scope.parent = parent;
  scope.text_class = scopes_[parent].text_class;
  scopes_.push_back(std::move(scope));
  return static_cast<uint32_t>(scopes_.size() - 1);
}

// Binds a name where a statement or expression of the current scope does.
void SymbolBuilder::Bind(TSNode name, SymbolKind kind, uint32_t index) {
  const uint32_t id = Name(TextOf(name));
  const Frame& binder = frames_[frames_.size() - 2];
  uint32_t scope = scope_;
  // An assignment expression binds outside of comprehensions.
  if (binder.role == Role::kNamedExpression) {
    while (scopes_[scope].kind == ScopeKind::kComprehension) scope = scopes_[scope].parent;
  }
  if (scopes_[scope].globals.contains(id)) {
    // At any time, and as often as it is called.
    BindIn(0, name, SymbolKind::kUnknown, 0);
  } else if (scopes_[scope].nonlocals.contains(id)) {
    nonlocal_stores_.emplace_back(scopes_[scope].parent, id);
  } else {
    BindIn(scope, name, kind, index);
  }
}

void SymbolBuilder::BindIn(uint32_t scope, TSNode name, SymbolKind kind, uint32_t index) {
  const uint32_t id = Name(TextOf(name));
  const bool defines = kind == SymbolKind::kFunction || kind == SymbolKind::kClass;
  const auto [at, added] =
      scopes_[scope].symbols.try_emplace(id, static_cast<uint32_t>(out_.symbols.size()));
  if (!added) return Merge(at->second, kind, index);
  out_.symbols.push_back(
      {.name = id, .kind = kind, .conditional = defines && suite_ != Suite{}, .index = index});
  bindings_.push_back({.position = ts_node_start_byte(name), .suite = suite_});
}

void SymbolBuilder::Merge(uint32_t symbol, SymbolKind kind, uint32_t index) {
  Symbol& known = out_.symbols[symbol];
  const bool same_import = known.kind == kind &&
                           (kind == SymbolKind::kModule || kind == SymbolKind::kImported) &&
                           SameImport(known.index, index);
  if (same_import) return;
  if (kind == SymbolKind::kNone && known.kind == SymbolKind::kValue) {
    known.or_none = true;
  } else if (known.kind == SymbolKind::kNone &&
             (kind == SymbolKind::kValue || kind == SymbolKind::kNone)) {
    known.or_none = true;
    known.kind = kind;
    known.index = index;
  } else {
    known.ambiguous = true;
  }
}

bool SymbolBuilder::SameImport(uint32_t a, uint32_t b) const {
  const Import& one = out_.imports[a];
  const Import& other = out_.imports[b];
  return one.level == other.level && one.name == other.name && one.module == other.module;
}

void SymbolBuilder::Poison(TSNode name) {
  BindIn(scope_, name, SymbolKind::kUnknown, 0);
  out_.symbols[scopes_[scope_].symbols.at(Name(TextOf(name)))].ambiguous = true;
}

uint32_t SymbolBuilder::AddReference(ReferenceKind kind, uint32_t index, TSNode shown,
                                     uint32_t name) {
  Reference reference{.kind = kind, .index = index, .name = name};
  reference.scope_class = scopes_[scope_].text_class;
  Use use{.scope = scope_, .name = name};
  if (!ts_node_is_null(shown)) {
    use.position = ts_node_start_byte(shown);
    use.end = ts_node_end_byte(shown);
    reference.line = ts_node_start_point(shown).row + 1;
  }
  out_.references.push_back(reference);
  uses_.push_back(use);
  return static_cast<uint32_t>(out_.references.size() - 1);
}

uint32_t SymbolBuilder::AddImport(std::string module, uint32_t level, uint32_t name) {
  out_.imports.push_back({std::move(module), level, name});
  return static_cast<uint32_t>(out_.imports.size() - 1);
}

uint32_t SymbolBuilder::DefinitionOf(TSNode name) {
  const uint32_t line = ts_node_start_point(name).row + 1;
  const uint32_t column = columns_.At(line, ts_node_start_byte(name));
  const auto found = definitions_.find(uint64_t{line} << 32 | column);
  return found == definitions_.end() ? kNoSymbol : found->second;
}

uint32_t SymbolBuilder::Name(std::string_view text) {
  const auto [at, added] = name_ids_.try_emplace(text, static_cast<uint32_t>(out_.names.size()));
  if (added) out_.names.emplace_back(text);
  return at->second;
}

std::string_view SymbolBuilder::TextOf(TSNode node) const {
  const uint32_t begin = ts_node_start_byte(node);
  return std::string_view(source_.text).substr(begin, ts_node_end_byte(node) - begin);
}

}  // namespace linescope
