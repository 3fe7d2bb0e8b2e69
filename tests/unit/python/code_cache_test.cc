#include "python/code_cache.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "python/line_table.h"
#include "unit/python/fake_python.h"

namespace linescope {
namespace {

class CodeCacheTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  template <class T>
  T Load(Address address) {
    T value{};
    EXPECT_TRUE(python_.memory().ReadExact(address, &value, sizeof value));
    return value;
  }

  FakePython python_{GetParam()};
  CodeCache cache_{&python_.memory(), GetParam()};
};

TEST_P(CodeCacheTest, ReadsACodeObjectOnce) {
  const Address address =
      python_.Code({.name = "Class.method", .file = "/a/b.py", .first_line = 7});
  const Code* code = cache_.Load(address, 0);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->file, "/a/b.py");
  EXPECT_EQ(code->name, "Class.method");
  EXPECT_EQ(code->qualified_name, "Class.method");
  EXPECT_EQ(code->first_line, 7);
  EXPECT_EQ(code->units, 8u);
  if (GetParam()->liveness != layout::Liveness::kObject) {
    EXPECT_EQ(code->frame_bytes, python_.FrameWords({}) * 8);
  }
  EXPECT_EQ(code->LineAt(-1), 7);
  EXPECT_EQ(code->LineAt(0), 7);
  EXPECT_EQ(code->LineAt(7), 14);
  EXPECT_FALSE(code->shim);
  EXPECT_FALSE(code->dynamic);
  const uint64_t calls = python_.memory().calls();
  EXPECT_EQ(cache_.Load(address, 1), code);
  EXPECT_EQ(cache_.Find(address), code);
  EXPECT_EQ(python_.memory().calls(), calls);
}

// One text that cannot be read costs that text, not the frame, and not for ever.
TEST_P(CodeCacheTest, ReadsAgainWhatCouldNotBeRead) {
  constexpr int64_t kSecond = 1'000'000'000;
  const Address address = python_.Code({.name = "f", .file = "/a.py", .first_line = 7});
  const auto name = Load<Address>(address + GetParam()->code.name);
  const auto word = Load<uint64_t>(name);
  python_.memory().Unmap(name, 8);
  Code* code = cache_.Load(address, 0);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->name, "<unreadable>");
  EXPECT_EQ(code->file, "/a.py");
  EXPECT_EQ(code->LineAt(2), 9);
  EXPECT_TRUE(cache_.Verify(code, 1)) << "not at once";
  EXPECT_FALSE(cache_.Verify(code, kSecond));
  python_.memory().Put(name, word);
  code = cache_.Load(address, kSecond);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->name, "f");
  EXPECT_TRUE(cache_.Verify(code, 2 * kSecond));
}

TEST_P(CodeCacheTest, GivesUpReadingAgain) {
  const Address address = python_.Code({.name = "f"});
  python_.memory().Unmap(Load<Address>(address + GetParam()->code.name), 8);
  int64_t now = 0;
  for (int i = 0; i < 100; ++i) {
    Code* code = cache_.Load(address, now += 1'000'000'000);
    ASSERT_NE(code, nullptr);
    cache_.Verify(code, now += 1'000'000'000);
  }
  EXPECT_LT(cache_.all().size(), 10u);
}

TEST_P(CodeCacheTest, KnowsWhichInstructionsAreItsOwn) {
  const Code* code = cache_.Load(python_.Code({}), 0);
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code->Contains(code->bytecode - 2));  // not begun
  EXPECT_TRUE(code->Contains(code->bytecode));
  EXPECT_TRUE(code->Contains(code->bytecode + 14));
  EXPECT_FALSE(code->Contains(code->bytecode + 16));
  EXPECT_FALSE(code->Contains(code->bytecode - 4));
  EXPECT_FALSE(code->Contains(code->bytecode + 1));
  EXPECT_EQ(code->Contains(0), GetParam()->position != layout::Position::kPointer);
  EXPECT_FALSE(code->Contains(UINT64_MAX));
}

TEST_P(CodeCacheTest, GivesCacheUnitsTheFlagsOfTheirInstruction) {
  if (GetParam()->minor < 11) GTEST_SKIP() << "no instruction has a cache";
  const uint8_t other = 0, push = [&] {
    for (unsigned i = 0; i < 256; ++i) {
      const uint8_t info = GetParam()->opcodes[i];
      if (info >> 4 == 1 && ((info & 0xf) == 3 || (info & 0xf) == 4))
        return static_cast<uint8_t>(i);
    }
    return uint8_t{0};
  }();
  const size_t caches = GetParam()->opcodes[push] & 0xf;
  std::vector<uint8_t> opcodes{other, push};
  // Bytes of caches are no opcodes: let them look like returns.
  opcodes.insert(opcodes.end(), caches, python_.Opcode(OpcodeKind::kReturn));
  opcodes.push_back(python_.Opcode(OpcodeKind::kReturn));
  const Code* code = cache_.Load(python_.Code({.opcodes = opcodes}), 0);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->FlagsAt(-1), 0);
  EXPECT_EQ(code->FlagsAt(0), 0);
  for (size_t i = 0; i <= caches; ++i) EXPECT_EQ(code->FlagsAt(1 + i), kUnitPush) << i;
  EXPECT_EQ(code->FlagsAt(2 + caches), kUnitReturn);
}

