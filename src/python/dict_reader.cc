#include "python/dict_reader.h"

#include <algorithm>

#include "python/target_words.h"

namespace linescope {
namespace {

// Include/object.h, the same in all versions that have them.
constexpr uint64_t kInlineValues = 1 << 2, kManagedDict = 1 << 4, kHeapType = 1 << 9;
constexpr uint64_t kIntSubclass = 1 << 24, kStrSubclass = 1 << 28, kDictSubclass = 1 << 29;
// DictKeysKind.
constexpr uint8_t kGeneralKeys = 0, kSplitKeys = 2;
// Entries are read in blocks, so that a size that is garbage costs no more than is mapped.
constexpr uint64_t kMaxEntries = 1 << 22, kBlock = 4096;

}  // namespace

const DictReader::Type* DictReader::TypeOf(Address object) {
  const auto address =
      object == 0 ? std::nullopt : objects_->Word(object + objects_->table().objects.type);
  if (!address || *address == 0) return nullptr;
  if (const auto it = types_.find(*address); it != types_.end()) return &it->second;
  const layout::Names& at = objects_->table().names;
  Type type;
  RemoteMemory& memory = objects_->memory();
  if (!memory.ReadValue(*address + at.type_flags, &type.flags) ||
      !memory.ReadValue(*address + at.type_dict_offset, &type.dict_offset) ||
      !memory.ReadValue(*address + at.type_basic_size, &type.basic_size)) {
    return nullptr;
  }
  if ((type.flags & kHeapType) != 0) {
    memory.ReadValue(*address + at.type_cached_keys, &type.cached_keys);
  }
  return &types_.emplace(*address, type).first->second;
}

std::vector<DictReader::Entry> DictReader::KeyEntries(Address keys, Address values,
                                                      size_t limit) const {
  const layout::Dict& at = objects_->table().dict;
  RemoteMemory& memory = objects_->memory();
  std::vector<Entry> entries;
  std::byte header[64];
  if (keys == 0 || at.keys_indices > sizeof header ||
      !memory.ReadExact(keys, header, at.keys_indices)) {
    return entries;
  }
  const auto count = Load<uint64_t>(header + at.keys_entries);
  uint8_t kind = kGeneralKeys;
  uint64_t size = 0, index_bytes = 0;
  if (at.keys_kind == layout::kNone) {
    size = Load<uint64_t>(header + at.keys_log2_size);
    // As wide as an index into `size` entries has to be.
    index_bytes = size <= 0xff ? size : size <= 0xffff ? size * 2 : size * 4;
    if (size > kMaxEntries * 2) return entries;
  } else {
    const auto log2_size = Load<uint8_t>(header + at.keys_log2_size);
    const auto log2_index_bytes = Load<uint8_t>(header + at.keys_log2_index_bytes);
    kind = Load<uint8_t>(header + at.keys_kind);
    if (log2_size > 40 || log2_index_bytes > 48 || kind > kSplitKeys ||
        (values != 0) != (kind == kSplitKeys)) {
      return entries;
    }
    size = uint64_t{1} << log2_size;
    index_bytes = uint64_t{1} << log2_index_bytes;
  }
  if (count > size || count > kMaxEntries) return entries;
  // Hash, key, value where keys are of any kind; key, value where they are all str.
  const size_t entry_size = kind == kGeneralKeys ? 24 : 16;
  const size_t key_offset = entry_size - 16;
  const Address first = keys + at.keys_indices + index_bytes;
  std::vector<std::byte> block;
  std::vector<Address> block_values;
  for (uint64_t done = 0; done < count && entries.size() < limit;) {
    // The first entries are mostly alive: then they are all that has to be read.
    const uint64_t block_size = done == 0 ? std::min<uint64_t>(kBlock, limit) : kBlock;
    const uint64_t n = std::min(block_size, count - done);
    block.resize(n * entry_size);
    block_values.resize(n);
    if (!memory.ReadExact(first + done * entry_size, block.data(), block.size()) ||
        (values != 0 && !memory.ReadExact(values + at.values_first + done * 8, block_values.data(),
                                          block_values.size() * 8))) {
      return entries;
    }
    for (uint64_t i = 0; i < n; ++i) {
      const std::byte* entry = block.data() + i * entry_size + key_offset;
      const Entry found{Load<Address>(entry),
                        values != 0 ? block_values[i] : Load<Address>(entry + 8)};
      if (found.key != 0 && found.value != 0 && entries.size() < limit) entries.push_back(found);
    }
    done += n;
  }
  return entries;
}

std::vector<DictReader::Entry> DictReader::Entries(Address dict, size_t limit) {
  const layout::Objects& at = objects_->table().objects;
  const Type* type = TypeOf(dict);
  if (type == nullptr || (type->flags & kDictSubclass) == 0) return {};
  const auto keys = objects_->Word(dict + at.dict_keys);
  const auto values = objects_->Word(dict + at.dict_values);
  if (!keys || !values) return {};
  return KeyEntries(*keys, *values, limit);
}

Address DictReader::FindIn(const std::vector<Entry>& entries, std::string_view key) const {
  const layout::Objects& at = objects_->table().objects;
  RemoteMemory& memory = objects_->memory();
  const size_t size = at.str_ascii + key.size();
  auto matches = [&](const std::byte* str) {
    const auto state = Load<uint32_t>(str + at.str_state);
    // compact, ascii, one byte a character: see ObjectReader::Str
    return Load<uint64_t>(str + at.str_length) == key.size() &&
           (state >> at.str_kind_bit & 0x1f) == 0x19 &&
           std::memcmp(str + at.str_ascii, key.data(), key.size()) == 0;
  };
  constexpr size_t kBatch = 256;
  std::vector<RemoteRange> ranges;
  std::vector<std::byte> bytes(std::min(kBatch, entries.size()) * size);
  for (size_t from = 0; from < entries.size(); from += kBatch) {
    const size_t n = std::min(kBatch, entries.size() - from);
    ranges.clear();
    for (size_t i = 0; i < n; ++i) ranges.push_back({entries[from + i].key, size});
    const bool whole = memory.Read(ranges, bytes.data()) == static_cast<ssize_t>(n * size);
    for (size_t i = 0; i < n; ++i) {
      std::byte* str = bytes.data() + i * size;
      // A short key may lie at the end of what is mapped.
      if (!whole && !memory.ReadExact(entries[from + i].key, str, size)) continue;
      if (matches(str)) return entries[from + i].value;
    }
  }
  return 0;
}

Address DictReader::Find(Address dict, std::string_view key) { return FindIn(Entries(dict), key); }

Address DictReader::Attribute(Address object, std::string_view name) {
  using Instance = layout::Names::Instance;
  const Type* type = TypeOf(object);
  if (type == nullptr) return 0;
  if ((type->flags & kManagedDict) == 0) {
    if (type->dict_offset <= 0) return 0;
    return Find(objects_->Word(object + static_cast<Address>(type->dict_offset)).value_or(0), name);
  }
  const Address before = object - objects_->table().names.managed_dict;
  const Address managed = objects_->Word(before).value_or(0);
  Address values = 0, dict = managed;
  switch (objects_->table().names.instance) {
    case Instance::kDict:
      return 0;  // no such flag before 3.11
    case Instance::kTwoPointers:
      values = objects_->Word(before - 8).value_or(0);
      break;
    case Instance::kTaggedPointer:
      if ((managed & 1) != 0) {
        values = managed + 1;
        dict = 0;
      }
      break;
    case Instance::kInline: {
      if (dict != 0 || (type->flags & kInlineValues) == 0) break;
      // PyDictValues starts with capacity, size, embedded, valid.
      const Address at = object + static_cast<Address>(type->basic_size);
      uint8_t head[4];
      if (objects_->memory().ReadExact(at, head, sizeof head) && head[3] != 0) values = at;
      break;
    }
  }
  return values != 0 ? FindIn(KeyEntries(type->cached_keys, values), name) : Find(dict, name);
}

std::optional<uint64_t> DictReader::Int(Address object) {
  const layout::Names& at = objects_->table().names;
  const Type* type = TypeOf(object);
  if (type == nullptr || (type->flags & kIntSubclass) == 0) return std::nullopt;
  const auto size = objects_->Word(object + at.int_size);
  if (!size) return std::nullopt;
  if (at.int_tagged && (*size & 3) == 2) return std::nullopt;  // negative
  const uint64_t count = at.int_tagged ? ((*size & 3) == 1 ? 0 : *size >> 3) : *size;
  uint32_t digits[3] = {};
  if (count > 3 || (count != 0 && !objects_->memory().ReadExact(object + at.int_digits, digits,
                                                                count * sizeof digits[0]))) {
    return std::nullopt;
  }
  // 30 bits each; of the third, four fit.
  if (digits[2] >> 4 != 0) return std::nullopt;
  return uint64_t{digits[0]} | uint64_t{digits[1]} << 30 | uint64_t{digits[2]} << 60;
}

std::optional<std::string> DictReader::Str(Address object) {
  const Type* type = TypeOf(object);
  if (type == nullptr || (type->flags & kStrSubclass) == 0) return std::nullopt;
  return objects_->Str(object);
}

}  // namespace linescope
