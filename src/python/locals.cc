#include "python/locals.h"

#include <algorithm>

namespace linescope {
namespace {

constexpr uint32_t kOptimized = 1;                     // CO_OPTIMIZED, Include/cpython/code.h
constexpr uint8_t kFastCell = 0x40, kFastFree = 0x80;  // CO_FAST_*, internal/pycore_code.h
// Far beyond what compiles: a bound against garbage.
constexpr int kMaxSlots = 1 << 16;
// Of a namespace, so many names are looked at.
constexpr size_t kMaxNamespace = 10'000;

// Names that the compiler makes for its own use: `.0`, the argument of a comprehension, and the
// like. No name of a program has a dot.
bool IsHidden(const std::string& name) { return name.empty() || name.front() == '.'; }

}  // namespace

LocalsReader::LocalsReader(RemoteMemory* memory, const layout::Table* table, ReprLimits limits)
    : objects_(memory, table),
      values_(layout::ValuesFor(*table)),
      dicts_(&objects_),
      repr_(&objects_, limits) {}

bool LocalsReader::AddNames(Address tuple, uint8_t kind, size_t limit, Names* names) const {
  const auto size = objects_.Word(tuple + objects_.table().objects.var_size);
  if (!size || *size > limit) return false;
  std::vector<Address> items(*size);
  if (!items.empty() && !objects_.memory().ReadExact(tuple + values_.tuple_items, items.data(),
                                                     items.size() * sizeof(Address))) {
    return false;
  }
  for (const Address item : items) {
    names->names.push_back(objects_.Str(item).value_or(""));
    names->kinds.push_back(kind);
  }
  return true;
}

const LocalsReader::Names& LocalsReader::NamesOf(const Code& code) {
  const auto [entry, fresh] = names_.try_emplace(code.id);
  Names& names = entry->second;
  if (!fresh) return names;
  const auto flags = objects_.Word(code.address + objects_.table().code.flags);
  names.optimized = !flags || (*flags & kOptimized) != 0;
  auto add = [&](uint32_t tuple, uint8_t kind, size_t limit) {
    const auto address = objects_.Word(code.address + tuple);
    return address && AddNames(*address, kind, limit, &names);
  };
  bool whole = false;
  if (values_.code_names == layout::kNone) {
    whole = add(values_.code_locals, 0, kMaxSlots) &&
            add(values_.code_cells, kFastCell, kMaxSlots) &&
            add(values_.code_frees, kFastFree, kMaxSlots);
  } else {
    const auto kinds = objects_.Word(code.address + values_.code_kinds);
    const auto bytes = kinds ? objects_.Bytes(*kinds) : std::nullopt;
    const auto count = static_cast<size_t>(std::clamp(code.nlocalsplus, 0, kMaxSlots));
    whole = bytes && bytes->size() == count && add(values_.code_names, 0, count) &&
            names.names.size() == count;
    if (whole) names.kinds = *bytes;
  }
  if (!whole) {
    names.names.clear();
    names.kinds.clear();
  }
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

// The slots that are bound, in the order of the frames.
std::vector<LocalsReader::Slot> LocalsReader::ReadSlots(std::span<const StackFrame> frames) {
  std::vector<RemoteRange> ranges;
  size_t count = 0;
  for (const StackFrame& frame : frames) {
    const size_t slots = NamesOf(*frame.code).names.size();
    ranges.push_back({frame.address + values_.frame_slots, slots * 8});
    count += slots;
  }
  std::vector<Address> words(count);
  if (objects_.memory().Read(ranges, words.data()) != static_cast<ssize_t>(count * 8)) {
    Address* at = words.data();
    for (const RemoteRange& range : ranges) {
      if (!objects_.memory().ReadExact(range.address, at, range.size))
        std::fill_n(at, range.size / 8, 0);
      at += range.size / 8;
    }
  }
  std::vector<Slot> bound;
  size_t word = 0;
  for (size_t frame = 0; frame < frames.size(); ++frame) {
    const Names& names = NamesOf(*frames[frame].code);
    for (size_t i = 0; i < names.names.size(); ++i) {
      const Address slot = words[word++];
      // With all tags it is a small number of the interpreter's own.
      const bool number = values_.slot_tags != 0 && (slot & values_.slot_tags) == values_.slot_tags;
      const Address object = number ? 0 : slot & ~values_.slot_tags;
      const bool free = (names.kinds[i] & kFastFree) != 0;
      // A namespace has no variables of the functions around it.
      if (object == 0 || IsHidden(names.names[i]) || (free && !names.optimized)) continue;
      const auto kind = free                                ? Variable::Kind::kFree
                        : (names.kinds[i] & kFastCell) != 0 ? Variable::Kind::kCell
                                                            : Variable::Kind::kLocal;
      bound.push_back({frame, &names.names[i], kind, object});
    }
  }
  return bound;
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

std::vector<FrameVariables> LocalsReader::Read(std::span<const StackFrame> frames) {
  const std::vector<Slot> slots = ReadSlots(frames);
  std::vector<Address> objects;
  for (const Slot& slot : slots) objects.push_back(slot.object);
  std::vector<ObjectHead> heads = repr_.Heads(objects);

  std::vector<size_t> cells;
  std::vector<Address> contents;
  for (size_t i = 0; i < slots.size(); ++i) {
    // Until the function's first instructions have made its cells, an argument is there itself.
    if (slots[i].kind == Variable::Kind::kLocal || repr_.KindOf(heads[i]) != ValueKind::kCell) {
      continue;
    }
    const Address content = repr_.WordOf(heads[i], values_.cell_value).value_or(0);
    heads[i].address = content;
    if (content == 0) continue;  // not bound yet, or deleted
    cells.push_back(i);
    contents.push_back(content);
  }
  const std::vector<ObjectHead> content_heads = repr_.Heads(contents);
  for (size_t i = 0; i < cells.size(); ++i) heads[cells[i]] = content_heads[i];

  std::vector<FrameVariables> out(frames.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (heads[i].address == 0) continue;
    Add(*slots[i].name, slots[i].kind, heads[i], &out[slots[i].frame]);
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    if (NamesOf(*frames[i].code).optimized) continue;
    const Address dict = objects_.Word(frames[i].address + values_.frame_namespace).value_or(0);
    ReadNamespace(dict, &out[i]);
  }
  return out;
}

}  // namespace linescope
