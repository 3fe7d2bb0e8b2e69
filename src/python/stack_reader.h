#pragma once
// One thread's Python stack, read in one go and decided from the image alone.
//
// Two ways to decide, on the same bytes:
//   exact   the thread provably did not run while it was read: follow `previous` from
//   current_frame. What it says is true. free    the thread was running on another CPU. The frames
//   say themselves whether they execute (3.11 - 3.13: stacktop is -1),
//           so the top is found in the contiguous image of the data stack, which is an instant some
//           ten nanoseconds wide; current_frame, read last, is only a hint. Nothing is read again
//           to "validate": that would reject the short-lived states and bend the profile.
// A wrong prediction of what to read costs one more call, never an error.
//
// Facts of the interpreter that this rests on (Python/ceval.c, Python/pystate.c,
// Include/internal/pycore_frame.h):
//   - Frames of one thread lie contiguously in chunks of its data stack; the next one starts
//   `framesize` words further. The root chunk's
//     first word is skipped. Frames of generators and coroutines lie in their objects, and
//     from 3.12 on each entry of the eval loop has a marker frame on the C stack (owner 3).
//   - A frame that calls Python code inline saves its stacktop (>= nlocalsplus) before the callee
//   is linked, and gets -1 back when it goes on. While it calls C,
//     stacktop stays -1; only a new eval loop can stand above it then.
//   - A popped frame has stacktop 0 (3.13) or nlocalsplus (3.11, 3.12) and stands at a return.
#include <cstdint>
#include <span>
#include <vector>

#include "process/remote_memory.h"
#include "python/code_cache.h"

namespace linescope {

// One frame of a decided stack. `code` stays valid as long as the cache.
struct StackFrame {
  Address address = 0;
  const Code* code = nullptr;
  int64_t unit = -1;
  bool operator==(const StackFrame&) const = default;
};

enum class Decision : uint8_t {
  kOk,          // frames() holds the stack; empty: the thread runs no Python code now
  kAgain,       // the prediction was wrong: Plan has been refreshed, read again at once
  kUnreadable,  // a part that is needed cannot be read
  kTorn,        // the image holds no consistent stack
  kGone,        // this is no thread state of that thread any more
};

// Belongs to one thread of the target and to the one thread that samples it.
class StackReader {
 public:
  StackReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes, Address tstate,
              int native_id);

  // Appends what is to be read, in this order: the newest frames around the predicted top, frames
  // off the data stack that were met lately, the thread state's words, the rest of the data stack,
  // and the anchor.
  void Plan(bool exact, std::vector<RemoteRange>* ranges);
  // Number of bytes that the last Plan asked for.
  [[nodiscard]] size_t planned_bytes() const { return planned_bytes_; }
  // Decides from the bytes of the planned ranges, which were read completely.
  Decision Decide(const std::byte* bytes, bool exact, int64_t now_ns);
  // Forgets the prediction: the next Decide learns where the stack is. For when the planned ranges
  // cannot be read.
  void ResetPrediction();

  // Root first.
  [[nodiscard]] std::span<const StackFrame> frames() const { return frames_; }
  // How many frames at the root are the same as in the decision before.
  [[nodiscard]] size_t unchanged() const { return unchanged_; }

  [[nodiscard]] Address tstate() const { return tstate_; }
  [[nodiscard]] int native_id() const { return native_id_; }

 private:
  struct RawFrame {
    Address code = 0, previous = 0, instr = 0;
    int32_t stacktop = 0;
    uint8_t owner = 0;
    bool is_entry = false;
    bool operator==(const RawFrame&) const = default;
  };
  // A contiguous piece of the target's memory in our hands.
  struct Region {
    Address begin = 0, end = 0;
    const std::byte* data = nullptr;
  };
  // A frame off the data stack: generator, coroutine, or an entry marker on the C stack.
  struct HeapFrame {
    Address address = 0;
    uint32_t size = 0;
    uint32_t last_used = 0;  // sample number
  };
  struct Chunk {
    Address address = 0;
    uint64_t bytes = 0;               // used part, header included; of sealed chunks
    const std::byte* data = nullptr;  // in the image
    uint64_t read = 0;                // bytes of it in the image
  };
  static constexpr size_t kNoChunk = SIZE_MAX;
  enum class Owner : uint8_t { kThread = 0, kGenerator = 1, kFrameObject = 2, kCStack = 3 };

