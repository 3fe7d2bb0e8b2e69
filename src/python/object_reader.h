#pragma once
// Reads the few kinds of Python objects that names and line tables are kept in.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/remote_memory.h"
#include "python/layout.h"

namespace linescope {

// Objects of the target, read by the layout of its version. A failed read or a header that makes no
// sense is nullopt: the object may have been freed under our eyes. Sizes up to kMaxObject are read
// whole; nothing is cut.
class ObjectReader {
 public:
  static constexpr uint64_t kMaxObject = uint64_t{1} << 30;

  ObjectReader(RemoteMemory* memory, const layout::Table* table) : memory_(memory), table_(table) {}

  // A `str`, as UTF-8. Lone surrogates come out as U+FFFD.
  [[nodiscard]] std::optional<std::string> Str(Address object) const;
  // A `str` that names a file, as the operating system knows it: what was no UTF-8 stands in it as
  // U+DC80 … U+DCFF for the bytes 0x80 … 0xff (PEP 383), and comes out as those. Else as Str.
  [[nodiscard]] std::optional<std::string> Path(Address object) const;
  // A `bytes` object's content.
  [[nodiscard]] std::optional<std::vector<uint8_t>> Bytes(Address object) const;
  // `type(object).__name__`, at most 255 bytes.
  [[nodiscard]] std::optional<std::string> TypeName(Address object) const;
  // tp_name of a type: of the interpreter's own and of extensions' types with the module in front.
  [[nodiscard]] std::optional<std::string> NameOfType(Address type) const;
  [[nodiscard]] std::optional<uint64_t> Word(Address address) const;

  [[nodiscard]] RemoteMemory& memory() const { return *memory_; }
  [[nodiscard]] const layout::Table& table() const { return *table_; }

 private:
  [[nodiscard]] std::optional<std::string> Text(Address object, bool escaped_bytes) const;

  RemoteMemory* memory_;
  const layout::Table* table_;
};

// UTF-8 of `length` characters of PEP 393 storage with `kind` bytes each (1, 2 or 4); with
// `escaped_bytes` as in ObjectReader::Path.
std::string DecodePep393(const std::byte* data, size_t length, unsigned kind, bool escaped_bytes);

}  // namespace linescope
