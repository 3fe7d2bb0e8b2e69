#pragma once
// Frames of CPython 3.8 to 3.10: objects on the heap, each linked to its caller by f_back.
//
// Facts of the interpreter that the free decision rests on (Objects/frameobject.c,
// Python/ceval.c, Objects/genobject.c):
//   - A frame says that it executes from when its eval loop has begun until it has ended, also
//     while it calls; a suspended generator's does not, and has no f_back. Every frame of a
//     thread's stack but one that is just being entered or left executes.
//   - A code object keeps a frame for its next call, and freed frames are used again soon, so the
//     frames that were met in the last samples are likely to be met again.
//   - The position in a caller is the instruction that called.
#include <cstdint>
#include <vector>

#include "python/stack_reader.h"

namespace linescope {

class FrameObjectReader final : public StackReader {
 public:
  FrameObjectReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
                    const PythonThread& thread)
      : StackReader(memory, table, codes, thread) {}

  // The frames met lately, then the thread state's words. Free, callers before what they call, and
  // after the words the same frames in reverse: what is the same both times stood still while all
  // between was read. The words, half-way, say which frame is the newest.
  void Plan(bool exact, std::vector<RemoteRange>* ranges) override;
  Decision Decide(const std::byte* bytes, bool exact, int64_t now_ns) override;
  void ResetPrediction() override;

 private:
  // A frame that was met, and what the image shows there.
  struct Known {
    Address address = 0;
    uint32_t last_used = 0;  // sample number
    uint32_t depth = 0;      // in the stack in which it was met last
    Address caller = 0;      // there
    size_t piece = 0;        // of the plan
    RawFrame raw, again;     // again: as the reading in reverse shows it
    RawFrame stood;          // when it was last seen to execute
  };
  static constexpr size_t kNotKnown = SIZE_MAX;

  [[nodiscard]] RawFrame Parse(const std::byte* at) const;
  [[nodiscard]] bool Executes(const RawFrame& raw) const {
    return raw.owner == table_->executing && raw.code != 0;
  }
  [[nodiscard]] size_t Find(Address address) const;
  // Index in known_ of the last stack's frame `i`, or kNotKnown.
  [[nodiscard]] size_t Place(size_t i);
  // The same of the frame at `address`. `below`: where in the last stack the walk is, to be handed
  // from frame to frame.
  size_t KnownPlace(Address address, size_t* below);
  // How likely it is that the frame has called another one: 2 by a call, 1 by an operator.
  [[nodiscard]] int Calls(const RawFrame& raw) const;
  [[nodiscard]] bool StoodBefore(const Known& frame, bool newest, bool callee_before) const;
  bool FollowWords();
  // The frame at `address`, from the image or read now; `below` as above.
  bool Frame(Address address, size_t* below, RawFrame* out);
  // Index of the executing frame that `caller` called, or kNotKnown.
  [[nodiscard]] size_t CalleeOf(Address caller);
  // Whether an executing frame had been called by `caller` at that reading.
  [[nodiscard]] bool HasCallee(Address caller, RawFrame Known::* reading) const;
  // Follows `from` down its callers until one is `stop`, or to the root; what was passed is left in
  // `chain_`, newest first. False when a frame cannot be read or the links lead in a circle;
  // with `executing`, also when a frame does not execute.
  bool Follow(Address from, Address stop, bool executing);
  bool PushChain(int64_t now_ns);
  void DropTop();
  Address PushFromRoot(int64_t now_ns);
  void PushUnmet(Address top, int64_t now_ns);
  Decision DecideExact(int64_t now_ns);
  Decision DecideFree(int64_t now_ns);
  void Remember();
  void Forget();
  void OrderByDepth();
  void AddFrame(Known* known, std::vector<RemoteRange>* ranges);

  std::vector<Known> known_;   // sorted by address
  std::vector<Known> fresh_;   // met in the sample being decided
  std::vector<size_t> order_;  // of known_, callers before what they call
  bool ordered_ = false;       // order_ is up to date
  std::vector<uint32_t> ages_;
  std::vector<size_t> places_;  // in known_, of frames_; to be checked
  size_t frame_pieces_ = 0, words_piece_ = 0;
  bool twice_ = false;  // the last plan
  bool moved_ = false;  // the thread ran although it was to stand still: plan for that
  uint32_t sample_ = 0;
  Address current_frame_ = 0;
  Address unmet_ = 0;  // a frame of the stack that was not read ahead; 0: none
  struct Link {
    Address address = 0;
    RawFrame raw;
  };
  std::vector<Link> chain_;
  std::vector<std::byte> both_;  // a callee and its caller
};

}  // namespace linescope
