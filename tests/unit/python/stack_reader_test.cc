// The decision function on images made up for each rule. That the rules are those of the
// interpreters is what stack_live_test and stack_step_test hold against reality.
#include <gmock/gmock.h>

#include "python/data_stack_reader.h"
#include "unit/python/fake_stack.h"
#include "unit/python/stack_probe.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Frame = FakeStack::FrameSpec;

class StackReaderTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  // kOther, kCall, kIterate and kReturn are its units of these kinds.
  FakePython::CodeSpec Spec(std::string name) {
    std::vector<uint8_t> opcodes(24, 0);
    opcodes[kCall] = push_;
    opcodes[kIterate] = iterate_;
    opcodes[kReturn] = return_;
    return {.name = std::move(name), .opcodes = opcodes};
  }
  Address Code(const std::string& name) { return python_.Code(Spec(name)); }
  Address Push(const Frame& frame) { return stack_.Push(frame, Spec("")); }
  std::vector<std::string> Read(bool exact, Decision expected = Decision::kOk) {
    now_ += 1'000'000'000;
    DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
    EXPECT_EQ(ReadStack(&python_.memory(), &reader, exact, now_), expected);
    std::vector<std::string> names;
    for (const StackFrame& frame : reader.frames()) names.push_back(frame.code->name);
    return names;
  }
  // Apart enough for the cache units behind each.
  static constexpr int kOther = 0, kCall = 1, kIterate = 12, kReturn = 20;
  [[nodiscard]] static int32_t Saved() { return FakePython::CodeSpec().nlocalsplus; }

  FakePython python_{GetParam()};
  FakeStack stack_{&python_};
  CodeCache codes_{&python_.memory(), GetParam()};
  Address root_ = stack_.Entry(0);  // what the first frame has as its previous
  int64_t now_ = 0;
  uint8_t push_ = python_.Opcode(OpcodeKind::kPush);
  uint8_t iterate_ = python_.Opcode(OpcodeKind::kIterate);
  uint8_t return_ = python_.Opcode(OpcodeKind::kReturn);
};

TEST_P(StackReaderTest, ReadsPlainFrames) {
  const Address a = Push(
      {.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved(), .is_entry = true});
  const Address b = Push({.code = Code("b"), .previous = a, .unit = kCall, .stacktop = Saved()});
  const Address c = Push({.code = Code("c"), .previous = b, .unit = kOther});
  stack_.SetCurrent(c);
  EXPECT_THAT(Read(true), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Read(false), ElementsAre("a", "b", "c"));
}

TEST_P(StackReaderTest, ReadsCodeThatLiesWhereShorterCodeLay) {
  for (const bool exact : {true, false}) {
    const Address address = Code("longer");
    python_.CodeAt(address, {.name = "shorter", .opcodes = {0, 0}});
    ASSERT_NE(codes_.Load(address, now_), nullptr);
    python_.CodeAt(address, Spec("longer"));
    const Address top = stack_.top();
    const Address a = Push({.code = Code("a"),
                            .previous = root_,
                            .unit = kCall,
                            .stacktop = Saved(),
                            .is_entry = true});
    stack_.SetCurrent(Push({.code = address, .previous = a, .unit = kIterate - 2}));
    EXPECT_THAT(Read(exact), ElementsAre("a", "longer"));
    stack_.SetTop(top);
  }
}

// A module calls a function once and deletes it; the next function gets the memory of its code.
TEST_P(StackReaderTest, NoticesAtOnceThatAFunctionTookTheAddressOfANewOne) {
  constexpr int64_t kMs = 1'000'000;
  for (const bool exact : {true, false}) {
    const Address address = Code("before");
    ASSERT_NE(codes_.Load(address, now_ + 1'000'000'000 - kMs), nullptr);
    python_.CodeAt(address, Spec("after"));
    const Address top = stack_.top();
    const Address a = Push({.code = Code("a"),
                            .previous = root_,
                            .unit = kCall,
                            .stacktop = Saved(),
                            .is_entry = true});
    stack_.SetCurrent(Push({.code = address, .previous = a, .unit = kOther}));
    EXPECT_THAT(Read(exact), ElementsAre("a", "after"));
    stack_.SetTop(top);
  }
}

TEST_P(StackReaderTest, StopsAtAnExecutingFrameWithAStaleCalleeAboveIt) {
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kOther, .is_entry = true});
  const Address top = stack_.top();
  Push({.code = Code("stale"), .previous = a, .unit = kReturn, .stacktop = Saved()});
  stack_.SetTop(top);
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(true), ElementsAre("a"));
  EXPECT_THAT(Read(false), ElementsAre("a"));
}

