#pragma once
// The variables of a frame, by name.
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/locals_repr.h"
#include "python/stack_reader.h"

namespace linescope {

struct Variable {
  enum class Kind : uint8_t {
    kLocal,      // of this function alone
    kCell,       // of this function, shared with functions inside it
    kFree,       // of a function around this one
    kNamespace,  // of a module, of the body of a class, or of code given to exec()
  };
  std::string name;
  Kind kind = Kind::kLocal;
  Repr value;
};

struct FrameVariables {
  std::vector<Variable> variables;
  size_t left_out = 0;  // variables beyond kMaxVariables
};

// Reads what locals() would give, without running anything: a variable that is not bound, or was
// deleted, is not there. Of a namespace (which may run a comprehension, whose variables are
// there), names in double underscores and what is imported or
// defined (modules, functions, classes) are passed over: a program's text says these. Fits the
// truth when the frame's thread stood still from the reading of its stack to the end of this.
class LocalsReader {
 public:
  static constexpr size_t kMaxVariables = 100;

  LocalsReader(RemoteMemory* memory, const layout::Table* table, ReprLimits limits = {});

  // Of each of the frames, by few reads for all of them.
  std::vector<FrameVariables> Read(std::span<const StackFrame> frames);
  // Reads the names of a code object's variables ahead of Read.
  void Learn(const Code& code) { NamesOf(code); }

 private:
  struct Names {
    bool optimized = true;           // variables are in the frame's slots, not in a namespace
    std::vector<std::string> names;  // of each slot; empty: not to be shown
    std::vector<uint8_t> kinds;      // CO_FAST_*
  };
  const Names& NamesOf(const Code& code);
  // Appends the names in a tuple, at most `limit`; false when it cannot be read.
  bool AddNames(Address tuple, uint8_t kind, size_t limit, Names* names) const;
  struct Slot {
    size_t frame;
    const std::string* name;
    Variable::Kind kind;
    Address object;
  };
  std::vector<Slot> ReadSlots(std::span<const StackFrame> frames);
  void ReadNamespace(Address dict, FrameVariables* out);
  void Add(std::string name, Variable::Kind kind, const ObjectHead& value, FrameVariables* out);

  ObjectReader objects_;
  layout::Values values_;
  DictReader dicts_;
  ObjectRepr repr_;
  std::unordered_map<CodeId, Names> names_;
};

}  // namespace linescope