  bool Refresh();
  bool EntryIsSet();
  Decision DecideExact(int64_t now_ns);
  void CollectDynamic();
  Decision DecideFree(int64_t now_ns);

  // Bytes of [address, address + size) in the image, or nullptr.
  [[nodiscard]] const std::byte* At(Address address, size_t size) const;
  // The same, reading them now when they are not there.
  const std::byte* AtOrRead(Address address, size_t size);
  // Index of the chunk that holds `address`, or kNoChunk.
  [[nodiscard]] size_t ChunkOf(Address address) const;
  [[nodiscard]] bool OnDataStack(Address address) const { return ChunkOf(address) != kNoChunk; }
  // Between entry markers seen: the C stack, never a generator.
  [[nodiscard]] bool OnCStack(Address address) const {
    return c_stack_low_ != 0 && address >= c_stack_low_ && address <= c_stack_high_;
  }
  [[nodiscard]] RawFrame Parse(const std::byte* at) const;
  // Frame off the data stack; reads it late when it was not predicted and remembers it.
  bool HeapAt(Address address, RawFrame* out);
  void Remember(Address address, uint32_t size);
  Code* CodeOf(const RawFrame& raw, int64_t now_ns);
  bool Push(Address address, const RawFrame& raw, int64_t now_ns);
  [[nodiscard]] uint8_t FlagsOf(const Code& code, Address instr) const {
    return code.FlagsAt(code.UnitOf(instr));
  }
  // True when `raw` is alive and was pushed by an eval loop that C code called from `parent`, or by
  // generators resumed from there; those are left in `between_`.
  bool Nested(const RawFrame& raw, const Code& code, Address parent);
  // True when the frame has returned, and is perhaps being cleared.
  [[nodiscard]] bool Dead(const RawFrame& raw, const Code& code) const;
  // True when a frame that stands so may have a callee linked to it.
  [[nodiscard]] bool CanPush(const RawFrame& raw, const Code& code) const;
  // Follows `from` over frames off the data stack to `parent` (0: to the root); what lies between
  // is left in `between_`, newest first.
  bool ChainTo(Address from, Address parent);
  bool PushBetween(int64_t now_ns);
  bool FindGeneratorAbove(Address parent, const RawFrame& above, int64_t now_ns, Address* address,
                          RawFrame* raw);

  RemoteMemory* memory_;
  const layout::Table* table_;
  CodeCache* codes_;
  Address tstate_;
  int native_id_;

  // Prediction.
  bool known_ = false;           // the chunks are known
  std::vector<Chunk> chunks_;    // newest first
  Address top_ = 0;              // datastack_top when last seen
  Address limit_ = 0;            // end of the newest chunk
  Address newest_chunk_ = 0;     // as the thread state names it
  Address cframe_ = 0;           // 3.11, 3.12
  std::vector<HeapFrame> heap_;  // sorted by address
  uint32_t sample_ = 0;
  Address c_stack_low_ = 0, c_stack_high_ = 0;  // entry markers seen lie in between

  // The last plan, and where its pieces lie in the bytes read.
  struct Piece {
    RemoteRange range;
    size_t offset = 0;
  };
  std::vector<Piece> pieces_;
  size_t planned_bytes_ = 0;
  size_t first_dynamic_piece_ = 0;
  size_t words_piece_ = 0, newest_piece_ = 0, rest_piece_ = 0, anchor_piece_ = 0;
  bool split_ = false;
  Address split_at_ = 0;  // where the part read first begins
  Address high_ = 0;      // highest top of late

  // The image being decided.
  std::vector<Region> regions_;
  std::vector<std::byte> newest_;  // the newest chunk put together, when it was read in two parts
  std::vector<std::vector<std::byte>> late_;
  size_t late_used_ = 0;
  Address current_frame_ = 0;  // the hint; 0 when the C frame record moved

  std::vector<RawFrame> between_raw_;
  std::vector<Address> between_;
  std::vector<StackFrame> frames_, next_;
  std::vector<RawFrame> raw_, next_raw_;  // of frames_ and next_: equal words need no second look
  size_t unchanged_ = 0, next_unchanged_ = 0;
  std::vector<Code*> dynamic_;  // of the stack decided last, to be checked with the next
  uint64_t generation_ = 0;     // of the cache, when frames_ was decided
  RawFrame rejected_above_;     // what FindGeneratorAbove found to lead nowhere
  mutable size_t last_chunk_ = 0;
  int attempts_ = 0;  // kAgain answers in a row
};

}  // namespace linescope
