#include "python/locals_repr.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "python/target_words.h"

namespace linescope {
namespace {

// Include/object.h, the same in 3.11 to 3.13.
constexpr uint64_t kHeapType = 1 << 9, kTypeSubclass = uint64_t{1} << 31;
// Larger than any container that fits into memory: a size beyond is garbage.
constexpr uint64_t kMaxSize = uint64_t{1} << 40;
// An int of more digits (2^30 each; some 4,600 decimal ones) is shown in base 16, which needs no
// division.
constexpr uint64_t kMaxDecimalDigits = 512;
// So many slots of a set's table are looked at for its first items.
constexpr uint64_t kMaxSlots = 1 << 16;
constexpr int64_t kDummyHash = -1;  // of a slot whose item was removed; no object has this hash

// Exact types by their tp_name, which only types of the interpreter itself have without a dot.
struct KnownType {
  std::string_view name;
  ValueKind kind;
};
constexpr KnownType kKinds[] = {
    {"NoneType", ValueKind::kNone},
    {"bool", ValueKind::kBool},
    {"int", ValueKind::kInt},
    {"float", ValueKind::kFloat},
    {"str", ValueKind::kStr},
    {"bytes", ValueKind::kBytes},
    {"tuple", ValueKind::kTuple},
    {"list", ValueKind::kList},
    {"dict", ValueKind::kDict},
    {"set", ValueKind::kSet},
    {"frozenset", ValueKind::kFrozenSet},
    {"ellipsis", ValueKind::kEllipsis},
    {"cell", ValueKind::kCell},
    {"module", ValueKind::kDefinition},
    {"function", ValueKind::kDefinition},
    {"builtin_function_or_method", ValueKind::kDefinition},
};

// Characters that Python's repr escapes: controls, surrogates, separators other than the blank,
// format characters, and what is no character. Unassigned ones are not known here.
bool IsPrintable(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad) return false;
  if (c < 0x600) return true;
  if ((c >= 0x600 && c <= 0x605) || c == 0x61c || c == 0x6dd || c == 0x70f || c == 0x1680 ||
      c == 0x180e || (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
      (c >= 0x205f && c <= 0x206f) || c == 0x3000 || (c >= 0xd800 && c <= 0xf8ff) || c == 0xfeff ||
      (c >= 0xfff0 && c <= 0xfffb) || (c & 0xfffe) == 0xfffe) {
    return false;
  }
  return c < 0xe0000;
}

void AppendEscaped(uint32_t c, char quote, bool is_bytes, std::string* out) {
  switch (c) {
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\\':
      *out += "\\\\";
      return;
    default:
      break;
  }
  if (c == static_cast<unsigned char>(quote)) {
    *out += '\\';
    *out += quote;
  } else if (is_bytes ? c >= 0x20 && c < 0x7f : IsPrintable(c)) {
    AppendUtf8(c, out);
  } else if (c < 0x100) {
    *out += fmt::format("\\x{:02x}", c);
  } else if (c < 0x10000) {
    *out += fmt::format("\\u{:04x}", c);
  } else {
    *out += fmt::format("\\U{:08x}", c);
  }
}

// `count` characters of `width` bytes each, in quotes as Python chooses them.
void AppendQuoted(const std::byte* data, size_t count, unsigned width, bool is_bytes,
                  std::string* out) {
  auto at = [&](size_t i) -> uint32_t {
    switch (width) {
      case 1:
        return Load<uint8_t>(data + i);
      case 2:
        return Load<uint16_t>(data + i * 2);
      default:
        return Load<uint32_t>(data + i * 4);
    }
  };
  bool single = false, both = false;
  for (size_t i = 0; i < count; ++i) {
    single |= at(i) == '\'';
    both |= at(i) == '"';
  }
  const char quote = single && !both ? '"' : '\'';
  *out += quote;
  for (size_t i = 0; i < count; ++i) AppendEscaped(at(i), quote, is_bytes, out);
  *out += quote;
}

}  // namespace

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Both print the shortest digits that read back as the same value, and choose the exponent form
  // alike (below 1e-4, from 1e16 on).
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string DecimalOf(std::vector<uint32_t> digits) {
  constexpr uint32_t kBase = 1'000'000'000;
  std::vector<uint32_t> groups;  // nine decimal digits each, the last ones first
  for (size_t i = digits.size(); i-- > 0;) {
    uint64_t carry = digits[i];
    for (uint32_t& group : groups) {
      const uint64_t sum = (uint64_t{group} << 30) + carry;
      group = static_cast<uint32_t>(sum % kBase);
      carry = sum / kBase;
    }
    while (carry != 0) {
      groups.push_back(static_cast<uint32_t>(carry % kBase));
      carry /= kBase;
    }
  }
  if (groups.empty()) return "0";
  std::string text = fmt::format("{}", groups.back());
  for (size_t i = groups.size() - 1; i-- > 0;) text += fmt::format("{:09}", groups[i]);
  return text;
}

namespace {

// A class may be called anything, and at any length.
std::string Shortened(std::string name) {
  constexpr size_t kMaxName = 200;
  if (name.size() <= kMaxName) return name;
  size_t end = kMaxName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  name.resize(end);
  return name + "…";
}

}  // namespace

ObjectRepr::Type ObjectRepr::ReadType(Address type) {
  const layout::Names& at = objects_->table().names;
  const auto flags = objects_->Word(type + at.type_flags);
  auto name = objects_->NameOfType(type);
  if (!flags || !name) return {};
  const bool metaclass = (*flags & kTypeSubclass) != 0;
  if ((*flags & kHeapType) == 0) {
    if (metaclass) return {ValueKind::kClass, std::move(*name)};
    const auto* known = std::ranges::find(kKinds, *name, &KnownType::name);
    return {known == std::end(kKinds) ? ValueKind::kOther : known->kind, std::move(*name)};
  }
  // The name of a class made at run time is only its last part.
  const auto qualified = objects_->Word(type + values_.type_qualified_name);
  if (auto text = qualified ? dicts_.Str(*qualified) : std::nullopt) name = std::move(text);
  const auto dict = objects_->Word(type + values_.type_dict);
  const Address module = dict ? dicts_.Find(*dict, "__module__") : 0;
  if (auto text = dicts_.Str(module); text && *text != "builtins") *name = *text + "." + *name;
  return {metaclass ? ValueKind::kClass : ValueKind::kOther, Shortened(std::move(*name))};
}

std::vector<ObjectHead> ObjectRepr::Heads(std::span<const Address> objects) const {
  constexpr size_t kSize = sizeof(ObjectHead::bytes);
  const size_t smallest = objects_->table().objects.type + 8;  // an object with no more: None
  RemoteMemory& memory = objects_->memory();
  std::vector<ObjectHead> heads(objects.size());
  std::vector<RemoteRange> ranges;
  for (size_t i = 0; i < objects.size(); ++i) {
    heads[i].address = objects[i];
    ranges.push_back({objects[i], kSize});
  }
  std::vector<std::byte> bytes(ranges.size() * kSize);
  const bool whole = memory.Read(ranges, bytes.data()) == static_cast<ssize_t>(bytes.size());
  for (size_t i = 0; i < heads.size(); ++i) {
    ObjectHead& head = heads[i];
    if (whole) {
      std::memcpy(head.bytes.data(), bytes.data() + i * kSize, head.size = kSize);
      continue;
    }
    // One of them is no object, or lies at the end of what is mapped.
    for (const size_t size : {kSize, smallest}) {
      if (!memory.ReadExact(head.address, head.bytes.data(), size)) continue;
      head.size = size;
      break;
    }
  }
  return heads;
}

bool ObjectRepr::BytesOf(const ObjectHead& head, uint64_t offset, void* out, size_t size) const {
  if (size == 0) return true;
  if (offset <= head.size && size <= head.size - offset) {
    std::memcpy(out, head.bytes.data() + offset, size);
    return true;
  }
  return objects_->memory().ReadExact(head.address + offset, out, size);
}

std::optional<uint64_t> ObjectRepr::WordOf(const ObjectHead& head, uint64_t offset) const {
  uint64_t word = 0;
  if (!BytesOf(head, offset, &word, sizeof word)) return std::nullopt;
  return word;
}

const ObjectRepr::Type& ObjectRepr::TypeOf(const ObjectHead& head) {
  static const Type kNothing;
  if (head.address < 4096 || (head.address & 7) != 0 || head.size == 0) return kNothing;
  const auto type = WordOf(head, objects_->table().objects.type);
  if (!type || *type < 4096 || (*type & 7) != 0) return kNothing;
  const auto known = types_.find(*type);
  if (known != types_.end()) return known->second;
  return types_.emplace(*type, ReadType(*type)).first->second;
}

Repr ObjectRepr::Of(const ObjectHead& head) {
  out_ = {};
  path_.clear();
  out_.type = TypeOf(head).name;
  Append(head);
  return std::move(out_);
}

void ObjectRepr::AppendUnreadable() {
  out_.text += "<unreadable>";
  out_.cut = true;
}

void ObjectRepr::AppendCut(uint64_t size, std::string_view unit) {
  out_.text += fmt::format("…({} {})", size, unit);
  out_.cut = true;
}

void ObjectRepr::Append(const ObjectHead& head) {
  const Type& type = TypeOf(head);
  switch (type.kind) {
    case ValueKind::kNone:
      out_.text += "None";
      return;
    case ValueKind::kEllipsis:
      out_.text += "Ellipsis";
      return;
    case ValueKind::kBool: {
      uint32_t digit = 0;
      const layout::Names& at = objects_->table().names;
      const auto size = WordOf(head, at.int_size);
      if (!size || !BytesOf(head, at.int_digits, &digit, sizeof digit)) return AppendUnreadable();
      const bool zero = at.int_tagged ? (*size & 3) == 1 : *size == 0;
      out_.text += !zero && digit != 0 ? "True" : "False";
      return;
    }
    case ValueKind::kInt:
      return AppendInt(head);
    case ValueKind::kFloat: {
      const auto bits = WordOf(head, values_.float_value);
      if (!bits) return AppendUnreadable();
      out_.text += FloatRepr(std::bit_cast<double>(*bits));
      return;
    }
    case ValueKind::kStr:
      return AppendStr(head);
    case ValueKind::kBytes:
      return AppendBytes(head);
    case ValueKind::kTuple:
    case ValueKind::kList:
      return AppendSequence(head, type.kind);
    case ValueKind::kDict:
      return AppendDict(head);
    case ValueKind::kSet:
    case ValueKind::kFrozenSet:
      return AppendSet(head, type.kind);
    case ValueKind::kUnreadable:
      return AppendUnreadable();
    case ValueKind::kClass:
      out_.text += fmt::format("<class '{}'>", ReadType(head.address).name);
      return;
    case ValueKind::kCell:
    case ValueKind::kDefinition:
    case ValueKind::kOther:
      break;
  }
  out_.text += fmt::format("<{} at {:#x}>", type.name, head.address);
}

void ObjectRepr::AppendInt(const ObjectHead& head) {
  const layout::Names& at = objects_->table().names;
  const auto word = WordOf(head, at.int_size);
  if (!word) return AppendUnreadable();
  uint64_t count = 0;
  bool negative = false;
  if (at.int_tagged) {
    negative = (*word & 3) == 2;
    count = *word >> 3;
  } else {
    const auto size = static_cast<int64_t>(*word);
    negative = size < 0;
    count = negative ? uint64_t{0} - *word : *word;
  }
  if (count > kMaxSize) return AppendUnreadable();
  // All digits, or those that matter.
  constexpr uint64_t kTop = 3;
  const uint64_t first = count > kMaxDecimalDigits ? count - kTop : 0;
  std::vector<uint32_t> digits(count - first);
  if (!BytesOf(head, at.int_digits + first * 4, digits.data(), digits.size() * 4)) {
    return AppendUnreadable();
  }
  if (negative) out_.text += '-';
  if (first == 0) {
    const std::string decimal = DecimalOf(std::move(digits));
    out_.text += decimal.substr(0, limits_.characters);
    if (decimal.size() > limits_.characters) AppendCut(decimal.size(), "digits");
    return;
  }
  unsigned __int128 top = 0;
  for (size_t i = digits.size(); i-- > 0;) top = top << 30 | (digits[i] & 0x3fffffff);
  // A digit of base 16 must not begin in the part that was read and end below it.
  const unsigned shift = (4 - first * 30 % 4) % 4;
  top >>= shift;
  const auto high = static_cast<uint64_t>(top >> 64);
  const auto low = static_cast<uint64_t>(top);
  out_.text += high != 0 ? fmt::format("0x{:x}{:016x}", high, low) : fmt::format("0x{:x}", low);
  AppendCut((count - 1) * 30 + static_cast<unsigned>(std::bit_width(digits.back())), "bits");
}

void ObjectRepr::AppendStr(const ObjectHead& head) {
  // See ObjectReader::Str, which reads the whole.
  const layout::Objects& at = objects_->table().objects;
  const auto length = WordOf(head, at.str_length);
  const auto word = WordOf(head, at.str_state);
  if (!length || !word || *length > kMaxSize) return AppendUnreadable();
  const uint32_t state = static_cast<uint32_t>(*word) >> at.str_kind_bit;
  const unsigned width = state & 7;
  const bool compact = (state >> 3 & 1) != 0, ascii = (state >> 4 & 1) != 0;
  if (!compact || (width != 1 && width != 2 && width != 4)) return AppendUnreadable();
  const auto count = static_cast<size_t>(std::min<uint64_t>(*length, limits_.characters));
  std::vector<std::byte> data(count * width);
  if (!BytesOf(head, ascii ? at.str_ascii : at.str_compact, data.data(), data.size())) {
    return AppendUnreadable();
  }
  AppendQuoted(data.data(), count, width, false, &out_.text);
  if (count < *length) AppendCut(*length, "characters");
}

void ObjectRepr::AppendBytes(const ObjectHead& head) {
  const layout::Objects& at = objects_->table().objects;
  const auto size = WordOf(head, at.var_size);
  if (!size || *size > kMaxSize) return AppendUnreadable();
  const auto count = static_cast<size_t>(std::min<uint64_t>(*size, limits_.characters));
  std::vector<std::byte> data(count);
  if (!BytesOf(head, at.bytes_data, data.data(), count)) return AppendUnreadable();
  out_.text += 'b';
  AppendQuoted(data.data(), count, 1, true, &out_.text);
  if (count < *size) AppendCut(*size, "bytes");
}

template <class AppendItem>
void ObjectRepr::AppendItems(std::string_view open, std::string_view close, uint64_t size,
                             size_t shown, AppendItem append) {
  out_.text += open;
  size_t done = 0;
  if (path_.size() <= limits_.depth) {
    for (; done < shown && !Full(); ++done) {
      if (done != 0) out_.text += ", ";
      append(done);
    }
  }
  if (done < size) {
    if (done != 0) out_.text += ", ";
    AppendCut(size, size == 1 ? "item" : "items");
  }
  out_.text += close;
}

void ObjectRepr::AppendSequence(const ObjectHead& head, ValueKind kind) {
  const bool list = kind == ValueKind::kList;
  if (std::ranges::find(path_, head.address) != path_.end()) {
    out_.text += list ? "[...]" : "(...)";
    return;
  }
  const auto size = WordOf(head, objects_->table().objects.var_size);
  const auto items =
      list ? WordOf(head, values_.list_items) : std::optional(head.address + values_.tuple_items);
  if (!size || !items || *size > kMaxSize) return AppendUnreadable();
  std::vector<Address> first(static_cast<size_t>(std::min<uint64_t>(*size, limits_.items)));
  if (!first.empty() && !objects_->memory().ReadExact(*items, first.data(), first.size() * 8)) {
    return AppendUnreadable();
  }
  const auto heads = Heads(first);
  const auto append = [&](size_t i) { Append(heads[i]); };
  path_.push_back(head.address);
  if (list) {
    AppendItems("[", "]", *size, first.size(), append);
  } else {
    AppendItems("(", *size == 1 ? ",)" : ")", *size, first.size(), append);
  }
  path_.pop_back();
}

void ObjectRepr::AppendDict(const ObjectHead& head) {
  if (std::ranges::find(path_, head.address) != path_.end()) {
    out_.text += "{...}";
    return;
  }
  const auto size = WordOf(head, values_.dict_used);
  if (!size || *size > kMaxSize) return AppendUnreadable();
  const auto entries = dicts_.Entries(head.address, limits_.items);
  std::vector<Address> objects;  // key, value, key, …
  for (const DictReader::Entry& entry : entries) {
    objects.push_back(entry.key);
    objects.push_back(entry.value);
  }
  const auto heads = Heads(objects);
  path_.push_back(head.address);
  AppendItems("{", "}", std::max<uint64_t>(*size, entries.size()), entries.size(), [&](size_t i) {
    Append(heads[i * 2]);
    out_.text += ": ";
    Append(heads[i * 2 + 1]);
  });
  path_.pop_back();
}

void ObjectRepr::AppendSet(const ObjectHead& head, ValueKind kind) {
  const bool frozen = kind == ValueKind::kFrozenSet;
  const auto size = WordOf(head, values_.set_used);
  const auto mask = WordOf(head, values_.set_mask);
  const auto table = WordOf(head, values_.set_table);
  if (!size || !mask || !table || *size > kMaxSize || *mask > kMaxSize) return AppendUnreadable();
  if (*size == 0) {
    out_.text += frozen ? "frozenset()" : "set()";
    return;
  }
  struct Slot {
    Address item;
    int64_t hash;
  };
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(*size, limits_.items));
  const uint64_t slots = std::min(*mask + 1, kMaxSlots);
  std::vector<Address> items;
  std::vector<Slot> block;
  for (uint64_t done = 0; done < slots && items.size() < wanted; done += block.size()) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(slots - done, done == 0 ? 64 : 4096)));
    if (!objects_->memory().ReadExact(*table + done * sizeof(Slot), block.data(),
                                      block.size() * sizeof(Slot))) {
      return AppendUnreadable();
    }
    for (const Slot& slot : block) {
      const bool used = slot.item != 0 && slot.hash != kDummyHash;
      if (used && items.size() < wanted) items.push_back(slot.item);
    }
  }
  path_.push_back(head.address);
  const auto heads = Heads(items);
  AppendItems(frozen ? "frozenset({" : "{", frozen ? "})" : "}", *size, items.size(),
              [&](size_t i) { Append(heads[i]); });
  path_.pop_back();
}

}  // namespace linescope
