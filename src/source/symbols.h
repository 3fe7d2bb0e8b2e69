#pragma once
// What a source binds and refers to, as far as one file alone tells: the first half of source
// navigation. `source/links.h` is the second, which follows names through the files of a project.
//
// Everything is decided in favour of silence: a name that is bound twice, that may not be bound, or
// that anything could rebind is `ambiguous`, and what cannot be followed has no reference at all.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace linescope {

inline constexpr uint32_t kNoSymbol = UINT32_MAX;

enum class SymbolKind : uint8_t {
  kUnknown,    // bound to something that nothing is known about
  kNone,       // bound to None alone
  kFunction,   // `index` of SourceIndex::definitions
  kClass,      // `index` of `classes`
  kModule,     // `import a.b as m`, or the `a` of `import a.b`; `index` of `imports`
  kImported,   // `from m import name`; `index` of `imports`
  kValue,      // what the reference `index` is: `f = g`, `x = Cls()`
  kAnnotated,  // an instance of the class that the reference `index` names: `x: Cls`
  kSelf,       // the first parameter of a method: an instance of class `index` of `classes`
  kSelfClass,  // the first parameter of a class method: that class or one derived from it
};

// What a name stands for in one scope.
struct Symbol {
  uint32_t name = 0;  // of `names`
  SymbolKind kind = SymbolKind::kUnknown;
  bool ambiguous = false;    // bound more than once, or not understood
  bool conditional = false;  // defined under `if`, `try` or in a loop: it may not be there
  bool or_none = false;      // None at other times
  uint32_t index = 0;
};

struct Import {
  std::string module;         // "a.b"; may be empty when relative
  uint32_t level = 0;         // number of leading dots
  uint32_t name = kNoSymbol;  // what is taken from the module; kNoSymbol: the module itself
};

enum class ReferenceKind : uint8_t {
  kSymbol,     // a name; `index` of `symbols`
  kImport,     // a name or module in an import statement; `index` of `imports`
  kAttribute,  // `name` of what the reference `index` is
  kCall,       // what calling the reference `index` gives
  kSuper,      // `super()` in a method of class `index`
};

// An expression that may lead to a definition. Those it is built from stand before it.
struct Reference {
  ReferenceKind kind = ReferenceKind::kSymbol;
  uint32_t index = 0;
  uint32_t name = kNoSymbol;
  uint32_t scope_class = kNoSymbol;  // the class whose text it stands in: `__x` is mangled by it
  // Where it is shown, UTF-16 units; length 0: nowhere of its own.
  uint32_t line = 0, column = 0, length = 0;
};

struct ClassSymbols {
  uint32_t definition = kNoSymbol;   // kNoSymbol: not understood
  std::vector<uint32_t> bases;       // references; kNoSymbol: not known
  std::vector<uint32_t> attributes;  // symbols, sorted by the text of their names: of the class
                                     // body and of `self`
  // Calling it may give something else than an instance: a metaclass, an unknown decorator.
  bool opaque = false;
};

// `x.name = …` where x is neither self nor cls: it may replace what x has under that name.
struct AttributeStore {
  uint32_t base = 0;  // reference
  uint32_t name = 0;
};

struct Symbols {
  std::vector<std::string> names;
  std::vector<Symbol> symbols;
  std::vector<Import> imports;
  std::vector<Reference> references;
  std::vector<ClassSymbols> classes;
  std::vector<AttributeStore> stores;
  std::vector<uint32_t> exports;  // symbols of the module's own scope, sorted by the text of their
                                  // names; those a star import may replace are ambiguous
  bool has_star_import = false;   // other names may be there, too

  std::string_view NameOf(const Symbol& symbol) const { return names[symbol.name]; }
  // nullptr: no such name.
  const Symbol* FindExport(std::string_view name) const { return Find(exports, name); }
  const Symbol* FindAttribute(const ClassSymbols& of, std::string_view name) const {
    return Find(of.attributes, name);
  }

 private:
  const Symbol* Find(const std::vector<uint32_t>& sorted, std::string_view name) const;
};

}  // namespace linescope
