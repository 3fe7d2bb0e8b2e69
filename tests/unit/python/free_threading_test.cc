// What is particular of free-threaded builds: each thread runs its own copy of the bytecode
// (3.14+), and the GIL is off. On made-up memory, because such builds are rare.
#include <gmock/gmock.h>

#include "python/data_stack_reader.h"
#include "python/runtime.h"
#include "unit/python/fake_stack.h"
#include "unit/python/stack_probe.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CopiesTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  static constexpr int kUnits = 24, kCall = 1, kOther = 12;

  FakePython::CodeSpec Spec(const std::string& name) {
    std::vector<uint8_t> opcodes(kUnits, 0);
    opcodes[kCall] = python_.Opcode(OpcodeKind::kPush);
    return {.name = name, .first_line = 100, .opcodes = opcodes};
  }
  // Makes copy number `copy` of the bytecode, which lies at the address that is returned.
  Address Copy(Address code, size_t copy) {
    const Address at = python_.Allocate(size_t{kUnits} * 2);
    std::vector<Address>& copies = copies_[code];
    if (copies.empty()) copies.push_back(code + python_.table().code.bytecode);
    copies.resize(std::max(copies.size(), copy + 1));
    copies[copy] = at;
    const Address array = python_.Allocate(8 + copies.size() * 8);
    python_.memory().Put(array, uint64_t{copies.size()});
    python_.memory().Write(array + 8, std::as_bytes(std::span(copies)));
    python_.memory().Put(code + python_.table().code.copies, array);
    return at;
  }
  std::vector<std::string> Read(bool exact) {
    now_ += 1'000'000'000;
    DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
    if (ReadStack(&python_.memory(), &reader, exact, now_) != Decision::kOk) return {"undecided"};
    std::vector<std::string> lines;
    for (const StackFrame& frame : reader.frames()) {
      lines.push_back(fmt::format("{}:{}", frame.code->name, frame.code->LineAt(frame.unit)));
    }
    return lines;
  }

  FakePython python_{GetParam()};
  FakeStack stack_{&python_};
  CodeCache codes_{&python_.memory(), GetParam()};
  std::map<Address, std::vector<Address>> copies_;
  int64_t now_ = 0;
};

TEST_P(CopiesTest, TheLineIsThatOfTheThreadsOwnCopy) {
  const Address a_code = python_.Code(Spec("a")), b_code = python_.Code(Spec("b"));
  const Address a_copy = Copy(a_code, 3), b_copy = Copy(b_code, 3);
  const Address a = stack_.Push(
      {.code = a_code, .previous = stack_.Entry(0), .unit = kCall, .copy = 3, .copy_at = a_copy},
      Spec("a"));
  stack_.SetCurrent(stack_.Push(
      {.code = b_code, .previous = a, .unit = kOther, .copy = 3, .copy_at = b_copy}, Spec("b")));
  EXPECT_THAT(Read(true), ElementsAre("a:101", "b:112"));
  EXPECT_THAT(Read(false), ElementsAre("a:101", "b:112"));
}

TEST_P(CopiesTest, ThreadsStandInTheOwnAndInOtherCopiesOfOneCode) {
  const Address code = python_.Code(Spec("f"));
  const Address copy = Copy(code, 1);
  const Address own =
      stack_.Push({.code = code, .previous = stack_.Entry(0), .unit = kCall}, Spec("f"));
  stack_.SetCurrent(stack_.Push(
      {.code = code, .previous = own, .unit = kOther, .copy = 1, .copy_at = copy}, Spec("f")));
  EXPECT_THAT(Read(true), ElementsAre("f:101", "f:112"));
  EXPECT_THAT(Read(false), ElementsAre("f:101", "f:112"));
}

TEST_P(CopiesTest, ACopyIsMadeWhenTheCodeIsKnownAlready) {
  const Address code = python_.Code(Spec("f"));
  for (int copy = 1; copy < 4; ++copy) {
    const Address at = Copy(code, static_cast<size_t>(copy));
    const Address top = stack_.top();
    stack_.SetCurrent(stack_.Push(
        {.code = code, .previous = stack_.Entry(0), .unit = copy + 2, .copy = copy, .copy_at = at},
        Spec("f")));
    EXPECT_THAT(Read(true), ElementsAre(fmt::format("f:{}", 102 + copy)));
    stack_.SetTop(top);
  }
}

TEST_P(CopiesTest, ACopyIsMadeAnewAtAnotherAddress) {
  const Address code = python_.Code(Spec("f"));
  for (int round = 0; round < 3; ++round) {
    const Address at = Copy(code, 1);
    const Address top = stack_.top();
    stack_.SetCurrent(stack_.Push(
        {.code = code, .previous = stack_.Entry(0), .unit = kOther, .copy = 1, .copy_at = at},
        Spec("f")));
    EXPECT_THAT(Read(true), ElementsAre("f:112"));
    stack_.SetTop(top);
  }
}

