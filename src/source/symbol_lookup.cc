// The second half of SymbolBuilder: when all of a source has been seen, names are looked up in its
// scopes.
#include <algorithm>

#include "source/builtins.h"
#include "source/symbol_builder.h"

namespace linescope {
namespace {

bool IsPrivate(std::string_view name) { return name.starts_with("__") && !name.ends_with("__"); }

}  // namespace

bool SymbolBuilder::IsBound(uint32_t scope, uint32_t name) const {
  for (; scope != kNoSymbol; scope = scopes_[scope].parent) {
    if (scopes_[scope].symbols.contains(name)) return true;
  }
  return false;
}

// The symbol that a name means, or kNoSymbol where that is in doubt.
uint32_t SymbolBuilder::LookUp(const Use& use) const {
  const std::string_view text = out_.names[use.name];
  bool direct = true;  // no scope has been left that hides the names of a class
  for (uint32_t scope = use.scope; scope != kNoSymbol; scope = scopes_[scope].parent) {
    const Scope& here = scopes_[scope];
    if (here.globals.contains(use.name) && scope != 0) {
      return LookUp({.scope = 0, .name = use.name, .position = UINT32_MAX});
    }
    const auto found = here.symbols.find(use.name);
    const bool seen = here.kind != ScopeKind::kClass || direct;
    if (found != here.symbols.end() && seen) {
      const Symbol& symbol = out_.symbols[found->second];
      const Binding& binding = bindings_[found->second];
      if (symbol.ambiguous) return kNoSymbol;
      // The same code runs from top to bottom: the name is not bound yet.
      if (scope == use.scope && use.position <= binding.position) return kNoSymbol;
      if (here.star > binding.position) return kNoSymbol;
      const bool inside = use.position >= binding.suite.begin && use.position < binding.suite.end;
      const bool may_be_missing =
          symbol.conditional || (binding.suite != Suite{} && IsBuiltinName(text));
      if (may_be_missing && !inside) return kNoSymbol;
      return found->second;
    }
    if (here.star > 0) return kNoSymbol;
    if (here.kind != ScopeKind::kTypeParameters) direct = false;
  }
  return kNoSymbol;
}

void SymbolBuilder::ResolveNames() {
  for (const auto& [scope, name] : nonlocal_stores_) {
    for (uint32_t at = scope; at != kNoSymbol; at = scopes_[at].parent) {
      if (scopes_[at].kind != ScopeKind::kFunction) continue;
      const auto found = scopes_[at].symbols.find(name);
      if (found == scopes_[at].symbols.end()) continue;
      out_.symbols[found->second].ambiguous = true;
      break;
    }
  }
  for (size_t i = 0; i < out_.references.size(); ++i) {
    Reference& reference = out_.references[i];
    if (reference.kind != ReferenceKind::kSymbol) continue;
    const bool mangled =
        reference.scope_class != kNoSymbol && IsPrivate(out_.names[reference.name]);
    reference.index = mangled ? kNoSymbol : LookUp(uses_[i]);
  }
}

// What is assigned to `self.x` and `cls.x` is an attribute of the class.
void SymbolBuilder::AddAttributes() {
  for (const SelfStore& store : self_stores_) {
    const Reference& base = out_.references[store.base];
    const bool lost = base.kind == ReferenceKind::kSymbol && base.index == kNoSymbol;
    if (lost) continue;
    const Symbol* symbol =
        base.kind == ReferenceKind::kSymbol ? &out_.symbols[base.index] : nullptr;
    if (symbol == nullptr ||
        (symbol->kind != SymbolKind::kSelf && symbol->kind != SymbolKind::kSelfClass)) {
      out_.stores.push_back({.base = store.base, .name = store.name});
      continue;
    }
    const uint32_t scope = class_scopes_[symbol->index];
    if (scope == kNoSymbol) continue;
    SymbolKind kind = store.value != kNoSymbol ? SymbolKind::kValue : SymbolKind::kUnknown;
    if (store.is_none) kind = SymbolKind::kNone;
    const auto [at, added] =
        scopes_[scope].symbols.try_emplace(store.name, static_cast<uint32_t>(out_.symbols.size()));
    if (!added) {
      Merge(at->second, kind, store.value);
      continue;
    }
    out_.symbols.push_back({.name = store.name, .kind = kind, .index = store.value});
    // Names in the class body do not see it.
    bindings_.push_back({.position = UINT32_MAX, .suite = {}});
  }
}

// Keeps the references that may lead somewhere.
void SymbolBuilder::Prune() {
  std::vector<uint32_t> moved(out_.references.size(), kNoSymbol);
  std::vector<Reference> kept;
  for (size_t i = 0; i < out_.references.size(); ++i) {
    Reference reference = out_.references[i];
    switch (reference.kind) {
      case ReferenceKind::kSymbol: {
        if (reference.index == kNoSymbol) continue;
        const SymbolKind kind = out_.symbols[reference.index].kind;
        if (kind == SymbolKind::kUnknown || kind == SymbolKind::kNone) continue;
        break;
      }
      case ReferenceKind::kAttribute:
      case ReferenceKind::kCall:
        if (moved[reference.index] == kNoSymbol) continue;
        reference.index = moved[reference.index];
        break;
      case ReferenceKind::kImport:
      case ReferenceKind::kSuper:
        break;
    }
    moved[i] = static_cast<uint32_t>(kept.size());
    Place(uses_[i], reference);
    kept.push_back(reference);
  }
  out_.references = std::move(kept);
  const auto follow = [&](uint32_t& at) {
    if (at != kNoSymbol) at = moved[at];
    return at != kNoSymbol;
  };
  for (Symbol& symbol : out_.symbols) {
    const bool follows = symbol.kind == SymbolKind::kValue || symbol.kind == SymbolKind::kAnnotated;
    if (follows && !follow(symbol.index)) symbol.kind = SymbolKind::kUnknown;
  }
  for (ClassSymbols& of : out_.classes) std::ranges::for_each(of.bases, follow);
  std::erase_if(out_.stores, [&](AttributeStore& store) { return !follow(store.base); });
}

// Tells where a reference is shown. A `cls` parameter stands for its class, but is no name of it.
void SymbolBuilder::Place(const Use& use, Reference& reference) {
  const bool is_parameter = reference.kind == ReferenceKind::kSymbol &&
                            out_.symbols[reference.index].kind == SymbolKind::kSelfClass;
  if (use.end == 0 || is_parameter) return;
  reference.column = shown_columns_.At(reference.line, use.position);
  reference.length =
      Utf16Length(std::string_view(source_.text).substr(use.position, use.end - use.position));
}

void SymbolBuilder::SortScopes() {
  const auto sorted = [this](const Scope& scope) {
    std::vector<uint32_t> symbols;
    symbols.reserve(scope.symbols.size());
    for (const auto& [name, symbol] : scope.symbols) {
      if (scope.star > 0 && bindings_[symbol].position < scope.star)
        out_.symbols[symbol].ambiguous = true;
      symbols.push_back(symbol);
    }
    std::ranges::sort(symbols, {}, [this](uint32_t i) { return out_.NameOf(out_.symbols[i]); });
    return symbols;
  };
  out_.exports = sorted(scopes_[0]);
  for (size_t i = 0; i < out_.classes.size(); ++i) {
    if (class_scopes_[i] != kNoSymbol)
      out_.classes[i].attributes = sorted(scopes_[class_scopes_[i]]);
  }
}

const Symbol* Symbols::Find(const std::vector<uint32_t>& sorted, std::string_view name) const {
  const auto text = [this](uint32_t i) { return NameOf(symbols[i]); };
  const auto at = std::ranges::lower_bound(sorted, name, {}, text);
  if (at == sorted.end() || text(*at) != name) return nullptr;
  return &symbols[*at];
}

}  // namespace linescope
