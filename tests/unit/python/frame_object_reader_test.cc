// The decision function of 3.8 to 3.10 on frames made up for each rule. That the rules are those of
// the interpreters is what stack_live_test and stack_step_test hold against reality.
#include "python/frame_object_reader.h"

#include <gmock/gmock.h>

#include <functional>

#include "unit/python/fake_python.h"
#include "unit/python/stack_probe.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Lets the target go on between the ranges of one read.
class MovingMemory : public RemoteMemory {
 public:
  explicit MovingMemory(FakeMemory* memory) : memory_(*memory) {}
  std::function<void()> move;  // called after each range

  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override {
    ++calls_;
    ssize_t total = 0;
    for (const RemoteRange& range : ranges) {
      const ssize_t got = memory_.Read({&range, 1}, static_cast<std::byte*>(out) + total);
      if (got < 0) return total > 0 ? total : got;
      total += got;
      if (move) move();
    }
    return total;
  }

 private:
  FakeMemory& memory_;
};

class FrameObjectReaderTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  FrameObjectReaderTest() { memory().Put(tstate_ + at_.thread.identity, kIdentity); }

  FakeMemory& memory() { return python_.memory(); }
  // Far enough from the others to be a range of its own.
  Address Frame(const std::string& name, Address caller, int unit = 1, bool executes = true) {
    const Address frame = python_.Allocate(8192);
    memory().Put(frame + at_.frame.code, python_.Code({.name = name}));
    Call(frame, caller);
    StandAt(frame, unit);
    Execute(frame, executes);
    return frame;
  }
  void Call(Address frame, Address caller) { memory().Put(frame + at_.frame.previous, caller); }
  void StandAt(Address frame, int unit) {
    const bool bytes = at_.position == layout::Position::kBytes;
    memory().Put(frame + at_.frame.instr, int32_t{bytes && unit > 0 ? unit * 2 : unit});
  }
  void Execute(Address frame, bool executes) {
    memory().Put(frame + at_.frame.owner,
                 static_cast<uint8_t>(executes ? at_.executing : at_.executing + 1));
  }
  void SetCurrent(Address frame) { memory().Put(tstate_ + at_.thread.current_frame, frame); }

  std::vector<std::string> Read(FrameObjectReader* reader, bool exact,
                                Decision expected = Decision::kOk) {
    now_ += 1'000'000'000;
    EXPECT_EQ(ReadStack(&moving_, reader, exact, now_, 3), expected);
    std::vector<std::string> frames;
    for (const StackFrame& frame : reader->frames()) {
      frames.push_back(fmt::format("{}@{}", frame.code->name, frame.unit));
    }
    return frames;
  }
  FrameObjectReader Reader() { return {&moving_, GetParam(), &codes_, thread_}; }

  static constexpr uint64_t kIdentity = 7;
  const layout::Table& at_ = *GetParam();
  FakePython python_{GetParam()};
  MovingMemory moving_{&python_.memory()};
  CodeCache codes_{&moving_, GetParam()};
  Address tstate_ = python_.Allocate(512);
  PythonThread thread_{.tstate = tstate_, .identity = kIdentity};
  int64_t now_ = 0;
};

TEST_P(FrameObjectReaderTest, FollowsTheLinks) {
  const Address a = Frame("a", 0), b = Frame("b", a, 2), c = Frame("c", b, 3);
  SetCurrent(c);
  for (const bool exact : {true, false}) {
    FrameObjectReader reader = Reader();
    EXPECT_THAT(Read(&reader, exact), ElementsAre("a@1", "b@2", "c@3"));
    EXPECT_THAT(Read(&reader, exact), ElementsAre("a@1", "b@2", "c@3"));
    EXPECT_EQ(reader.unchanged(), 3u);
    StandAt(c, 4);
    EXPECT_THAT(Read(&reader, exact), ElementsAre("a@1", "b@2", "c@4"));
    EXPECT_EQ(reader.unchanged(), 2u);
    StandAt(c, 3);
  }
}

TEST_P(FrameObjectReaderTest, ReadsAllOfAKnownStackInOneCall) {
  const Address a = Frame("a", 0), b = Frame("b", a), c = Frame("c", b);
  SetCurrent(c);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  const uint64_t calls = moving_.calls();
  Read(&reader, false);
  EXPECT_EQ(moving_.calls(), calls + 1);
}

TEST_P(FrameObjectReaderTest, StandsBeforeTheFirstInstruction) {
  const Address a = Frame("a", 0, -1);
  SetCurrent(a);
  FrameObjectReader reader = Reader();
  EXPECT_THAT(Read(&reader, true), ElementsAre("a@-1"));
  EXPECT_EQ(reader.frames()[0].code->LineAt(-1), 10);
}