TEST_P(CopiesTest, AnInstructionInNoCopyIsNoFrame) {
  const Address code = python_.Code(Spec("f"));
  const Address copy = Copy(code, 1);
  const Address root = stack_.Entry(0);
  for (const auto& [number, at] : std::vector<std::pair<int32_t, Address>>{
           {1, copy - 4096}, {1, copy + kUnits * 2}, {2, copy}, {70'000, copy}, {-1, copy}}) {
    SCOPED_TRACE(number);
    const Address top = stack_.top();
    stack_.SetCurrent(stack_.Push(
        {.code = code, .previous = root, .unit = 0, .copy = number, .copy_at = at}, Spec("f")));
    EXPECT_THAT(Read(true), ElementsAre("undecided"));
    EXPECT_THAT(Read(false), IsEmpty());
    stack_.SetTop(top);
  }
}

TEST_P(CopiesTest, WhatIsInNoCopyIsNotAskedForAgainAndAgain) {
  const Address code = python_.Code(Spec("f"));
  ASSERT_NE(codes_.Load(code, 1), nullptr);
  Copy(code, 1);
  stack_.SetCurrent(stack_.Push(
      {.code = code, .previous = stack_.Entry(0), .unit = 0, .copy = 2, .copy_at = code},
      Spec("f")));
  DataStackReader reader(&python_.memory(), GetParam(), &codes_, stack_.thread());
  ReadStack(&python_.memory(), &reader, false, 2'000'000'000);
  const uint64_t before = python_.memory().calls();
  for (int i = 0; i < 100; ++i) ReadStack(&python_.memory(), &reader, false, 2'000'000'000 + i);
  EXPECT_LE(python_.memory().calls() - before, 205u);
}

TEST_P(CopiesTest, ACountThatIsGarbageIsNotBelieved) {
  const Address code = python_.Code(Spec("f"));
  const Address array = python_.Allocate(64);
  for (const uint64_t count : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
    python_.memory().Put(array, count);
    python_.memory().Put(code + python_.table().code.copies, array);
    Code* known = codes_.Load(code, now_);
    ASSERT_NE(known, nullptr);
    EXPECT_FALSE(codes_.ReadCopies(known, now_ += 1'000'000'000));
    EXPECT_THAT(known->copies, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Python, CopiesTest, ::testing::Values(&kFree314, &kFree315), TableName);

class GilTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  GilTest() {
    python_.memory().Zero(interpreter_, 8192);
    python_.memory().Put(interpreter_ + GetParam()->interpreter.gil, gil_);
    python_.memory().Put(runtime_ + GetParam()->runtime.interpreters_head, interpreter_);
  }
  void Set(int32_t enabled, Address holder, int32_t locked) {
    python_.memory().Put(gil_ + GetParam()->gil.holder, holder);
    python_.memory().Put(gil_ + GetParam()->gil.locked, locked);
    python_.memory().Put(gil_ + GetParam()->gil.enabled, enabled);
  }
  Address Holder() { return ReadGilHolder(&python_.memory(), *GetParam(), runtime_, interpreter_); }
  std::string Description() {
    PythonRuntime runtime;
    runtime.version = {3, 13, 5, 0x030d05f0};
    runtime.table = *GetParam();
    runtime.address = runtime_;
    return DescribePython(&python_.memory(), runtime);
  }

  FakePython python_{GetParam()};
  Address runtime_ = python_.Allocate(4096), interpreter_ = python_.Allocate(8192),
          gil_ = python_.Allocate(64);
};

TEST_P(GilTest, IsOffAsARule) {
  Set(0, 0x5000, 0);
  EXPECT_EQ(ReadGilEnabled(&python_.memory(), *GetParam(), interpreter_), false);
  EXPECT_EQ(Holder(), kGilUnknown) << "not: nobody holds it";
  EXPECT_EQ(Description(), "3.13.5 free-threaded, no GIL");
}

TEST_P(GilTest, IsOnForAMomentWhileAModuleIsImported) {
  Set(2, 0x5000, 1);
  EXPECT_EQ(ReadGilEnabled(&python_.memory(), *GetParam(), interpreter_), false);
}

TEST_P(GilTest, MayBeSwitchedOn) {
  Set(INT32_MAX, 0x5000, 1);
  EXPECT_EQ(ReadGilEnabled(&python_.memory(), *GetParam(), interpreter_), true);
  EXPECT_EQ(Holder(), 0x5000u);
  EXPECT_EQ(Description(), "3.13.5 free-threaded, GIL on");
  Set(INT32_MAX, 0x5000, 0);
  EXPECT_EQ(Holder(), 0u);
}

TEST_P(GilTest, CannotBeReadEverywhere) {
  python_.memory().Put(interpreter_ + GetParam()->interpreter.gil, Address{0x66660000});
  EXPECT_EQ(ReadGilEnabled(&python_.memory(), *GetParam(), interpreter_), std::nullopt);
  EXPECT_EQ(Holder(), kGilUnknown);
  EXPECT_EQ(Description(), "3.13.5 free-threaded");
}

INSTANTIATE_TEST_SUITE_P(Python, GilTest, ::testing::Values(&kFree313, &kFree314, &kFree315),
                         TableName);

}  // namespace
}  // namespace linescope
