// The decision function of 3.8 to 3.10 on frames made up for each rule. That the rules are those of
// the interpreters is what stack_live_test and stack_step_test hold against reality.
#include "python/frame_object_reader.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

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
    return FrameAt(python_.Allocate(8192), {.name = name}, caller, unit, executes);
  }
  Address FrameAt(Address frame, const FakePython::CodeSpec& code, Address caller, int unit = 1,
                  bool executes = true) {
    memory().Put(frame + at_.frame.code, python_.Code(code));
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
  // Lets `change` happen once `count` further ranges have been read.
  void AfterRange(int count, std::function<void()> change) {
    moving_.move = [change = std::move(change), count]() mutable {
      if (--count == 0) change();
    };
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
  Execute(b, true);
  SetCurrent(b);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
}

// The caller went on to its next call while the frames were read: its old callee is not on the line
// where it now stands. Callers are read before what they call, wherever they lie.
TEST_P(FrameObjectReaderTest, JoinsNoCalleeToACallerThatWentOn) {
  for (const bool callee_lies_below : {false, true}) {
    Address first = python_.Allocate(8192), second = python_.Allocate(8192);
    const Address a = callee_lies_below ? second : first, b = callee_lies_below ? first : second;
    FrameAt(a, {.name = "a"}, 0);
    FrameAt(b, {.name = "b"}, a);
    SetCurrent(b);
    FrameObjectReader reader = Reader();
    EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
    // Once the first range is read, b returns, and a goes on to another line.
    AfterRange(1, [&] {
      Execute(b, false);
      StandAt(a, 5);
      SetCurrent(a);
    });
    EXPECT_THAT(Read(&reader, false), ElementsAre("a@5"));
  }
}

// Ranges near each other are one, which is read from its begin in both readings.
TEST_P(FrameObjectReaderTest, JoinsNoCalleeThatLiesBeforeItsCallerInOneRange) {
  const Address b = python_.Allocate(1024), a = b + 512;
  FrameAt(a, {.name = "a"}, 0);
  FrameAt(b, {.name = "b"}, a);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
  // What b's words showed when it was read is of the time before a went on.
  StandAt(a, 5);
  SetCurrent(0);
  AfterRange(1, [&] { Execute(b, false); });
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@5"));
}

// A short function: not there when its frame was read first, but when the thread's words were.
TEST_P(FrameObjectReaderTest, NamesAFrameThatBeganWhileItWasRead) {
  const Address a = Frame("a", 0), b = Frame("b", a);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  Execute(b, false);
  SetCurrent(a);
  AfterRange(2, [&] {
    Execute(b, true);
    SetCurrent(b);
  });
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
}

TEST_P(FrameObjectReaderTest, PutsACallerWhereItCanHaveCalled) {
  constexpr uint8_t kCallFunction = 131, kLoadFast = 124;
  const Address a =
      FrameAt(python_.Allocate(8192),
              {.name = "a", .opcodes = {kLoadFast, kCallFunction, kLoadFast, kCallFunction, 0}}, 0);
  const Address b = Frame("b", a);
  struct Case {
    int before, after;
    std::vector<std::string> frames;
  };
  const std::vector<Case> cases = {
      {0, 1, {"a@1", "b@1"}},  // b was called in between
      {1, 2, {"a@1", "b@1"}},  // b returned in between
      {4, 3, {"a@3", "b@1"}},  // an operator may call, too, but seldom does
      {1, 3, {"a@1", "b@1"}},  // of two calls that where b was first
  };
  for (const Case& test : cases) {
    StandAt(a, 1);
    SetCurrent(b);
    FrameObjectReader reader = Reader();
    Read(&reader, false);
    StandAt(a, test.before);
    AfterRange(3, [&] { StandAt(a, test.after); });
    EXPECT_EQ(Read(&reader, false), test.frames) << test.before << " then " << test.after;
  }
}

// Calls that are over before their frames are read are no part of their callers' time.
TEST_P(FrameObjectReaderTest, KeepsAFunctionThatRanBetweenTheReadings) {
  const Address a = Frame("a", 0), b = Frame("b", a, 3);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  Read(&reader, false);
  // b returned at 4, is called anew after its frame was read, and has returned when it is read
  // again.
  StandAt(b, 4);
  Execute(b, false);
  SetCurrent(a);
  AfterRange(2, [&] { SetCurrent(b); });
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@3")) << "where it stands when it runs";
}

TEST_P(FrameObjectReaderTest, KnowsWhoResumedAGenerator) {
  const Address a = Frame("a", 0), g = Frame("g", a, 3);
  SetCurrent(g);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  Read(&reader, false);
  Execute(g, false);
  Call(g, 0);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "g@3"));
}

