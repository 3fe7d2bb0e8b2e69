#pragma once
// One thread's Python stack, read in one go and decided from the image alone.
//
// Two ways to decide, on the same bytes:
//   exact   the thread provably did not run while it was read: follow the links from the current
//           frame. What it says is true.
//   free    the thread was running on another CPU. The frames say themselves whether they live, so
//           the top is found in the image; the current frame, read last, is only a hint. Nothing is
//           read again to "validate": that would reject the short-lived states and bend the
//           profile.
// A wrong prediction of what to read costs one more call, never an error.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "process/remote_memory.h"
#include "python/code_cache.h"
#include "python/thread_list.h"

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
  virtual ~StackReader() = default;

  // Appends what is to be read, in this order.
  virtual void Plan(bool exact, std::vector<RemoteRange>* ranges) = 0;
  // Number of bytes that the last Plan asked for.
  [[nodiscard]] size_t planned_bytes() const { return planned_bytes_; }
  // Decides from the bytes of the planned ranges, which were read completely.
  virtual Decision Decide(const std::byte* bytes, bool exact, int64_t now_ns) = 0;
  // Forgets the prediction: the next Decide learns where the stack is. For when the planned ranges
  // cannot be read.
  virtual void ResetPrediction() = 0;

  // Whether the decision before has read more than was planned: what makes it exact must hold until
  // after it, and not only until the planned ranges were read.
  [[nodiscard]] bool read_late() const { return late_used_ != 0; }

  // Root first.
  [[nodiscard]] std::span<const StackFrame> frames() const { return frames_; }
  // How many frames at the root are the same as in the decision before.
  [[nodiscard]] size_t unchanged() const { return unchanged_; }

  // Whether an evaluation loop began with frames()[i]: it was called by C code, not inline. Of a
  // stack that was decided exactly.
  [[nodiscard]] bool IsEntry(size_t i) const;
  // Of an entry, from 3.12 on: the marker frame in its loop's C frame, by which the loop is found
  // on the C stack. 0: the version has none.
  [[nodiscard]] Address EntryMarker(size_t i) const {
    return table_->c_entry_frames ? raw_[i].previous : 0;
  }

  [[nodiscard]] Address tstate() const { return tstate_; }
  // What the thread's own words said of the GIL in the decision before, whatever became of the
  // stack; nullopt: this version has no such words (see InterpreterWords).
  [[nodiscard]] std::optional<bool> holds_gil() const { return holds_gil_; }
  [[nodiscard]] std::optional<bool> wants_gil() const { return wants_gil_; }

 protected:
  StackReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
              const PythonThread& thread)
      : memory_(memory),
        table_(table),
        codes_(codes),
        tstate_(thread.tstate),
        identity_(thread.identity) {}

  // A frame's words as they lie in the image.
  struct RawFrame {
    Address code = 0, previous = 0, instr = 0;
    int32_t stacktop = 0;
    uint16_t copy = 0;  // of the bytecode, in which `instr` lies
    uint8_t owner = 0;
    bool is_entry = false;
    bool operator==(const RawFrame&) const = default;
  };
  // A contiguous piece of the target's memory in our hands.
  struct Region {
    Address begin = 0, end = 0;
    const std::byte* data = nullptr;
  };
  // Ranges with a smaller gap are merged: 20 ns per KiB against 110 ns per range.
  static constexpr size_t kMergeGap = 2048;
  struct Piece {
    RemoteRange range;
    size_t offset = 0;  // in the bytes read
  };
  // Bounds against garbage that looks like a list.
  static constexpr size_t kMaxFrames = 1 << 24;

  // Of Plan.
  void ClearPlan();
  size_t Add(Address address, size_t size, std::vector<RemoteRange>* ranges);
  // The headers of the code objects that are to be checked with this sample.
  void AddUncertain(std::vector<RemoteRange>* ranges);
  // What Decide begins with: checks those headers.
  void BeginDecision(const std::byte* bytes, int64_t now_ns);
  // What it ends with.
  void Accept();

  // Bytes of [address, address + size) in the image, or nullptr.
  [[nodiscard]] const std::byte* At(Address address, size_t size) const;
  // The same, reading them now when they are not there.
  const std::byte* AtOrRead(Address address, size_t size);
  Code* CodeOf(const RawFrame& raw, int64_t now_ns);
  // Puts a frame above those of next_; false when it is none.
  bool Push(Address address, const RawFrame& raw, int64_t now_ns);
  void ClearNext();
  [[nodiscard]] static int64_t UnitOf(const Code& code, const RawFrame& raw) {
    return code.UnitOf(code.OwnInstr(raw.copy, raw.instr));
  }
  [[nodiscard]] static uint8_t FlagsOf(const Code& code, const RawFrame& raw) {
    return code.FlagsAt(UnitOf(code, raw));
  }
  [[nodiscard]] static bool Stands(const RawFrame& raw, const Code& code) {
    return code.Contains(code.OwnInstr(raw.copy, raw.instr));
  }

  RemoteMemory* memory_;
  const layout::Table* table_;
  CodeCache* codes_;
  Address tstate_;
  uint64_t identity_;

  std::vector<Piece> pieces_;  // of the last plan
  size_t planned_bytes_ = 0;
  std::vector<Region> regions_;  // of the image being decided

  std::optional<bool> holds_gil_, wants_gil_;

  std::vector<StackFrame> frames_, next_;
  std::vector<RawFrame> raw_, next_raw_;  // of frames_ and next_: equal words need no second look
  size_t unchanged_ = 0, next_unchanged_ = 0;
  std::vector<Code*> uncertain_;  // of the stack decided last, to be checked with the next

 private:
  void CollectUncertain();

  std::vector<std::vector<std::byte>> late_;
  size_t late_used_ = 0;
  size_t first_uncertain_piece_ = 0;
  size_t certain_ = 0;       // so many frames at the root need no such check
  uint64_t generation_ = 0;  // of the cache, when frames_ was decided
};

// The reader for the table's kind of frames.
std::unique_ptr<StackReader> MakeStackReader(RemoteMemory* memory, const layout::Table* table,
                                             CodeCache* codes, const PythonThread& thread);

}  // namespace linescope
