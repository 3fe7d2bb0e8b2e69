#include "python/locals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <sstream>

#include "process/fake_memory.h"
#include "support/interpreters.h"
#include "support/python_target.h"
#include "unit/python/stack_probe.h"

namespace linescope {
namespace {

TEST(FloatRepr, IsPythons) {
  EXPECT_EQ(FloatRepr(0), "0.0");
  EXPECT_EQ(FloatRepr(-0.0), "-0.0");
  EXPECT_EQ(FloatRepr(1e16), "1e+16");
  EXPECT_EQ(FloatRepr(9999999999999998), "9999999999999998.0");
  EXPECT_EQ(FloatRepr(1e-4), "0.0001");
  EXPECT_EQ(FloatRepr(1e-5), "1e-05");
  EXPECT_EQ(FloatRepr(5e-324), "5e-324");
  EXPECT_EQ(FloatRepr(INFINITY), "inf");
  EXPECT_EQ(FloatRepr(-INFINITY), "-inf");
  EXPECT_EQ(FloatRepr(NAN), "nan");
}

TEST(DecimalOf, CarriesThroughZeros) {
  EXPECT_EQ(DecimalOf({}), "0");
  EXPECT_EQ(DecimalOf({999'999'999}), "999999999");
  EXPECT_EQ(DecimalOf({1'000'000'000 & 0x3fffffff, 1'000'000'000 >> 30}), "1000000000");
  EXPECT_EQ(DecimalOf({0, 1}), "1073741824");
  EXPECT_EQ(DecimalOf({0, 0, 0, 1}), "1237940039285380274899124224");
  const uint64_t value = 1'000'000'000'000'000'001;
  EXPECT_EQ(
      DecimalOf({static_cast<uint32_t>(value & 0x3fffffff), static_cast<uint32_t>(value >> 30)}),
      "1000000000000000001");
}

const char* KindName(Variable::Kind kind) {
  switch (kind) {
    case Variable::Kind::kLocal:
      return "local";
    case Variable::Kind::kCell:
      return "cell";
    case Variable::Kind::kFree:
      return "free";
    case Variable::Kind::kNamespace:
      break;
  }
  return "namespace";
}

std::string FromHex(const std::string& hex) {
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    text.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return text;
}

struct ExpectedFrame {
  std::string function;
  std::vector<std::string> variables;  // "name kind value"
};

class LocalsLive : public ::testing::TestWithParam<int> {};

TEST_P(LocalsLive, AreThoseThatTheProgramSees) {
  LS_FOR_EACH_INTERPRETER(python, GetParam()) {
    PythonTarget target(python.path, {ProgramPath("locals.py")});
    std::vector<ExpectedFrame> expected;
    for (std::string line = target.ReadLine(); line != "ready"; line = target.ReadLine()) {
      ASSERT_FALSE(line.empty()) << "the program ended";
      std::istringstream fields(line);
      std::string what, name, kind, hex;
      fields >> what >> name >> kind >> hex;
      if (what == "frame") {
        expected.push_back({name, {}});
      } else {
        expected.back().variables.push_back(name + " " + kind + " " + FromHex(hex));
      }
    }
    StackProbe probe;
    ASSERT_TRUE(probe.Open(target.pid()));
    const layout::Table& table = probe.runtime.table;
    const auto stack = probe.Reader(probe.list.threads[0]);
    ASSERT_EQ(ReadStack(probe.memory.get(), stack.get(), true, MonotonicNs()), Decision::kOk);
    LocalsReader reader(probe.memory.get(), &table);

    std::vector<StackFrame> frames;  // newest first
    for (const StackFrame& frame : stack->frames()) {
      if (!frame.code->shim) frames.insert(frames.begin(), frame);
    }
    // Above is wait() and what it calls.
    while (!frames.empty() && frames[0].code->qualified_name != expected[0].function) {
      frames.erase(frames.begin());
    }
    ASSERT_EQ(frames.size(), expected.size());
    const std::vector<FrameVariables> variables = reader.Read(frames);
    ASSERT_EQ(variables.size(), frames.size());
    size_t compared = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].code->qualified_name, expected[i].function);
      std::vector<std::string> got;
      EXPECT_EQ(variables[i].left_out, 0u);
      for (const Variable& variable : variables[i].variables) {
        got.push_back(variable.name + " " + KindName(variable.kind) + " " + variable.value.text);
        EXPECT_EQ(variable.value.cut, variable.value.text.contains("…(")) << variable.name;
      }
      EXPECT_EQ(got, expected[i].variables) << expected[i].function;
      compared += got.size();
    }
    EXPECT_GT(compared, 90u);
  }
}

