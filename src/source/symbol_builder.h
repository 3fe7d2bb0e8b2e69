#pragma once
// One walk over a syntax tree that fills Symbols. Private to this module.
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "source/column_counter.h"
#include "source/index.h"
#include "source/symbols.h"
#include "source/syntax.h"
#include "source/text.h"

namespace linescope {

// Like IndexBuilder the walk keeps its own stack, so that the depth of a source is bounded by
// memory alone. Names are looked up when the walk is over: what binds a name may stand behind it.
class SymbolBuilder {
 public:
  // `index` has its definitions.
  SymbolBuilder(const SourceText& source, const SourceIndex& index);
  Symbols Build(TSNode root) &&;

 private:
  enum class Role : uint8_t {
    kOther,
    kIgnored,  // no part of anything here: comments, signs and keywords, `from __future__`
    kIdentifier,
    kAttribute,
    kCall,
    kParenthesized,
    kGroup,  // targets beside one another
    kArguments,
    kKeywordArgument,
    kAssignment,
    kAugmentedAssignment,
    kNamedExpression,
    kNoneLiteral,
    kFunction,
    kClass,
    kDecorated,
    kDecorator,
    kLambda,
    kParameters,
    kDefaultParameter,  // and typed ones
    kTypedParameter,
    kSplatParameter,
    kTypeParameters,
    kType,
    kTypeBound,
    kTypeAlias,
    kComprehension,
    kForIn,
    kFor,
    kConditional,  // statements and clauses whose block may not run
    kBlock,
    kExcept,
    kAsPattern,
    kAs,
    kDelete,
    kImport,
    kImportFrom,
    kWildcard,
    kGlobal,
    kNonlocal,
    kCasePattern,
    kClassPattern,
    kKeywordPattern,
    kDottedName,
    kError,
  };
  enum class Mode : uint8_t { kLoad, kStore, kPattern };
  enum class ScopeKind : uint8_t { kModule, kClass, kFunction, kComprehension, kTypeParameters };

  // Bytes of the innermost block that may not run; empty: none in this scope.
  struct Suite {
    uint32_t begin = 0, end = 0;
    bool operator==(const Suite&) const = default;
  };

  struct Frame {
    Role role;
    Mode mode = Mode::kLoad;
    TSFieldId field = 0;
    TSNode node{};
    uint32_t scope = 0;  // to go back to
    Suite suite;
    uint32_t result = kNoSymbol;  // reference that this node is
    bool is_none = false;         // the literal None
    // Of what its children told:
    uint32_t value = kNoSymbol;
    bool value_is_none = false;
    uint32_t annotation = kNoSymbol;
    TSNode target{};  // name, or attribute of `base`, that an assignment binds
    uint32_t base = kNoSymbol;
    bool has_value = false;
    bool seen_as = false;
    uint32_t clauses = 0;
    uint32_t children = 0;
    size_t mark = 0;  // function: of `parameters_`; definition: of `decorators_`
    uint32_t class_index = kNoSymbol;
  };

  struct Scope {
    ScopeKind kind = ScopeKind::kModule;
    uint32_t parent = kNoSymbol;
    uint32_t class_index = kNoSymbol;  // class: itself; function: whose method it is
    uint32_t text_class = kNoSymbol;   // the innermost class around it
    uint32_t star = 0;                 // byte behind the last star import
    std::unordered_map<uint32_t, uint32_t> symbols = {};  // by name
    std::unordered_set<uint32_t> globals = {}, nonlocals = {};
  };

  // How the name of a symbol is bound, beside the symbol itself.
  struct Binding {
    uint32_t position = 0;  // byte where it is first bound
    Suite suite;
  };

  struct Use {  // of a name, by reference
    uint32_t scope = 0, name = 0;
    uint32_t position = 0, end = 0;  // bytes
  };

  struct Parameter {
    TSNode name;
    uint32_t annotation;
    bool plain;  // neither * nor **
  };

  struct SelfStore {
    uint32_t base, name, value;
    bool is_none;
  };

  static Role RoleOf(TSNode node);
  bool Enter(TSNode node, Role role, TSFieldId field);
  void Leave();
  void LeaveInto(const Frame& frame, Frame& parent);
  Mode ModeOf(const Frame& parent, TSFieldId field, Role role) const;

  bool EnterIdentifier(TSNode node, TSFieldId field, Frame& frame, Frame& parent);
  void EnterFunction(TSNode node, Frame& frame, const Frame& parent);
  void EnterClass(TSNode node, Frame& frame, const Frame& parent);
  void EnterBody(Frame& parent);
  void BindTypeAlias(TSNode node);
  void BindParameters(const Frame& function, uint32_t method_of);
  SymbolKind KindOfFirstParameter(const Frame& function, std::string_view name) const;
  void ImportModule(TSNode name, TSNode alias);
  void ImportName(TSNode name, TSNode alias);
  void ReadModuleName(TSNode node);
  void ReferToModules(TSNode dotted_name, uint32_t level);
  void AddBase(const Frame& child, Frame& bases);

  uint32_t OpenScope(ScopeKind kind, uint32_t parent);
  void Bind(TSNode name, SymbolKind kind, uint32_t index);
  void BindIn(uint32_t scope, TSNode name, SymbolKind kind, uint32_t index);
  void Merge(uint32_t symbol, SymbolKind kind, uint32_t index);
  bool SameImport(uint32_t a, uint32_t b) const;
  void Poison(TSNode name);
  uint32_t AddReference(ReferenceKind kind, uint32_t index, TSNode shown, uint32_t name);
  uint32_t AddImport(std::string module, uint32_t level, uint32_t name);
  uint32_t DefinitionOf(TSNode name);
  uint32_t Name(std::string_view text);
  std::string_view TextOf(TSNode node) const;
  bool IsDecorated(const Frame& definition, std::string_view name) const;

  // After the walk.
  uint32_t LookUp(const Use& use) const;
  bool IsBound(uint32_t scope, uint32_t name) const;
  void ResolveNames();
  void AddAttributes();
  void Prune();
  void Place(const Use& use, Reference& reference);
  void SortScopes();

  const SourceText& source_;
  const SourceIndex& index_;
  Symbols out_;
  ColumnCounter columns_;        // of names of definitions
  ColumnCounter shown_columns_;  // of references
  std::unordered_map<std::string_view, uint32_t> name_ids_;
  std::unordered_map<uint64_t, uint32_t> definitions_;  // by line and column of their names
  std::vector<Frame> frames_;
  std::vector<Scope> scopes_;
  std::vector<Binding> bindings_;  // by symbol
  std::vector<Use> uses_;          // by reference
  std::vector<Parameter> parameters_;
  std::vector<std::string_view>
      decorators_;  // last parts of their names, of definitions being entered
  std::vector<SelfStore> self_stores_;
  std::vector<std::pair<uint32_t, uint32_t>> nonlocal_stores_;  // scope, name
  std::vector<uint32_t> class_scopes_;                          // by class
  std::string module_;  // what the current `from … import` names, behind `level_` dots
  uint32_t level_ = 0;
  uint32_t scope_ = 0;
  Suite suite_;
  uint32_t error_depth_ = 0;
};

}  // namespace linescope
