#pragma once
// Dictionaries, instance attributes and small integers of the target.
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/object_reader.h"

namespace linescope {

// Reads by the layout of the target's version; what cannot be read or makes no sense counts as not
// there. Remembers the kinds of types it met, so it is for one pass over a target, not for keeps.
class DictReader {
 public:
  struct Entry {
    Address key = 0, value = 0;
  };

  explicit DictReader(const ObjectReader* objects) : objects_(objects) {}

  // The entries of a dict in their order, or the first `limit` of them. Not locked against the
  // target: an entry may be stale.
  std::vector<Entry> Entries(Address dict, size_t limit = SIZE_MAX);
  // The value of an ASCII key; 0 when there is none.
  Address Find(Address dict, std::string_view key);
  // The value of an attribute kept in the instance itself (not in its class); 0 when there is none.
  Address Attribute(Address object, std::string_view name);
  // A non-negative `int` below 2^64.
  std::optional<uint64_t> Int(Address object);
  // An exact or derived `str`, as UTF-8.
  std::optional<std::string> Str(Address object);

 private:
  struct Type {
    uint64_t flags = 0;
    int64_t dict_offset = 0, basic_size = 0;
    Address cached_keys = 0;
  };
  const Type* TypeOf(Address object);
  [[nodiscard]] std::vector<Entry> KeyEntries(Address keys, Address values,
                                              size_t limit = SIZE_MAX) const;
  [[nodiscard]] Address FindIn(const std::vector<Entry>& entries, std::string_view key) const;

  const ObjectReader* objects_;
  std::unordered_map<Address, Type> types_;
};

}  // namespace linescope
