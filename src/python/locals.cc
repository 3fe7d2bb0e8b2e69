#include "python/locals.h"

#include <algorithm>

namespace linescope {
namespace {

constexpr uint32_t kOptimized = 1;                     // CO_OPTIMIZED, Include/cpython/code.h
constexpr uint8_t kFastCell = 0x40, kFastFree = 0x80;  // CO_FAST_*, internal/pycore_code.h
// Far beyond what compiles: a bound against garbage.
constexpr int32_t kMaxSlots = 1 << 16;
// Of a namespace, so many names are looked at.
constexpr size_t kMaxNamespace = 10'000;

// Names that the compiler makes for its own use: `.0`, the argument of a comprehension, and the
// like. No name of a program has a dot.
bool IsHidden(const std::string& name) { return name.empty() || name.front() == '.'; }

}  // namespace

LocalsReader::LocalsReader(RemoteMemory* memory, const layout::Table* table,
                           const layout::Values* values, ReprLimits limits)
    : objects_(memory, table),
      values_(values),
      dicts_(&objects_),
      repr_(&objects_, values, limits) {}

const LocalsReader::Names& LocalsReader::NamesOf(const Code& code) {
  const auto [entry, fresh] = names_.try_emplace(code.id);
  Names& names = entry->second;
  if (!fresh) return names;
  const auto flags = objects_.Word(code.address + objects_.table().code.flags);
  names.optimized = !flags || (*flags & kOptimized) != 0;
  const auto tuple = objects_.Word(code.address + values_->code_names);
  const auto kinds = objects_.Word(code.address + values_->code_kinds);
  const auto bytes = kinds ? objects_.Bytes(*kinds) : std::nullopt;
  const size_t count = static_cast<size_t>(std::clamp(code.nlocalsplus, 0, kMaxSlots));
  std::vector<Address> items(count);
  if (!tuple || !bytes || bytes->size() != count || count == 0 ||
      !objects_.memory().ReadExact(*tuple + values_->tuple_items, items.data(), count * 8)) {
    return names;
  }
  names.kinds = *bytes;
  for (const Address item : items) names.names.push_back(objects_.Str(item).value_or(""));
  return names;
}

void LocalsReader::Add(std::string name, Variable::Kind kind, const ObjectHead& value,
                       FrameVariables* out) {
  if (out->variables.size() == kMaxVariables) {
    ++out->left_out;
    return;
  }
  out->variables.push_back({std::move(name), kind, repr_.Of(value)});
}

void LocalsReader::ReadSlots(const StackFrame& frame, const Names& names, FrameVariables* out) {
  std::vector<Address> slots(names.names.size());
  const Address start = frame.address + objects_.table().frame.locals;
  if (slots.empty() || !objects_.memory().ReadExact(start, slots.data(), slots.size() * 8)) return;
  std::vector<size_t> shown;
  std::vector<Address> objects;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == 0 || IsHidden(names.names[i])) continue;
    // A namespace has no variables of the functions around it.
    if (!names.optimized && (names.kinds[i] & kFastFree) != 0) continue;
    shown.push_back(i);
    objects.push_back(slots[i]);
  }
  const std::vector<ObjectHead> heads = repr_.Heads(objects);
  for (size_t k = 0; k < shown.size(); ++k) {
    const std::string& name = names.names[shown[k]];
    const uint8_t kinds = names.kinds[shown[k]];
    if ((kinds & (kFastCell | kFastFree)) == 0) {
      Add(name, Variable::Kind::kLocal, heads[k], out);
      continue;
    }
    const auto kind = (kinds & kFastFree) != 0 ? Variable::Kind::kFree : Variable::Kind::kCell;
    // Until the function's first instructions have made its cells, an argument is there itself.
    if (repr_.KindOf(heads[k]) != ValueKind::kCell) {
      Add(name, kind, heads[k], out);
      continue;
    }
    const Address value = objects_.Word(objects[k] + values_->cell_value).value_or(0);
    if (value != 0) Add(name, kind, repr_.Heads({&value, 1})[0], out);
  }
}

void LocalsReader::ReadNamespace(Address dict, FrameVariables* out) {
  const auto entries = dicts_.Entries(dict, kMaxNamespace);
  std::vector<Address> objects;
  for (const DictReader::Entry& entry : entries) objects.push_back(entry.value);
  const std::vector<ObjectHead> heads = repr_.Heads(objects);
  for (size_t i = 0; i < entries.size(); ++i) {
    const ValueKind kind = repr_.KindOf(heads[i]);
    if (kind == ValueKind::kDefinition || kind == ValueKind::kClass) continue;
    auto name = dicts_.Str(entries[i].key);
    if (!name || name->starts_with("__")) continue;
    Add(std::move(*name), Variable::Kind::kNamespace, heads[i], out);
  }
}

FrameVariables LocalsReader::Read(const StackFrame& frame) {
  FrameVariables out;
  const Names& names = NamesOf(*frame.code);
  ReadSlots(frame, names, &out);
  if (!names.optimized) {
    ReadNamespace(objects_.Word(frame.address + values_->frame_namespace).value_or(0), &out);
  }
  return out;
}

}  // namespace linescope
