#pragma once
// Frames of CPython 3.11 and later, which lie on the thread's data stack.
//
// Facts of the interpreter that the free decision rests on (Python/ceval.c, Python/pystate.c,
// Include/internal/pycore_frame.h, from 3.14 pycore_interpframe.h):
//   - Frames of one thread lie contiguously in chunks of its data stack; the next one starts
//     `framesize` words further. The root chunk's first word is skipped. Frames of generators and
//     coroutines lie in their objects, and from 3.12 on each entry of the eval loop has a marker
//     frame on the C stack.
//   - 3.11 - 3.13: a frame that calls Python code inline saves its stacktop (>= nlocalsplus) before
//     the callee is linked, and gets -1 back when it goes on. While it calls C, stacktop stays -1;
//     only a new eval loop can stand above it then. A popped frame has stacktop 0 (3.13) or
//     nlocalsplus (3.11, 3.12) and stands at a return.
//   - 3.14+: the stack pointer that a frame saved stays when it goes on. But a frame's code is
//     cleared when it is popped, so what has a code lives, but for what RETURN_GENERATOR leaves. A
//     generator's `previous` is set exactly while it is linked into a stack.
#include <cstdint>
#include <vector>

#include "python/stack_reader.h"

namespace linescope {

class DataStackReader final : public StackReader {
 public:
  DataStackReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
                  const PythonThread& thread);

  // The newest frames around the predicted top, frames off the data stack that were met lately, the
  // thread state's words, the rest of the data stack, and the anchor.
  void Plan(bool exact, std::vector<RemoteRange>* ranges) override;
  Decision Decide(const std::byte* bytes, bool exact, int64_t now_ns) override;
  void ResetPrediction() override;

 private:
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
  // 3.14 has two kinds of markers (_frameowner in pycore_interpframe_structs.h).
  [[nodiscard]] bool IsMarker(const RawFrame& raw) const {
    const auto marker = static_cast<uint8_t>(Owner::kCStack);
    return raw.owner == marker || (raw.owner == marker + 1 && !marks_executing_);
  }

  bool Refresh();
  bool ReadChunks();
  bool EntryIsSet();
  Decision DecideExact(int64_t now_ns);
  Decision DecideFree(int64_t now_ns);

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
  // A thread's own frame, where the chunks are not known.
  bool LinkedAt(Address address, RawFrame* out);
  // True when `raw` is alive and was pushed by an eval loop that C code called from `parent`, or by
  // generators resumed from there; those are left in `between_`.
  bool Nested(const RawFrame& raw, const Code& code, Address parent);
  // True when the frame has returned, and is perhaps being cleared.
  [[nodiscard]] bool Dead(const RawFrame& raw, const Code& code) const;
  // 3.14+: what RETURN_GENERATOR left of a frame.
  [[nodiscard]] bool MovedAway(const RawFrame& raw, const Code& code) const;
  [[nodiscard]] bool MayHaveCalled(const RawFrame& raw) const;
  // True when a frame that stands so may have a callee linked to it.
  [[nodiscard]] bool CanPush(const RawFrame& raw, const Code& code) const;
  // Follows `from` over frames off the data stack to `parent` (0: to the root); what lies between
  // is left in `between_`, newest first.
  bool ChainTo(Address from, Address parent);
  void ClearBetween();
  void LearnMarkers();
  bool PushBetween(int64_t now_ns);
  // `above` stands at `slot`, above `parent`, and is none of its callees.
  bool FindGeneratorAbove(Address parent, Address slot, const RawFrame& above, int64_t now_ns,
                          Address* address, RawFrame* raw);

  const bool marks_executing_;  // stacktop does, until 3.13
  const uint32_t first_word_;   // of the thread state that is read with each sample

  // Prediction.
  bool known_ = false;           // the chunks are known
  uint32_t refused_ = 0;         // how often in a row what was read are no chunks
  bool linked_ = false;          // they never are: frames are followed by their links alone
  std::vector<Chunk> chunks_;    // newest first
  Address top_ = 0;              // datastack_top when last seen
  Address limit_ = 0;            // end of the newest chunk
  Address newest_chunk_ = 0;     // as the thread state names it
  Address cframe_ = 0;           // 3.11, 3.12
  Address base_frame_ = 0;       // 3.15+
  std::vector<HeapFrame> heap_;  // sorted by address
  uint32_t sample_ = 0;
  Address c_stack_low_ = 0, c_stack_high_ = 0;  // entry markers seen lie in between

  // The last plan, and where its pieces lie in the bytes read.
  size_t words_piece_ = 0, newest_piece_ = 0, rest_piece_ = 0, anchor_piece_ = 0;
  bool split_ = false;
  Address split_at_ = 0;  // where the part read first begins
  Address high_ = 0;      // highest top of late

  // The image being decided.
  std::vector<std::byte> newest_;  // the newest chunk put together, when it was read in two parts
  Address current_frame_ = 0;      // the hint; 0 when the C frame record moved

  std::vector<RawFrame> between_raw_;
  std::vector<Address> between_, markers_;  // on the way to a parent
  RawFrame rejected_above_;                 // what FindGeneratorAbove found to lead nowhere
  mutable size_t last_chunk_ = 0;
  int attempts_ = 0;  // kAgain answers in a row
};

}  // namespace linescope
