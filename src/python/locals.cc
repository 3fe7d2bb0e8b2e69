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

void LocalsReader::Add(std::string name, Variable::Kind kind, Address object, FrameVariables* out) {
  if (out->variables.size() == kMaxVariables) {
    ++out->left_out;
    return;
  }
  out->variables.push_back({std::move(name), kind, repr_.Of(object)});
}

void LocalsReader::ReadSlots(const StackFrame& frame, const Names& names, FrameVariables* out) {
  std::vector<Address> slots(names.names.size());
  const Address start = frame.address + objects_.table().frame.locals;
  if (slots.empty() || !objects_.memory().ReadExact(start, slots.data(), slots.size() * 8)) return;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == 0 || IsHidden(names.names[i])) continue;
    Address object = slots[i];
    // A namespace has no variables of the functions around it.
    if (!names.optimized && (names.kinds[i] & kFastFree) != 0) continue;
    Variable::Kind kind = Variable::Kind::kLocal;
    if ((names.kinds[i] & (kFastCell | kFastFree)) != 0) {
      kind = (names.kinds[i] & kFastFree) != 0 ? Variable::Kind::kFree : Variable::Kind::kCell;
      // Until the function's first instructions have made its cells, an argument is there itself.
      if (repr_.KindOf(object) == ValueKind::kCell) {
        object = objects_.Word(object + values_->cell_value).value_or(0);
      }
      if (object == 0) continue;
    }
    Add(names.names[i], kind, object, out);
  }
}

void LocalsReader::ReadNamespace(Address dict, FrameVariables* out) {
  for (const DictReader::Entry& entry : dicts_.Entries(dict, kMaxNamespace)) {
    const ValueKind kind = repr_.KindOf(entry.value);
    if (kind == ValueKind::kDefinition || kind == ValueKind::kClass) continue;
    auto name = dicts_.Str(entry.key);
    if (!name || name->starts_with("__")) continue;
    Add(std::move(*name), Variable::Kind::kNamespace, entry.value, out);
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