TEST_P(CodeCacheTest, DistrustsCodeWithHiddenOpcodes) {
  if (GetParam()->minor < 12) GTEST_SKIP() << "nothing is hidden before 3.12";
  const uint8_t opaque = python_.Opcode(OpcodeKind::kOpaque);
  const Code* code = cache_.Load(python_.Code({.opcodes = {0, opaque, 0, 0}}), 0);
  ASSERT_NE(code, nullptr);
  for (int unit = 1; unit < 4; ++unit) EXPECT_NE(code->FlagsAt(unit) & kUnitOpaque, 0) << unit;
}

TEST_P(CodeCacheTest, TellsShimsAndDynamicCode) {
  EXPECT_TRUE(
      cache_.Load(python_.Code({.name = "__init__", .file = "__init__", .first_line = 0}), 0)
          ->shim);
  EXPECT_TRUE(cache_.Load(python_.Code({.file = "<string>"}), 0)->dynamic);
  EXPECT_TRUE(cache_.Load(python_.Code({.file = ""}), 0)->dynamic);
  EXPECT_FALSE(cache_.Load(python_.Code({.file = "<frozen importlib._bootstrap>"}), 0)->dynamic);
}

TEST_P(CodeCacheTest, NoticesAnotherCodeAtTheAddress) {
  const Address address = python_.Code({.name = "old", .file = "<exec>"});
  Code* old = cache_.Load(address, 0);
  ASSERT_NE(old, nullptr);
  EXPECT_TRUE(cache_.Verify(old, 1));
  EXPECT_EQ(cache_.Find(address), old);
  python_.CodeAt(address, {.name = "new", .file = "<exec>"});
  EXPECT_EQ(cache_.Load(address, 2), old) << "a cached answer asks nobody";
  EXPECT_FALSE(cache_.Verify(old, 3));
  EXPECT_EQ(cache_.Find(address), nullptr);
  Code* fresh = cache_.Load(address, 4);
  ASSERT_NE(fresh, nullptr);
  EXPECT_EQ(fresh->name, "new");
  EXPECT_NE(fresh->id, old->id);
  EXPECT_EQ(old->name, "old") << "what samples refer to stays";
}

TEST_P(CodeCacheTest, TrustsCodeTheMoreTheLongerItWasThere) {
  constexpr int64_t kMs = 1'000'000;
  Code* code = cache_.Load(python_.Code({}), 100 * kMs);
  ASSERT_NE(code, nullptr);
  EXPECT_FALSE(code->IsDue(100 * kMs));
  EXPECT_TRUE(code->IsDue(100 * kMs + 1)) << "seen once";
  ASSERT_TRUE(cache_.Verify(code, 132 * kMs));
  EXPECT_FALSE(code->IsDue(134 * kMs));
  EXPECT_TRUE(code->IsDue(134 * kMs + 1));
  EXPECT_TRUE(code->IsNew());
  ASSERT_TRUE(cache_.Verify(code, 1000 * kMs));
  EXPECT_FALSE(code->IsNew());
  EXPECT_FALSE(code->IsDue(1050 * kMs));
  EXPECT_TRUE(code->IsDue(1050 * kMs + 1)) << "never for longer than 50 ms";
  Code* dynamic = cache_.Load(python_.Code({.file = "<string>"}), 0);
  ASSERT_TRUE(cache_.Verify(dynamic, 1000 * kMs));
  EXPECT_TRUE(dynamic->IsDue(1000 * kMs + 1));
}

TEST_P(CodeCacheTest, NoticesEveryFieldOfTheFingerprint) {
  const layout::Code& at = GetParam()->code;
  std::vector<uint32_t> fields{at.file, at.name, at.linetable, at.first_line};
  if (at.version != layout::kNone) fields.push_back(at.version);
  for (const uint32_t field : fields) {
    Code* code = cache_.Load(python_.Code({}), 0);
    ASSERT_NE(code, nullptr);
    python_.memory().Put(code->address + field, uint32_t{0x77});
    EXPECT_FALSE(cache_.Verify(code, 1)) << field;
  }
}

