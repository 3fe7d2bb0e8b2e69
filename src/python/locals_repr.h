#pragma once
// What `repr()` says of an object, as far as it can be told by reading alone, and bounded.
//
// Classes, and exact None, bool, int, float, str, bytes, tuple, list, dict, set and frozenset look
// as Python prints them; every other object, instances of their subclasses too, is `<module.Class
// at 0x…>`: its own __repr__ would have to run. What is left out leaves a sign that tells how much
// there is:
// `[0, 1, …(1000000 items)]`, `'aaa'…(5000 characters)`. Also where the target's memory makes no
// sense, the effort is bounded.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/dict_reader.h"
#include "python/locals_layout.h"
#include "python/object_reader.h"

namespace linescope {

struct ReprLimits {
  size_t depth = 4;         // of nested containers, whose items are shown
  size_t items = 10;        // of each container
  size_t characters = 100;  // of each str, bytes and int
  size_t text = 300;        // no further item is begun after so many bytes
};

struct Repr {
  std::string text;  // UTF-8; control characters of str and bytes are escaped, not those of names
  std::string type;  // "int", "collections.deque"
  bool cut = false;  // something was left out
};

enum class ValueKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kStr,
  kBytes,
  kTuple,
  kList,
  kDict,
  kSet,
  kFrozenSet,
  kEllipsis,
  kCell,        // of a closure
  kClass,       // and what else is made by a metaclass
  kDefinition,  // module or function
  kOther,
  kUnreadable,  // no object is there
};

// The first bytes of an object, with which most of the small ones are read whole.
struct ObjectHead {
  Address address = 0;
  size_t size = 0;  // of `bytes`, so many could be read
  std::array<std::byte, 96> bytes;
};

// Remembers the types it met, so it is for one pass over a target.
class ObjectRepr {
 public:
  ObjectRepr(const ObjectReader* objects, ReprLimits limits)
      : objects_(objects),
        values_(layout::ValuesFor(objects->table())),
        limits_(limits),
        dicts_(objects) {}

  // The heads of several objects, by one read where all can be read.
  [[nodiscard]] std::vector<ObjectHead> Heads(std::span<const Address> objects) const;
  // A word of the object, from its head where that has it.
  [[nodiscard]] std::optional<uint64_t> WordOf(const ObjectHead& head, uint64_t offset) const;
  Repr Of(const ObjectHead& head);
  Repr Of(Address object) { return Of(Heads({&object, 1})[0]); }
  ValueKind KindOf(const ObjectHead& head) { return TypeOf(head).kind; }

 private:
  struct Type {
    ValueKind kind = ValueKind::kUnreadable;
    std::string name;
  };
  const Type& TypeOf(const ObjectHead& head);
  Type ReadType(Address type);
  bool BytesOf(const ObjectHead& head, uint64_t offset, void* out, size_t size) const;

  void Append(const ObjectHead& head);
  void AppendInt(const ObjectHead& head);
  void AppendStr(const ObjectHead& head);
  void AppendBytes(const ObjectHead& head);
  void AppendSequence(const ObjectHead& head, ValueKind kind);
  void AppendDict(const ObjectHead& head);
  void AppendSet(const ObjectHead& head, ValueKind kind);
  // `open`, the items that `append` puts one by one, `close`. `size` is how many there are,
  // `shown` for how many `append` may be called.
  template <class AppendItem>
  void AppendItems(std::string_view open, std::string_view close, uint64_t size, size_t shown,
                   AppendItem append);
  void AppendUnreadable();
  void AppendCut(uint64_t size, std::string_view unit);
  [[nodiscard]] bool Full() const { return out_.text.size() >= limits_.text; }

  const ObjectReader* objects_;
  layout::Values values_;
  ReprLimits limits_;
  DictReader dicts_;
  std::unordered_map<Address, Type> types_;
  std::vector<Address> path_;  // the containers being written, outermost first
  Repr out_;
};

// What `repr(value)` is in Python.
std::string FloatRepr(double value);
// Little-endian base 2^30, as CPython keeps it.
std::string DecimalOf(std::vector<uint32_t> digits);

}  // namespace linescope
