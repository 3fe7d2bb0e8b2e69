#pragma once
// Code objects by address: read once, checked for reuse of the address.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/line_table.h"
#include "python/object_reader.h"

namespace linescope {

using CodeId = uint32_t;

// What a stack walk needs to know of one code unit.
enum UnitFlags : uint8_t {
  kUnitPush = 1,     // may push a frame
  kUnitIterate = 2,  // may push a generator's frame
  kUnitReturn = 4,   // a frame standing here is about to be popped
  kUnitOpaque = 8,   // the instruction hides another: may be any of these
  kUnitCall = 32,    // calls: not only by an operator
  kUnitMove = 16,    // where a frame stands that has moved into a generator: see OpcodeKind::kMove
};

// An immutable copy of one code object. `id` is dense and stays valid for the cache's lifetime,
// also after the address was taken by another code object.
struct Code {
  CodeId id = 0;
  Address address = 0;
  Address bytecode = 0;  // address of unit 0
  uint32_t units = 0;
  uint32_t frame_bytes = 0;  // distance to the next frame on the data stack
  int32_t nlocalsplus = 0;
  uint32_t first_traceable = 0;  // units before it belong to no line yet: the frame is incomplete
  int32_t first_line = 0;
  bool shim = false;        // the interpreter's own trampoline: no frame that a user knows
  bool transient = false;   // body of a module or class: freed when it has run
  bool dynamic = false;     // not from a file: checked more often
  bool coroutine = false;   // its frames are those of a coroutine
  bool incomplete = false;  // a part of it could not be read: it is read again a few times
  std::string file, name, qualified_name;

  UnitRanges ranges;           // of the source, per unit
  std::vector<uint8_t> flags;  // per unit: UnitFlags
  // Where the threads' own copies of the bytecode lie (free-threaded builds, 3.14+); the first one
  // is the code's own, and 0 stands for one that no thread has made.
  std::vector<Address> copies;
  int64_t copies_ns = 0;  // when they were read

  // What is compared to notice that the address holds another code object now.
  struct Fingerprint {
    uint64_t file = 0, name = 0, linetable = 0;
    uint64_t line_and_version = 0;
    bool operator==(const Fingerprint&) const = default;
  } fingerprint;
  int64_t verified_ns = 0;  // when the fingerprint was last seen unchanged
  int64_t loaded_ns = 0;
  // Whether the fingerprint has to be looked at before the code is believed to be still here. What
  // has been here for long stays; what was met a moment ago may be a function that a module calls
  // once and deletes, whose address the next function gets.
  [[nodiscard]] bool IsDue(int64_t now_ns) const {
    const int64_t age = now_ns - verified_ns;
    const int64_t trusted = std::min(kTrustedNs, (verified_ns - loaded_ns) / kTrustedShare);
    return age > 0 && (dynamic || transient || age > trusted);
  }
  // Here for less than what is trusted without a look.
  [[nodiscard]] bool IsNew() const { return verified_ns - loaded_ns < kTrustedNs; }
  static constexpr int64_t kTrustedNs = 50'000'000;
  static constexpr int64_t kTrustedShare = 16;  // of the time for which it is known to be here

  // Unit of an instruction pointer; -1 just before the first (3.11, 3.12: prev_instr of a frame
  // that has not begun). Outside [-1, units): not an instruction of this code.
  // Before 3.11 positions count from the bytecode's begin: `bytecode` is 0 then.
  [[nodiscard]] int64_t UnitOf(Address instr) const {
    return static_cast<int64_t>(instr - bytecode) >> 1;
  }
  // What `instr`, in copy number `copy` of the bytecode, is in the code's own; 0 where it is in no
  // copy that is known.
  [[nodiscard]] Address OwnInstr(uint32_t copy, Address instr) const {
    if (copy == 0) return instr;
    if (copy >= copies.size() || copies[copy] == 0) return 0;
    const Address offset = instr - copies[copy];
    return offset < uint64_t{units} * 2 ? bytecode + offset : 0;
  }
  [[nodiscard]] uint8_t FlagsAt(int64_t unit) const {
    return unit < 0 ? 0 : flags[static_cast<size_t>(unit)];
  }
  [[nodiscard]] bool Contains(Address instr) const {
    return instr - (bytecode - 2) <= uint64_t{units} * 2 && (instr & 1) == 0;
  }
  [[nodiscard]] int32_t LineAt(int64_t unit) const { return RangeAt(unit).line; }
  [[nodiscard]] SourceRange RangeAt(int64_t unit) const {
    if (unit < int64_t{first_traceable}) return {.line = first_line};
    return ranges.At(static_cast<size_t>(unit));
  }
};

// Not thread-safe: belongs to the thread that reads the target. Entries are stable in memory.
class CodeCache {
 public:
  // Ids count from `first_id`: a run that sees several interpreters one after the other keeps them
  // apart.
  CodeCache(RemoteMemory* memory, const layout::Table* table, CodeId first_id = 0);