TEST_P(StackReaderTest, TakesNoCalleeOfADeadFrame) {
  const Address a = Push(
      {.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved(), .is_entry = true});
  const Address dead =
      Push({.code = Code("dead"), .previous = a, .unit = kReturn, .stacktop = Saved()});
  Push({.code = Code("older"), .previous = dead, .unit = kReturn, .stacktop = Saved()});
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(true), ElementsAre("a"));
  EXPECT_THAT(Read(false), ElementsAre("a", "dead")) << "its time is the callee's";
}

TEST_P(StackReaderTest, TakesNoCalleeOfAFrameThatStandsAtNoCall) {
  const Address a = Push(
      {.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved(), .is_entry = true});
  const Address fresh =
      Push({.code = Code("fresh"), .previous = a, .unit = kOther, .stacktop = Saved()});
  Push({.code = Code("stale"), .previous = fresh, .unit = kReturn, .stacktop = Saved()});
  stack_.SetCurrent(fresh);
  EXPECT_THAT(Read(false), ElementsAre("a", "fresh"));
}

TEST_P(StackReaderTest, CrossesCodeInC) {
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kCall, .is_entry = true});
  const Address b = Push({.code = Code("b"), .previous = stack_.Entry(a), .is_entry = true});
  stack_.SetCurrent(b);
  EXPECT_THAT(Read(true), ElementsAre("a", "b"));
  EXPECT_THAT(Read(false), ElementsAre("a", "b"));
}

TEST_P(StackReaderTest, FollowsGenerators) {
  const Address a_code = Code("a"), g_code = Code("g");
  if (GetParam()->generators_run_through_c) {
    const Address a = Push({.code = a_code, .previous = root_, .unit = kIterate, .is_entry = true});
    const Address g = stack_.Generator({.code = g_code, .previous = a, .is_entry = true});
    stack_.SetCurrent(g);
  } else {
    const int32_t saved = Saved() + 1;
    const Address a = Push(
        {.code = a_code, .previous = root_, .unit = kIterate, .stacktop = saved, .is_entry = true});
    const Address g = stack_.Generator({.code = g_code, .previous = a});
    stack_.SetTopOfStack(a, saved, g - GetParam()->generator.frame);
    stack_.SetCurrent(g);
  }
  EXPECT_THAT(Read(true), ElementsAre("a", "g"));
  EXPECT_THAT(Read(false), ElementsAre("a", "g"));
}

TEST_P(StackReaderTest, FollowsWhatAGeneratorCalls) {
  const Address a_code = Code("a"), g_code = Code("g"), f_code = Code("f");
  const Address a = Push({.code = a_code, .previous = root_, .unit = kCall, .is_entry = true});
  const Address g = stack_.Generator({.code = g_code,
                                      .previous = stack_.Entry(a),
                                      .unit = kCall,
                                      .stacktop = Saved(),
                                      .is_entry = true});
  const Address f = Push({.code = f_code, .previous = g});
  stack_.SetCurrent(f);
  EXPECT_THAT(Read(true), ElementsAre("a", "g", "f"));
  EXPECT_THAT(Read(false), ElementsAre("a", "g", "f"));
}

TEST_P(StackReaderTest, SeesTheDestructorAboveTheFrameThatIsCleared) {
  const Address a = Push(
      {.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved(), .is_entry = true});
  Push({.code = Code("dying"), .previous = a, .unit = kReturn, .stacktop = Saved()});
  const Address d = Push({.code = Code("__del__"), .previous = stack_.Entry(a), .is_entry = true});
  stack_.SetCurrent(d);
  EXPECT_THAT(Read(true), ElementsAre("a", "__del__"));
  EXPECT_THAT(Read(false), ElementsAre("a", "__del__"));
}

TEST_P(StackReaderTest, GoesOnInTheNextChunk) {
  std::vector<std::string> expected;
  Address previous = root_;
  for (int i = 0; i < 400; ++i) {
    if (i == 90 || i == 180 || i == 270) stack_.AddChunk();
    expected.push_back("f" + std::to_string(i));
    previous = Push({.code = Code(expected.back()),
                     .previous = previous,
                     .unit = i == 399 ? kOther : kCall,
                     .stacktop = i == 399 ? -1 : Saved(),
                     .is_entry = i == 0});
  }
  stack_.SetCurrent(previous);
  EXPECT_EQ(Read(true), expected);
  EXPECT_EQ(Read(false), expected);
}

