#pragma once
// What the report needs to know about a Python source: where functions and classes begin and end,
// which lines form one statement, and how to colour it. Made by tree-sitter, so that broken
// sources, and syntax newer or older than any one interpreter's, are indexed as far as they are
// understood.
//
// A SourceIndex is immutable after IndexPython and may be read by any number of threads.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/symbols.h"
#include "source/text.h"

namespace linescope {

enum class DefinitionKind : uint8_t {
  kFunction,
  kAsyncFunction,
  kClass,
  kLambda,          // name "<lambda>"
  kTypeExpression,  // what a `type` statement or the bound of a type parameter evaluates
  kComprehension,   // name "<listcomp>", "<setcomp>", "<dictcomp>" or "<genexpr>"
};

// Something that CPython compiles to a code object of its own.
struct Definition {
  DefinitionKind kind = DefinitionKind::kFunction;
  std::string name;            // co_name
  std::string qualified_name;  // co_qualname (of 3.12 and later where versions differ: names inside
                               // list comprehensions)
  uint32_t first_line =
      0;              // co_firstlineno: the first decorator's line where there is one, else `line`
  uint32_t line = 0;  // of `def`, `async`, `class`, `lambda`, or of the opening bracket
  uint32_t last_line = 0;    // of the body's last statement; trailing comments are outside
  int32_t parent = -1;       // index of the definition whose lines it stands in; -1: none
  uint32_t name_line = 0;    // where the name stands, for links
  uint32_t name_column = 0;  // UTF-16 units
  // False when the parser was recovering from a syntax error here: good for display, not for links.
  bool reliable = true;
};

// How a piece of source is coloured. The numbers are part of the report's format.
enum class TokenClass : uint8_t {
  kKeyword = 1,  // also True, False, None
  kString = 2,   // literal parts, prefix and quotes of strings, f-strings and t-strings
  kNumber = 3,
  kComment = 4,
  kDefinition = 5,     // the name in `def name` and `class name`
  kBuiltin = 6,        // a built-in function, type or exception used by its plain name
  kDecorator = 7,      // '@' and the dotted name after it
  kInterpolation = 8,  // in f-strings: braces, '=', conversion, format specification
};

// A coloured piece of one line; what spans lines is one token a line.
struct Token {
  uint32_t line = 0;
  uint32_t column = 0;  // UTF-16 units
  uint32_t length = 0;  // UTF-16 units, never 0
  TokenClass token_class = TokenClass::kKeyword;
  bool operator==(const Token&) const = default;
};

struct SourceIndex {
  std::vector<Definition> definitions;  // in order of their position in the source
  std::vector<LineRange> statements;    // sorted, disjoint; see StatementAt
  std::vector<Token> tokens;            // sorted by line and column, never overlapping
  std::vector<uint32_t> by_first_line;  // indexes of `definitions`, sorted by first_line
  Symbols symbols;                      // for ResolveLinks
  bool has_errors = false;  // the source has syntax errors, or syntax that the parser does not know
  bool complete =
      true;  // false: the parser gave up, the index is empty; the text can still be shown

  // The definition that a code object was compiled from, by its co_name and co_firstlineno. When
  // several stand on one line, the one with that co_qualname if given and found, else the first.
  // nullptr: none, and always for "<module>".
  const Definition* FindDefinition(std::string_view name, uint32_t first_line,
                                   std::string_view qualified_name = {}) const;
  // The innermost function or class (nothing smaller) whose lines, decorators included,
  // hold `line`.
  const Definition* EnclosingDefinition(uint32_t line) const;

  // The lines of the complete statement that `line` belongs to. Of a compound statement (`if`,
  // `for`, `def`, `case`, …) the header alone counts: up to its colon. Statements that share a line
  // (`a = [\n1]; b = 2`) count as one. Empty for blank lines, comments, and lines under a syntax
  // error.
  std::optional<LineRange> StatementAt(uint32_t line) const;
};

// Indexes `source`. Thread-safe. The same text always gives the same index: the parser's effort is
// bounded by a number of steps in proportion to the text, not by time.
SourceIndex IndexPython(const SourceText& source);

// False when the source contradicts a code object with this co_name and co_firstlineno, which tells
// that the file has changed since it was loaded. True when it agrees or nothing can be said
// ("<module>", an incomplete index, a name in brackets that no syntax here makes).
bool Matches(const SourceIndex& index, std::string_view name, uint32_t first_line);

}  // namespace linescope