TEST_P(FrameObjectReaderTest, PutsTheNewestFrameWhereItDoesNotCall) {
  const Address a = Frame("a", 0), b = Frame("b", a);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  for (int i = 0; i < 3; ++i) Read(&reader, false);
  for (int i = 0; i < 2; ++i) {
    StandAt(a, 1);
    Execute(b, true);
    AfterRange(2, [&] {  // b, which a called at 1, returns
      Execute(b, false);
      StandAt(a, 4);
      SetCurrent(a);
    });
    EXPECT_THAT(Read(&reader, false), ElementsAre("a@4"));
    StandAt(a, 2);
    AfterRange(3, [&] {  // a calls b again
      Execute(b, true);
      StandAt(a, 3);
    });
    EXPECT_THAT(Read(&reader, false), ElementsAre("a@2"));
  }
}

TEST_P(FrameObjectReaderTest, TakesEitherReadingOfAFrameThatMovedOn) {
  const Address a = Frame("a", 0);
  SetCurrent(a);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  std::set<std::string> seen;
  for (int i = 0; i < 4; ++i) {
    StandAt(a, 1);
    AfterRange(1, [&] { StandAt(a, 4); });
    for (const std::string& frame : Read(&reader, false)) seen.insert(frame);
  }
  EXPECT_THAT(seen, ElementsAre("a@1", "a@4"));
}

TEST_P(FrameObjectReaderTest, ReadsAheadWhatItMissedOnce) {
  const Address a = Frame("a", 0), b = Frame("b", a);
  SetCurrent(a);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  // The call is over when its frame could be read late.
  Execute(b, false);
  SetCurrent(b);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1"));
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1"));
}

// A greenlet that was switched away from leaves frames that execute, on a root of their own.
TEST_P(FrameObjectReaderTest, TakesNoOtherGreenletsStack) {
  const Address a = Frame("a", 0), b = Frame("b", a), shared = Frame("shared", b);
  SetCurrent(shared);
  FrameObjectReader reader = Reader();
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1", "shared@1"));
  const Address c = Frame("c", 0), d = Frame("d", c);
  Call(shared, d);
  EXPECT_THAT(Read(&reader, false), ElementsAre("c@1", "d@1", "shared@1"));
  Call(shared, b);
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1", "shared@1"));
}

TEST_P(FrameObjectReaderTest, FindsTheUnmetCallerOfAKnownFrame) {
  const Address a = Frame("a", 0), c = Frame("c", a);
  SetCurrent(c);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  Call(c, Frame("b", a));
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@1", "c@1"));
}

// Frames that no sample met are read late, the callee before its caller: each is looked at again.
TEST_P(FrameObjectReaderTest, JoinsNoUnmetCalleeToACallerThatWentOn) {
  const Address a = Frame("a", 0), b = Frame("b", a), c = Frame("c", b);
  SetCurrent(a);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  SetCurrent(c);
  AfterRange(4, [&] {  // a, the words, a, c
    Execute(c, false);
    StandAt(b, 3);
    SetCurrent(b);
  });
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@1", "b@3"));
}

// What was met has ended by the time at which what was not met is read.
TEST_P(FrameObjectReaderTest, JoinsNothingUnmetToWhatHasEnded) {
  const Address a = Frame("a", 0), b = Frame("b", a), c = Frame("c", b);
  SetCurrent(b);
  FrameObjectReader reader = Reader();
  Read(&reader, false);
  SetCurrent(c);
  AfterRange(3, [&] {  // a, b, the words
    Execute(b, false);
    StandAt(a, 3);
  });
  EXPECT_THAT(Read(&reader, false), ElementsAre("a@3"));
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
                         ::testing::Values(&layout::kPython38, &layout::kPython39, &kTraced39,
                                           &layout::kPython310),
                         TableName);

}  // namespace
}  // namespace linescope