TEST_P(StackReaderTest, ReadsAgainWhenTheStackGrew) {
  const Address code = Code("f");
  auto frame = [&](Address previous, bool last) {
    return Frame{.code = code,
                 .previous = previous,
                 .unit = last ? kOther : kCall,
                 .stacktop = last ? -1 : Saved(),
                 .is_entry = previous == root_};
  };
  Address top = Push(frame(root_, true));
  stack_.SetCurrent(top);
  for (const bool exact : {true, false}) {
    DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
    ASSERT_EQ(ReadStack(&python_.memory(), &reader, exact, 1), Decision::kOk);
    const size_t before = reader.frames().size();
    stack_.Write(top, {.code = code,
                       .previous = before == 1 ? root_ : top - python_.FrameWords({}) * 8,
                       .unit = kCall,
                       .stacktop = Saved(),
                       .is_entry = before == 1});
    for (int i = 0; i < 40; ++i) top = Push(frame(top, i == 39));
    stack_.SetCurrent(top);
    ASSERT_EQ(ReadStack(&python_.memory(), &reader, exact, 2), Decision::kOk);
    EXPECT_EQ(reader.frames().size(), before + 40);
  }
}

TEST_P(StackReaderTest, IsEmptyWithoutPythonCode) {
  stack_.SetCurrent(0);
  EXPECT_THAT(Read(true), IsEmpty());
  EXPECT_THAT(Read(false), IsEmpty());
}

TEST_P(StackReaderTest, NoticesAnotherThreadsState) {
  stack_.SetCurrent(Push({.code = Code("a"), .previous = root_, .is_entry = true}));
  python_.memory().Put(stack_.tstate() + GetParam()->thread.native_id, uint64_t{1});
  Read(true, Decision::kGone);
  Read(false, Decision::kGone);
}

TEST_P(StackReaderTest, EndsInCycles) {
  const Address a =
      Push({.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved()});
  const Address b = Push({.code = Code("b"), .previous = a});
  stack_.Write(a, {.code = Code("a"), .previous = b, .unit = kCall, .stacktop = Saved()});
  stack_.SetCurrent(b);
  DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
  EXPECT_NE(ReadStack(&python_.memory(), &reader, true, 1), Decision::kAgain);
  EXPECT_NE(ReadStack(&python_.memory(), &reader, false, 1), Decision::kAgain);
}

TEST_P(StackReaderTest, BearsAnyPointerAsTheCaller) {
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kCall, .is_entry = true});
  stack_.SetCurrent(a);
  const Address chunk = a & ~Address{0xfff};
  for (const Address bad : {~Address{0}, ~Address{7}, ~Address{63}, chunk - 8, chunk - 64, a - 1,
                            a + 1, Address{8}, Address{1} << 63, Address{1} << 47}) {
    for (const int32_t stacktop : {-1, Saved()}) {
      stack_.Write(a, {.code = Code("a"),
                       .previous = bad,
                       .unit = kCall,
                       .stacktop = stacktop,
                       .is_entry = true});
      for (const bool exact : {true, false}) {
        DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
        for (int again = 0; again < 2; ++again) {
          ReadStack(&python_.memory(), &reader, exact, now_ += 1'000'000'000);
          EXPECT_LE(reader.frames().size(), 1u);
        }
      }
    }
  }
}

TEST_P(StackReaderTest, BearsBrokenChunks) {
  stack_.SetCurrent(Push({.code = Code("a"), .previous = root_, .is_entry = true}));
  const layout::Thread& at = GetParam()->thread;
  FakeMemory& memory = python_.memory();
  const Address top = stack_.top();
  for (const uint32_t field : {at.chunk, at.top, at.limit}) {
    uint64_t good = 0;
    ASSERT_TRUE(memory.ReadValue(stack_.tstate() + field, &good));
    for (const uint64_t bad :
         {uint64_t{0}, uint64_t{1}, good - 64, UINT64_MAX, uint64_t{1} << 46}) {
      memory.Put(stack_.tstate() + field, bad);
      for (const bool exact : {true, false}) {
        DataStackReader reader(&memory, GetParam(), &codes_, stack_.thread());
        std::vector<RemoteRange> ranges;
        reader.Plan(exact, &ranges);
        EXPECT_LT(reader.planned_bytes(), 1u << 20);
        ReadStack(&memory, &reader, exact, 1);
      }
    }
    memory.Put(stack_.tstate() + field, good);
  }
  memory.Put(stack_.chunk() + layout::kChunkPrevious, stack_.chunk());  // a cycle
  DataStackReader reader(&memory, GetParam(), &codes_, stack_.thread());
  ReadStack(&memory, &reader, true, 1);
  EXPECT_EQ(stack_.top(), top);
}

