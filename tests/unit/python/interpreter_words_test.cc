#include "python/interpreter_words.h"

#include <gtest/gtest.h>

#include "unit/python/fake_python.h"

namespace linescope {
namespace {

class InterpreterWordsTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  InterpreterWordsTest() {
    const layout::Table& table = *GetParam();
    if (table.runtime.gil_holder != layout::kNone) {
      gil_ = runtime_ + table.runtime.gil_holder - 8;
    } else {
      gil_ = python_.Allocate(512);
      python_.memory().Put(interpreter_ + table.interpreter.gil, gil_);
    }
    collecting_ = table.runtime.gc_collecting != layout::kNone
                      ? runtime_ + table.runtime.gc_collecting
                      : interpreter_ + table.interpreter.gc_collecting;
    python_.memory().Put(gil_ + 8, kHolder);
    python_.memory().Put(gil_ + 16, int32_t{1});
  }
  InterpreterWords Words(const layout::Table& table) {
    return {&python_.memory(), &table, runtime_, interpreter_};
  }
  void Read(InterpreterWords& words, const InterpreterWords::Wanted& wanted) {
    std::vector<RemoteRange> ranges;
    words.Plan(wanted, &ranges);
    std::vector<std::byte> bytes(words.planned_bytes());
    const bool complete =
        python_.memory().Read(ranges, bytes.data()) == static_cast<ssize_t>(bytes.size());
    words.Take(complete ? bytes.data() : nullptr);
  }

  static constexpr Address kHolder = 0x5555'0010;
  FakePython python_{GetParam()};
  Address runtime_ = python_.Allocate(2048);
  Address interpreter_ = python_.Allocate(16384);
  Address gil_ = 0, collecting_ = 0;
};

TEST_P(InterpreterWordsTest, TellsWhoHoldsTheGil) {
  if (GetParam()->free_threaded) GTEST_SKIP() << "there is no GIL";
  InterpreterWords words = Words(*GetParam());
  EXPECT_EQ(words.gil_holder(), std::nullopt) << "not read";
  Read(words, {.gil = true});
  EXPECT_EQ(words.gil_holder(), kHolder);
  python_.memory().Put(gil_ + 16, int32_t{0});
  Read(words, {.gil = true});
  EXPECT_EQ(words.gil_holder(), Address{0}) << "the last holder is not the holder";
  Read(words, {});
  EXPECT_EQ(words.planned_bytes(), 0u);
  EXPECT_EQ(words.gil_holder(), std::nullopt) << "not read";
}

TEST_P(InterpreterWordsTest, TellsWhetherItCollects) {
  InterpreterWords words = Words(*GetParam());
  Read(words, {.gil = true, .gc = true});
  EXPECT_FALSE(words.collecting());
  python_.memory().Put(collecting_, int32_t{1});
  Read(words, {.gil = true, .gc = true});
  EXPECT_TRUE(words.collecting());
  if (!GetParam()->free_threaded) {
    EXPECT_EQ(words.gil_holder(), kHolder) << "both at once";
  }
  Read(words, {.gc = true});
  EXPECT_TRUE(words.collecting());
  words.Take(nullptr);
  EXPECT_FALSE(words.collecting()) << "could not be read";
}

TEST_P(InterpreterWordsTest, KnowsTheGilsOwnLocks) {
  if (GetParam()->free_threaded) GTEST_SKIP() << "there is no GIL";
  const InterpreterWords words = Words(*GetParam());
  EXPECT_TRUE(words.IsOfGil(gil_ + 32)) << "its condition";
  EXPECT_TRUE(words.IsOfGil(gil_ + 80)) << "its lock";
  EXPECT_FALSE(words.IsOfGil(gil_ - 8));
  EXPECT_FALSE(words.IsOfGil(gil_ + 4096));
  EXPECT_FALSE(words.IsOfGil(0));
}

TEST_P(InterpreterWordsTest, OfAFreeThreadedBuildThereIsNoGil) {
  layout::Table table = *GetParam();
  table.free_threaded = true;
  InterpreterWords words = Words(table);
  Read(words, {.gil = true});
  EXPECT_EQ(words.planned_bytes(), 0u);
  EXPECT_EQ(words.gil_holder(), std::nullopt) << "none, not: nobody holds it";
  EXPECT_FALSE(words.IsOfGil(gil_ + 32));
}

TEST_P(InterpreterWordsTest, ANullPointerIsNoGil) {
  if (GetParam()->interpreter.gil == layout::kNone) GTEST_SKIP() << "the GIL lies in the runtime";
  python_.memory().Put(interpreter_ + GetParam()->interpreter.gil, Address{0});
  InterpreterWords words = Words(*GetParam());
  Read(words, {.gil = true});
  EXPECT_EQ(words.gil_holder(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Python, InterpreterWordsTest, EachTable(), TableName);

}  // namespace
}  // namespace linescope
