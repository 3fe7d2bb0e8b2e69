#pragma once
// One thread's data stack made up in FakeMemory.
#include <vector>

#include "python/thread_list.h"
#include "unit/python/fake_python.h"

namespace linescope {

class FakeStack {
 public:
  enum Owner : uint8_t { kThread = 0, kGenerator = 1, kFrameObject = 2, kCStack = 3 };
  static constexpr int kNativeId = 4242;
  static constexpr size_t kChunk = 16384;

  struct FrameSpec {
    Address code = 0, previous = 0;
    int unit = 0;
    int32_t stacktop = -1;
    Owner owner = kThread;
    bool is_entry = false;
    // Of the bytecode, in free-threaded builds: its number and address; 0 is the code's own.
    int32_t copy = 0;
    Address copy_at = 0;
  };

  explicit FakeStack(FakePython* python) : python_(*python), at_(python->table()) {
    tstate_ = python_.Allocate(512);
    if (at_.thread.cframe_frame != layout::kNone) {
      cframe_ = python_.Allocate(64);
      const Address below = python_.Allocate(64);  // of the thread's root: no frame
      python_.memory().Put(cframe_ + at_.thread.cframe_frame + 8, below);
    }
    python_.memory().Put(tstate_ + at_.thread.native_id, uint64_t{kNativeId});
    AddChunk();
  }

  // Begins another chunk; the one before is sealed at its top.
  void AddChunk() {
    const Address previous = chunk_;
    if (previous != 0) {
      python_.memory().Put(previous + layout::kChunkTop,
                           uint64_t{(top_ - previous - layout::kChunkData) / 8});
    }
    chunk_ = python_.Allocate(kChunk);
    python_.memory().Put(chunk_ + layout::kChunkPrevious, previous);
    python_.memory().Put(chunk_ + layout::kChunkSize, uint64_t{kChunk});
    SetTop(chunk_ + layout::kChunkData + (previous == 0 ? 8 : 0));
    python_.memory().Put(tstate_ + at_.thread.chunk, chunk_);
    python_.memory().Put(tstate_ + at_.thread.limit, chunk_ + kChunk);
  }
  // Writes a frame on the next slot and returns its address.
  Address Push(const FrameSpec& frame, const FakePython::CodeSpec& code) {
    const Address address = top_;
    Write(address, frame);
    SetTop(top_ + python_.FrameWords(code) * 8);
    return address;
  }
  // A frame off the data stack, in a generator; returns the frame's address.
  Address Generator(FrameSpec frame) {
    const Address object = python_.Allocate(512);
    frame.owner = kGenerator;
    Write(object + at_.generator.frame, frame);
    return object + at_.generator.frame;
  }
  // The entry of an eval loop called from `caller`: a marker on the C stack from 3.12 on; what the
  // loop's first frame has as its previous.
  Address Entry(Address caller) {
    if (!at_.c_entry_frames) return caller;
    const Address marker = python_.Allocate(128);
    Write(marker, {.previous = caller, .owner = kCStack});
    return marker;
  }
  void Write(Address address, const FrameSpec& frame) {
    FakeMemory& memory = python_.memory();
    memory.Put(address + at_.frame.code, frame.code);
    memory.Put(address + at_.frame.previous, frame.previous);
    const Address bytecode = frame.copy == 0 ? frame.code + at_.code.bytecode : frame.copy_at;
    memory.Put(address + at_.frame.instr, bytecode + static_cast<Address>(frame.unit * 2));
    if (at_.frame.copy != layout::kNone) memory.Put(address + at_.frame.copy, frame.copy);
    memory.Put(address + at_.frame.stacktop, frame.stacktop);
    memory.Put(address + at_.frame.owner, frame.owner);
    if (at_.frame.is_entry != layout::kNone) {
      memory.Put(address + at_.frame.is_entry, frame.is_entry);
    }
  }
  // The object on top of a suspended frame's own stack, as FOR_ITER and SEND have their generator.
  void SetTopOfStack(Address frame, int32_t stacktop, Address object) {
    python_.memory().Put(frame + at_.frame.locals + static_cast<Address>(stacktop - 1) * 8, object);
  }
  void SetCurrent(Address frame) {
    if (cframe_ == 0) {
      python_.memory().Put(tstate_ + at_.thread.current_frame, frame);
    } else {
      python_.memory().Put(tstate_ + at_.thread.current_frame, cframe_);
      python_.memory().Put(cframe_ + at_.thread.cframe_frame, frame);
    }
  }
  void SetTop(Address top) {
    top_ = top;
    python_.memory().Put(tstate_ + at_.thread.top, top);
  }

  [[nodiscard]] Address tstate() const { return tstate_; }
  [[nodiscard]] PythonThread thread() const {
    return {.tstate = tstate_, .native_id = kNativeId, .identity = kNativeId};
  }
  [[nodiscard]] Address top() const { return top_; }
  [[nodiscard]] Address chunk() const { return chunk_; }

 private:
  FakePython& python_;
  const layout::Table& at_;
  Address tstate_ = 0, cframe_ = 0, chunk_ = 0, top_ = 0;
};

}  // namespace linescope
