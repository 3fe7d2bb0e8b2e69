#include "python/object_reader.h"

#include "base/utf8.h"
#include "python/target_words.h"

namespace linescope {

std::string DecodePep393(const std::byte* data, size_t length, unsigned kind, bool escaped_bytes) {
  std::string out;
  out.reserve(length);
  for (size_t i = 0; i < length; ++i) {
    const uint32_t c = kind == 1   ? Load<uint8_t>(data + i)
                       : kind == 2 ? Load<uint16_t>(data + i * 2)
                                   : Load<uint32_t>(data + i * 4);
    if (escaped_bytes && c >= 0xdc80 && c <= 0xdcff) {
      out.push_back(static_cast<char>(c & 0xff));
    } else {
      AppendUtf8((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff ? 0xfffd : c, &out);
    }
  }
  return out;
}

std::optional<std::string> ObjectReader::Str(Address object) const { return Text(object, false); }

std::optional<std::string> ObjectReader::Path(Address object) const { return Text(object, true); }

std::optional<std::string> ObjectReader::Text(Address object, bool escaped_bytes) const {
  const layout::Objects& at = table_->objects;
  // PyASCIIObject.state: interned, kind:3, compact:1, ascii:1 (Include/cpython/unicodeobject.h).
  std::byte header[64];
  const size_t header_size = at.str_ascii;
  if (object == 0 || header_size > sizeof header ||
      !memory_->ReadExact(object, header, header_size)) {
    return std::nullopt;
  }
  const auto length = Load<uint64_t>(header + at.str_length);
  const uint32_t state = Load<uint32_t>(header + at.str_state) >> at.str_kind_bit;
  const unsigned kind = state & 7;
  const bool compact = (state >> 3 & 1) != 0, ascii = (state >> 4 & 1) != 0;
  if (!compact || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1) ||
      length > kMaxObject / 4) {
    return std::nullopt;
  }
  std::vector<std::byte> data(length * kind);
  const Address start = object + (ascii ? at.str_ascii : at.str_compact);
  if (!data.empty() && !memory_->ReadExact(start, data.data(), data.size())) return std::nullopt;
  return DecodePep393(data.data(), length, kind, escaped_bytes);
}

std::optional<std::vector<uint8_t>> ObjectReader::Bytes(Address object) const {
  const layout::Objects& at = table_->objects;
  uint64_t size = 0;
  if (object == 0 || !memory_->ReadValue(object + at.var_size, &size) || size > kMaxObject) {
    return std::nullopt;
  }
  std::vector<uint8_t> data(size);
  if (size != 0 && !memory_->ReadExact(object + at.bytes_data, data.data(), size)) {
    return std::nullopt;
  }
  return data;
}

std::optional<std::string> ObjectReader::TypeName(Address object) const {
  Address type = 0;
  if (object == 0 || !memory_->ReadValue(object + table_->objects.type, &type)) return std::nullopt;
  return NameOfType(type);
}

std::optional<std::string> ObjectReader::NameOfType(Address type) const {
  Address name = 0;
  if (type == 0 || !memory_->ReadValue(type + table_->objects.type_name, &name) || name == 0) {
    return std::nullopt;
  }
  // C strings may end just before an unmapped page: a short read is fine as long as the terminator
  // is in it.
  char text[256];
  const RemoteRange range{name, sizeof text};
  ssize_t got = memory_->Read({&range, 1}, text);
  if (got <= 0) {
    const RemoteRange rest{name, 4096 - (name & 4095)};
    if (rest.size > sizeof text) return std::nullopt;
    got = memory_->Read({&rest, 1}, text);
  }
  if (got <= 0) return std::nullopt;
  const size_t length = strnlen(text, static_cast<size_t>(got));
  return std::string(text, length);
}

std::optional<uint64_t> ObjectReader::Word(Address address) const {
  uint64_t value = 0;
  if (!memory_->ReadValue(address, &value)) return std::nullopt;
  return value;
}

}  // namespace linescope