TEST_P(FrameObjectReaderTest, IsEmptyWithoutPythonCode) {
  SetCurrent(0);
  for (const bool exact : {true, false}) {
    FrameObjectReader reader = Reader();
    EXPECT_THAT(Read(&reader, exact), IsEmpty());
  }
}

TEST_P(FrameObjectReaderTest, FindsWhatNoSampleMet) {
  const Address a = Frame("a", 0), b = Frame("b", a), c = Frame("c", b);
  SetCurrent(a);
  FrameObjectReader reader = Reader();
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1"));
  SetCurrent(c);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1", "c@1"));
}

TEST_P(FrameObjectReaderTest, LeavesOutWhatIsJustEnteredOrLeft) {
  const Address a = Frame("a", 0), b = Frame("b", a, 1, false);
  SetCurrent(b);
  FrameObjectReader free = Reader(), exact = Reader();
  EXPECT_THAT(Read(&free, false), ElementsAre("a@1"));
  EXPECT_THAT(Read(&exact, true), ElementsAre("a@1", "b@1")) << "what the interpreter says";
}

// A short call that a sample met: its frame is kept for the next call and names its caller still.
TEST_P(FrameObjectReaderTest, TakesNoFrameThatHasEnded) {
  const Address a = Frame("a", 0), b = Frame("b", a);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  Execute(b, false);
  SetCurrent(a);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1"));
  Execute(b, true);  // called again, after the current frame was read
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
}

// The caller went on to its next call while the frames were read: its old callee is not on the line
// where it now stands.
TEST_P(FrameObjectReaderTest, JoinsNoCalleeToACallerThatWentOn) {
  for (const bool callee_lies_below : {false, true}) {
    Address first = python_.Allocate(8192), second = python_.Allocate(8192);
    const Address a = callee_lies_below ? second : first, b = callee_lies_below ? first : second;
    for (const auto& [frame, name] : {std::pair{a, "a"}, std::pair{b, "b"}}) {
      memory().Put(frame + at_.frame.code, python_.Code({.name = name}));
      Execute(frame, true);
    }
    Call(a, 0);
    Call(b, a);
    StandAt(a, 1);
    StandAt(b, 1);
    SetCurrent(b);
    FrameObjectReader reader = Reader();
    EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
    // Once the first range is read, b returns, and a goes on to another line.
    moving_.move = [&, moved = false]() mutable {
      if (std::exchange(moved, true)) return;
      Execute(b, false);
      StandAt(a, 5);
      SetCurrent(a);
    };
    const auto frames = Read(&reader, false);
    moving_.move = nullptr;
    if (callee_lies_below) {
      EXPECT_THAT(frames, ElementsAre("a@5"));
    } else {
      EXPECT_THAT(frames, ElementsAre("a@1")) << "as it stood when it was read";
    }
  }
}

TEST_P(FrameObjectReaderTest, NoticesAnotherThreadsState) {
  SetCurrent(Frame("a", 0));
  memory().Put(tstate_ + at_.thread.identity, kIdentity + 1);
  FrameObjectReader reader = Reader();
  Read(&reader, true, Decision::kGone);
}

TEST_P(FrameObjectReaderTest, EndsInCycles) {
  const Address a = Frame("a", 0), b = Frame("b", a);
  Call(a, b);
  SetCurrent(b);
  for (const bool exact : {true, false}) {
    FrameObjectReader reader = Reader();
    for (int again = 0; again < 3; ++again) {
      EXPECT_NE(ReadStack(&moving_, &reader, exact, ++now_), Decision::kOk);
    }
  }
}

TEST_P(FrameObjectReaderTest, BearsAnyPointerAsTheCaller) {
  const Address a = Frame("a", 0);
  SetCurrent(a);
  for (const Address garbage :
       {Address{1}, Address{8}, Address{0x7000'0000}, UINT64_MAX, UINT64_MAX - 7, tstate_, a}) {
    Call(a, garbage);
    for (const bool exact : {true, false}) {
      FrameObjectReader reader = Reader();
      for (int again = 0; again < 2; ++again) ReadStack(&moving_, &reader, exact, ++now_);
      EXPECT_THAT(reader.frames(), IsEmpty());
    }
  }
}

TEST_P(FrameObjectReaderTest, ForgetsFramesThatAreNotMetAnyMore) {
  const Address a = Frame("a", 0);
  FrameObjectReader reader = Reader();
  for (int i = 0; i < 50; ++i) {
    SetCurrent(Frame("f", a));
    EXPECT_THAT(Read(&reader, true), ElementsAre("a@1", "f@1"));
  }
  std::vector<RemoteRange> ranges;
  reader.Plan(true, &ranges);
  EXPECT_LT(ranges.size(), 30u);
}

INSTANTIATE_TEST_SUITE_P(Python, FrameObjectReaderTest,
                         ::testing::Values(&layout::kPython38, &layout::kPython39,
                                           &layout::kPython310),
                         TableName);

}  // namespace
}  // namespace linescope