TEST_P(CodeCacheTest, VerifiesAllInBatchesAndFindsTheUnmapped) {
  std::vector<Address> addresses;
  for (int i = 0; i < 700; ++i) addresses.push_back(python_.Code({.first_line = i + 1}));
  for (const Address address : addresses) ASSERT_NE(cache_.Load(address, 0), nullptr);
  EXPECT_EQ(cache_.VerifyAll(10, 5), 0u);
  EXPECT_EQ(cache_.VerifyAll(20, 5), 0u) << "all were seen at 10";
  python_.CodeAt(addresses[3], {.name = "another"});
  python_.memory().Unmap(addresses[400], GetParam()->code.bytecode);
  python_.CodeAt(addresses[699], {.name = "another"});
  EXPECT_EQ(cache_.VerifyAll(30, 25), 3u);
  for (size_t i = 0; i < addresses.size(); ++i) {
    EXPECT_EQ(cache_.Find(addresses[i]) == nullptr, i == 3 || i == 400 || i == 699) << i;
  }
}

TEST_P(CodeCacheTest, FindsTheRestAfterManyErasures) {
  // Far more than the first table holds, erased in random order: linear probing must move up what
  // follows.
  std::vector<Address> addresses;
  for (int i = 0; i < 3000; ++i) addresses.push_back(python_.Code({.opcodes = {0}}));
  for (const Address address : addresses) ASSERT_NE(cache_.Load(address, 0), nullptr);
  std::ranges::shuffle(addresses, std::minstd_rand(7));
  for (size_t i = 0; i < 2000; ++i) {
    Code* code = cache_.Find(addresses[i]);
    ASSERT_NE(code, nullptr);
    python_.memory().Put(addresses[i] + GetParam()->code.first_line, 99'999);
    ASSERT_FALSE(cache_.Verify(code, 1));
    if (i % 100 != 99) continue;
    for (size_t k = 0; k < addresses.size(); ++k) {
      ASSERT_EQ(cache_.Find(addresses[k]) == nullptr, k <= i) << k;
    }
  }
}

TEST_P(CodeCacheTest, RefusesWhatIsNoCodeAndRemembersThat) {
  const Address object = python_.Object("function");
  EXPECT_EQ(cache_.Load(object, 0), nullptr);
  const uint64_t calls = python_.memory().calls();
  EXPECT_EQ(cache_.Load(object, 1), nullptr);
  EXPECT_EQ(python_.memory().calls(), calls) << "remembered";
  EXPECT_EQ(cache_.Load(object, 1'000'000'000), nullptr);
  EXPECT_GT(python_.memory().calls(), calls) << "but not for ever";
  for (const Address address : {Address{0}, Address{8}, Address{0x100001}, Address{1} << 60}) {
    EXPECT_EQ(cache_.Load(address, 0), nullptr) << address;
  }
}

TEST_P(CodeCacheTest, RefusesAbsurdSizes) {
  const layout::Code& at = GetParam()->code;
  if (at.code_bytes != layout::kNone) GTEST_SKIP() << "holds no bytecode of its own";
  auto broken = [&](uint32_t field, auto value) {
    const Address address = python_.Code({});
    python_.memory().Put(address + field, value);
    return cache_.Load(address, 0);
  };
  EXPECT_EQ(broken(GetParam()->objects.var_size, uint64_t{0}), nullptr);
  EXPECT_EQ(broken(GetParam()->objects.var_size, UINT64_MAX), nullptr);
  EXPECT_EQ(broken(GetParam()->objects.var_size, uint64_t{1} << 24), nullptr);
  EXPECT_EQ(broken(at.nlocalsplus, int32_t{-1}), nullptr);
  if (at.framesize != layout::kNone) {
    EXPECT_EQ(broken(at.framesize, int32_t{-5}), nullptr);
    EXPECT_EQ(broken(at.framesize, int32_t{0}), nullptr);
    EXPECT_EQ(broken(at.framesize, INT32_MAX), nullptr);
  } else {
    EXPECT_EQ(broken(at.stacksize, int32_t{-1}), nullptr);
    EXPECT_EQ(broken(at.stacksize, INT32_MAX), nullptr);
  }
}

TEST_P(CodeCacheTest, KeepsAFunctionWhoseLinesAreUnreadable) {
  const Address address = python_.Code({.name = "f"});
  python_.memory().Put(address + GetParam()->code.linetable, Address{0x1230});
  python_.memory().Put(address + GetParam()->code.file, Address{0x1230});
  const Code* code = cache_.Load(address, 0);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->name, "f");
  EXPECT_EQ(code->LineAt(3), kNoLine);
  EXPECT_FALSE(code->file.empty());
}

INSTANTIATE_TEST_SUITE_P(Python, CodeCacheTest, EachTable(), TableName);

}  // namespace
}  // namespace linescope