// 3.14+, where what has a code lives.
class ClearedCodeTest : public StackReaderTest {
 protected:
  void Clear(Address frame) {
    memory().Put(frame + GetParam()->frame.code, uint64_t{1});  // a null reference's tag
  }
  FakeMemory& memory() { return python_.memory(); }
};

TEST_P(ClearedCodeTest, TakesTheTagOffTheCode) {
  const Address code = Code("a");
  const Address a = Push({.code = code, .previous = root_});
  memory().Put(a + GetParam()->frame.code, code | 1);  // a borrowed reference
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(true), ElementsAre("a"));
  EXPECT_THAT(Read(false), ElementsAre("a"));
}

TEST_P(ClearedCodeTest, TakesAnInlineCalleeUntilItsCodeIsCleared) {
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kCall});
  const Address b = Push({.code = Code("b"), .previous = a, .unit = kReturn});
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(false), ElementsAre("a", "b"));
  Clear(b);
  EXPECT_THAT(Read(false), ElementsAre("a"));
}

TEST_P(ClearedCodeTest, TakesNothingThatReturnGeneratorLeft) {
  const std::vector<uint8_t> opcodes{python_.Opcode(OpcodeKind::kMove), 0, 0};
  const FakePython::CodeSpec spec{.name = "generator", .opcodes = opcodes};
  const Address code = python_.Code(spec);
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kCall});
  const Address b = stack_.Push({.code = code, .previous = a, .unit = 1}, spec);
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(false), ElementsAre("a"));
  stack_.Write(b, {.code = code, .previous = a, .unit = 0});
  EXPECT_THAT(Read(false), ElementsAre("a", "generator")) << "it is just executing it";
}

TEST_P(ClearedCodeTest, FindsTheGeneratorThatALoopRuns) {
  const Address a = Push({.code = Code("a"), .previous = root_, .unit = kIterate});
  const Address g = stack_.Generator({.code = Code("g"), .previous = a, .unit = kOther});
  stack_.SetCurrent(g);
  EXPECT_THAT(Read(true), ElementsAre("a", "g"));
  EXPECT_THAT(Read(false), ElementsAre("a", "g"));
  // While it is suspended, it is linked to nobody.
  stack_.Write(g,
               {.code = Code("g"), .previous = 0, .unit = kOther, .owner = FakeStack::kGenerator});
  stack_.SetCurrent(a);
  EXPECT_THAT(Read(false), ElementsAre("a"));
}

INSTANTIATE_TEST_SUITE_P(Python, ClearedCodeTest,
                         ::testing::Values(&layout::kPython314, &layout::kPython315), TableName);
// As in a version to come that keeps its frames otherwise.
TEST_P(StackReaderTest, FollowsTheLinksWhereChunksAreOfAnUnknownForm) {
  const Address a = Push(
      {.code = Code("a"), .previous = root_, .unit = kCall, .stacktop = Saved(), .is_entry = true});
  const Address b = Push({.code = Code("b"), .previous = a, .unit = kCall, .stacktop = Saved()});
  const Address c = Push({.code = Code("c"), .previous = b, .unit = kOther});
  stack_.SetCurrent(c);
  python_.memory().Put(stack_.chunk() + layout::kChunkSize, uint64_t{3});
  for (const bool exact : {true, false}) {
    DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
    Decision decision = Decision::kAgain;
    for (int tick = 0; tick < 6 && decision != Decision::kOk; ++tick) {
      decision = ReadStack(&python_.memory(), &reader, exact, now_ += 1'000'000, 3);
    }
    ASSERT_EQ(decision, Decision::kOk);
    std::vector<std::string> names;
    for (const StackFrame& frame : reader.frames()) names.push_back(frame.code->name);
    EXPECT_THAT(names, ElementsAre("a", "b", "c"));
    // What was met is read ahead from then on, in one call.
    const uint64_t before = python_.memory().calls();
    ASSERT_EQ(ReadStack(&python_.memory(), &reader, exact, now_ += 1'000'000), Decision::kOk);
    EXPECT_LE(python_.memory().calls() - before, 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(Python, StackReaderTest, EachDataStackTable(), TableName);

}  // namespace
}  // namespace linescope
