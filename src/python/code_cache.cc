#include "python/code_cache.h"

#include <algorithm>
#include <utility>

#include "python/target_words.h"

namespace linescope {
namespace {

// Larger than any code object that compiles: a bound for sanity, not a cut.
constexpr uint64_t kMaxUnits = uint64_t{1} << 28;

}  // namespace

CodeCache::CodeCache(RemoteMemory* memory, const layout::Table* table, CodeId first_id)
    : objects_(memory, table),
      table_(table),
      first_id_(first_id),
      header_size_(table->code.bytecode),
      slots_(1024),
      mask_(1023),
      bad_(kBadSlots),
      verify_buffer_(header_size_) {}

Code* CodeCache::Load(Address address, int64_t now_ns) {
  if (Code* code = Find(address)) return code;
  if (!PlausiblePointer(address)) return nullptr;
  Bad& bad = bad_[Hash(address) % kBadSlots];
  if (bad.address == address && now_ns < bad.until_ns) return nullptr;
  std::unique_ptr<Code> code = Read(address);
  if (code == nullptr) {
    bad = {address, now_ns + kBadTtlNs};
    return nullptr;
  }
  code->id = first_id_ + static_cast<CodeId>(codes_.size());
  code->verified_ns = code->loaded_ns = now_ns;
  Code* raw = code.get();
  codes_.push_back(std::move(code));
  Insert(address, raw);
  return raw;
}

Code::Fingerprint CodeCache::FingerprintOf(const std::byte* header) const {
  const layout::Code& at = table_->code;
  const uint64_t version =
      at.version == layout::kNone ? 0 : ::linescope::Load<uint32_t>(header + at.version);
  return {.file = ::linescope::Load<uint64_t>(header + at.file),
          .name = ::linescope::Load<uint64_t>(header + at.name),
          .linetable = ::linescope::Load<uint64_t>(header + at.linetable),
          .line_and_version =
              uint64_t{::linescope::Load<uint32_t>(header + at.first_line)} | version << 32};
}

std::unique_ptr<Code> CodeCache::Read(Address address) {
  const layout::Code& at = table_->code;
  std::vector<std::byte> header(header_size_);
  if (!objects_.memory().ReadExact(address, header.data(), header.size())) return nullptr;

  const auto type = ::linescope::Load<Address>(header.data() + table_->objects.type);
  if (type != code_type_) {
    if (code_type_ != 0 || objects_.TypeName(address) != "code") return nullptr;
    code_type_ = type;
  }
  auto code = std::make_unique<Code>();
  code->address = address;
  code->first_line = ::linescope::Load<int32_t>(header.data() + at.first_line);
  code->fingerprint = FingerprintOf(header.data());
  const std::optional<std::vector<uint8_t>> bytecode = at.code_bytes == layout::kNone
                                                           ? ReadInline(header.data(), code.get())
                                                           : ReadBytes(header.data(), code.get());
  if (!bytecode) return nullptr;
  DecodeUnits(*bytecode, code.get());
  if (const auto table = objects_.Bytes(code->fingerprint.linetable)) {
    switch (table_->lines) {
      case layout::Lines::kLocations:
        code->ranges = DecodeLocationTable(*table, code->first_line, code->units);
        break;
      case layout::Lines::kRanges:
        code->ranges = DecodeLineRanges(*table, code->first_line, code->units);
        break;
      case layout::Lines::kDeltas:
        code->ranges = DecodeLineDeltas(*table, code->first_line, code->units);
        break;
    }
  } else {
    // The table was freed or is unreadable: the function is known, its lines are not.
    code->ranges = UnitRanges(code->units);
    code->incomplete = true;
  }
  const auto readable = [&](std::optional<std::string> text) {
    code->incomplete |= !text;
    return std::move(text).value_or("<unreadable>");
  };
  code->file = readable(objects_.Path(code->fingerprint.file));
  code->name = readable(objects_.Str(code->fingerprint.name));
  code->qualified_name = at.qualname == layout::kNone
                             ? code->name
                             : objects_.Str(::linescope::Load<Address>(header.data() + at.qualname))
                                   .value_or(code->name);
  // 3.13 and later push such a frame for an inlined Class(): named and filed `__init__`, no lines.
  code->shim = code->first_line == 0 && code->file == code->name;
  const auto flags = ::linescope::Load<uint32_t>(header.data() + at.flags);
  // CO_OPTIMIZED: the body of a function, which its function keeps.
  code->transient = (flags & 1) == 0;
  code->coroutine = (flags & 0x180) != 0;  // CO_COROUTINE, CO_ITERABLE_COROUTINE
  code->dynamic =
      code->file.empty() || (code->file.front() == '<' && !code->file.starts_with("<frozen "));
  return code;
}

// The bytecode of a code object that holds it itself, and the words that go with such an object.
std::optional<std::vector<uint8_t>> CodeCache::ReadInline(const std::byte* header, Code* code) {
  const layout::Code& at = table_->code;
  code->bytecode = code->address + at.bytecode;
  const auto units = ::linescope::Load<uint64_t>(header + table_->objects.var_size);
  code->nlocalsplus = ::linescope::Load<int32_t>(header + at.nlocalsplus);
  const auto stacksize = ::linescope::Load<int32_t>(header + at.stacksize);
  if (units == 0 || units > kMaxUnits || code->nlocalsplus < 0 || stacksize < 0) {
    return std::nullopt;
  }
  code->units = static_cast<uint32_t>(units);
  const int64_t words = at.framesize == layout::kNone
                            ? int64_t{code->nlocalsplus} + stacksize + table_->frame_specials_words
                            : ::linescope::Load<int32_t>(header + at.framesize);
  if (words < static_cast<int64_t>(table_->frame_specials_words) || words > (1 << 28)) {
    return std::nullopt;
  }
  code->frame_bytes = static_cast<uint32_t>(words * 8);
  code->first_traceable = static_cast<uint32_t>(
      std::max<int32_t>(0, ::linescope::Load<int32_t>(header + at.first_traceable)));
  std::vector<uint8_t> bytecode(units * 2);
  if (!objects_.memory().ReadExact(code->bytecode, bytecode.data(), bytecode.size())) {
    return std::nullopt;
  }
  return bytecode;
}

// The bytecode of a code object that has it in a `bytes`.
std::optional<std::vector<uint8_t>> CodeCache::ReadBytes(const std::byte* header, Code* code) {
  auto bytecode = objects_.Bytes(::linescope::Load<Address>(header + table_->code.code_bytes));
  if (!bytecode || bytecode->empty() || bytecode->size() % 2 != 0 ||
      bytecode->size() / 2 > kMaxUnits) {
    return std::nullopt;
  }
  code->units = static_cast<uint32_t>(bytecode->size() / 2);
  return bytecode;
}

void CodeCache::DecodeUnits(std::span<const uint8_t> bytecode, Code* code) const {
  code->flags.assign(code->units, 0);
  bool opaque = false;
  bool moves = false;  // the instruction before does
  for (size_t unit = 0; unit < code->units;) {
    const uint8_t info = table_->opcodes[bytecode[unit * 2]];
    uint8_t flags = std::exchange(moves, false) ? kUnitMove : 0;
    switch (static_cast<OpcodeKind>(info >> 4)) {
      case OpcodeKind::kPush:
        flags = kUnitPush;
        break;
      case OpcodeKind::kCall:
        flags = kUnitPush | kUnitCall;
        break;
      case OpcodeKind::kIterate:
        flags = kUnitIterate;
        break;
      case OpcodeKind::kReturn:
        flags = kUnitReturn;
        break;
      case OpcodeKind::kOpaque:
        opaque = true;
        break;
      case OpcodeKind::kMove:
        moves = true;
        break;
      case OpcodeKind::kOther:
        break;
    }
    const size_t end = std::min<size_t>(code->units, unit + 1 + (info & 0xf));
    for (; unit < end; ++unit) code->flags[unit] = flags;
  }
  // A hidden opcode hides its number of cache units too, so nothing after it is certain.
  if (opaque) code->flags.assign(code->units, kUnitOpaque);
}

bool CodeCache::ReadCopies(Code* code, int64_t now_ns) const {
  // What a thread left on its stack may name a copy that is long gone: no reads for it each time.
  constexpr int64_t kNoSooner = 1'000'000;
  constexpr uint64_t kMaxCopies = UINT16_MAX;
  if (table_->code.copies == layout::kNone ||
      (code->copies_ns != 0 && now_ns - code->copies_ns < kNoSooner)) {
    return false;
  }
  code->copies_ns = now_ns;
  RemoteMemory& memory = objects_.memory();
  Address array = 0;
  uint64_t count = 0;
  if (!memory.ReadValue(code->address + table_->code.copies, &array) || !PlausiblePointer(array) ||
      !memory.ReadValue(array, &count) || count > kMaxCopies) {
    return false;
  }
  std::vector<Address> copies(count);
  if (count == 0 || !memory.ReadExact(array + sizeof count, copies.data(), count * 8)) return false;
  code->copies = std::move(copies);
  return true;
}

bool CodeCache::Verify(Code* code, int64_t now_ns) {
  std::vector<std::byte>& header = verify_buffer_;
  if (objects_.memory().ReadExact(code->address, header.data(), header_size_)) {
    return VerifyFrom(header.data(), code, now_ns);
  }
  Erase(code->address);
  return false;
}

bool CodeCache::VerifyFrom(const std::byte* header, Code* code, int64_t now_ns) {
  const bool again = code->incomplete && now_ns - code->loaded_ns >= kRetryNs &&
                     retries_[code->address]++ < kRetries;
  if (again || FingerprintOf(header) != code->fingerprint) {
    Erase(code->address);
    return false;
  }
  code->verified_ns = now_ns;
  return true;
}

size_t CodeCache::VerifyAll(int64_t now_ns, int64_t older_than_ns) {
  std::vector<Code*> due;
  for (const Slot& slot : slots_) {
    if (slot.address != 0 && slot.code->verified_ns < older_than_ns) due.push_back(slot.code);
  }
  return VerifyEach(due, now_ns);
}

size_t CodeCache::VerifyEach(std::span<Code* const> due, int64_t now_ns) {
  constexpr size_t kBatch = 256;
  std::vector<RemoteRange> ranges;
  std::vector<std::byte> bytes(kBatch * header_size_);
  size_t forgotten = 0;
  for (size_t from = 0; from < due.size(); from += kBatch) {
    const size_t count = std::min(kBatch, due.size() - from);
    ranges.clear();
    for (size_t i = 0; i < count; ++i) ranges.push_back({due[from + i]->address, header_size_});
    const ssize_t got = objects_.memory().Read(ranges, bytes.data());
    if (got != static_cast<ssize_t>(count * header_size_)) {
      // One of them lies in memory that is gone: find it one by one.
      for (size_t i = 0; i < count; ++i) forgotten += Verify(due[from + i], now_ns) ? 0 : 1;
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      forgotten += VerifyFrom(bytes.data() + i * header_size_, due[from + i], now_ns) ? 0 : 1;
    }
  }
  return forgotten;
}

void CodeCache::Insert(Address address, Code* code) {
  if ((used_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.address != 0) Insert(slot.address, slot.code);
    }
  }
  size_t slot = Hash(address) & mask_;
  while (slots_[slot].address != 0) slot = (slot + 1) & mask_;
  slots_[slot] = {address, code};
  ++used_;
}

void CodeCache::Erase(Address address) {
  size_t slot = Hash(address) & mask_;
  while (slots_[slot].address != address) {
    if (slots_[slot].address == 0) return;
    slot = (slot + 1) & mask_;
  }
  slots_[slot] = {};
  --used_;
  ++generation_;
  // Linear probing without tombstones: move up what would no longer be found.
  for (size_t next = (slot + 1) & mask_; slots_[next].address != 0; next = (next + 1) & mask_) {
    const Slot moved = slots_[next];
    slots_[next] = {};
    --used_;
    Insert(moved.address, moved.code);
  }
}

}  // namespace linescope