  // The code at `address` as last seen, or nullptr when it is not cached.
  Code* Find(Address address) {
    size_t slot = Hash(address) & mask_;
    while (slots_[slot].address != 0) {
      if (slots_[slot].address == address) return slots_[slot].code;
      slot = (slot + 1) & mask_;
    }
    return nullptr;
  }
  // Find, or read it from the target: two to five reads. nullptr when there is no code object at
  // `address`; that answer is remembered for a while (kBadTtlNs), because leftovers on a stack are
  // met again and again.
  Code* Load(Address address, int64_t now_ns);

  // True when `address` still holds what was cached; otherwise forgets the entry. One read.
  bool Verify(Code* code, int64_t now_ns);
  // The same from bytes read already: `header` are the first header_size() bytes at the code's
  // address.
  bool VerifyFrom(const std::byte* header, Code* code, int64_t now_ns);
  [[nodiscard]] size_t header_size() const { return header_size_; }
  // Reads anew where the threads' own copies of the bytecode lie; false when there are none, or
  // when that was done a moment ago.
  bool ReadCopies(Code* code, int64_t now_ns) const;
  // Moves whenever an entry is forgotten: what was concluded from entries has to be looked at
  // again.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  // Verifies every entry not verified since `older_than_ns`, in batches; returns how many were
  // forgotten.
  size_t VerifyAll(int64_t now_ns, int64_t older_than_ns);
  // The same for `codes`, which must be entries of this cache.
  size_t VerifyEach(std::span<Code* const> codes, int64_t now_ns);

  [[nodiscard]] const std::vector<std::unique_ptr<Code>>& all() const { return codes_; }

 private:
  static constexpr int64_t kBadTtlNs = 50'000'000;
  static constexpr size_t kBadSlots = 1024;
  static constexpr int kRetries = 5;
  static constexpr int64_t kRetryNs = 100'000'000;
  struct Slot {
    Address address = 0;
    Code* code = nullptr;
  };
  struct Bad {
    Address address = 0;
    int64_t until_ns = 0;
  };
  static size_t Hash(Address address) {
    return static_cast<size_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 20);
  }
  std::unique_ptr<Code> Read(Address address);
  std::optional<std::vector<uint8_t>> ReadInline(const std::byte* header, Code* code);
  std::optional<std::vector<uint8_t>> ReadBytes(const std::byte* header, Code* code);
  void Insert(Address address, Code* code);
  void Erase(Address address);
  [[nodiscard]] Code::Fingerprint FingerprintOf(const std::byte* header) const;
  void DecodeUnits(std::span<const uint8_t> bytecode, Code* code) const;

  ObjectReader objects_;
  const layout::Table* table_;
  CodeId first_id_;
  size_t header_size_;
  Address code_type_ = 0;  // address of PyCode_Type, learnt from the first good object
  std::vector<Slot> slots_;
  size_t mask_ = 0, used_ = 0;
  uint64_t generation_ = 0;
  std::unordered_map<Address, int> retries_;  // of incomplete code
  std::vector<Bad> bad_;
  std::vector<std::byte> verify_buffer_;
  std::vector<std::unique_ptr<Code>> codes_;
};

}  // namespace linescope