INSTANTIATE_TEST_SUITE_P(Live, LocalsLive, EachMinor(), MinorName);

// An object reader over memory made up here, with the types that it needs.
class MadeUp : public ::testing::Test {
 protected:
  static constexpr Address kTypes = 0x100000, kNames = 0x200000;

  Address Type(const std::string& name, uint64_t flags = 0) {
    const Address type = kTypes + 0x1000 * ++types_;
    const Address text = kNames + 0x100 * types_;
    Put(type, std::vector<uint64_t>(128));
    memory_.Write(text, std::as_bytes(std::span(name.c_str(), name.size() + 1)));
    memory_.Write(text + name.size() + 1, std::vector<std::byte>(255 - name.size()));
    Put(type + table_.objects.type_name, {text});
    Put(type + table_.names.type_flags, {flags});
    return type;
  }
  void Put(Address at, const std::vector<uint64_t>& words) {
    memory_.Write(at, std::as_bytes(std::span(words)));
  }
  Repr Of(Address object) { return ObjectRepr(&objects_, {}).Of(object); }

  layout::Table table_ = layout::kPython312;
  FakeMemory memory_;
  ObjectReader objects_{&memory_, &table_};
  uint64_t types_ = 0;
};

TEST_F(MadeUp, NothingThere) {
  for (const Address address : {Address{0}, Address{8}, Address{0x5001}, Address{0x500000}}) {
    EXPECT_EQ(Of(address).text, "<unreadable>");
    EXPECT_TRUE(Of(address).cut);
  }
}

TEST_F(MadeUp, ASizeThatIsGarbageIsNotBelieved) {
  const Address list = 0x300000;
  Put(list, {1, Type("list"), UINT64_MAX / 2, list, 0});
  EXPECT_EQ(Of(list).text, "<unreadable>");
  const Address number = 0x301000;
  Put(number, {1, Type("int"), UINT64_MAX << 3, 0});
  EXPECT_EQ(Of(number).text, "<unreadable>");
  const Address text = 0x302000;
  Put(text, {1, Type("str"), uint64_t{1} << 39, 0, 0x64, 0});
  EXPECT_EQ(Of(text).text, "<unreadable>");
}

// A list of ten lists of ten lists …: what is written stays bounded, and so does the reading.
TEST_F(MadeUp, AllContainersTogetherAreBounded) {
  const Address type = Type("list");
  const Address leaf = 0x300000;
  Put(leaf, {1, type, 0, 0, 0});
  Address inner = leaf;
  for (Address level = 1; level < 8; ++level) {
    const Address list = leaf + level * 0x1000;
    Put(list, {1, type, 10, list + 0x100, 10});
    Put(list + 0x100, std::vector<uint64_t>(10, inner));
    inner = list;
  }
  const uint64_t before = memory_.calls();
  const Repr repr = Of(inner);
  EXPECT_LT(repr.text.size(), 500u);
  EXPECT_TRUE(repr.cut);
  EXPECT_LT(memory_.calls() - before, 1000u);
}

TEST_F(MadeUp, AListThatShrinksKeepsWhatWasThere) {
  const Address list = 0x300000, number = 0x301000;
  Put(number, {1, Type("int", 1 << 24), 1 << 3, 5});
  Put(list, {1, Type("list"), 2, list + 0x100, 4});
  Put(list + 0x100, {number, 0});
  EXPECT_EQ(Of(list).text, "[5, <unreadable>]");
}

}  // namespace
}  // namespace linescope
