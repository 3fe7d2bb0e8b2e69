#include "python/object_reader.h"

#include <gmock/gmock.h>

#include "process/fake_memory.h"
#include "unit/python/fake_python.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

class ObjectReaderTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  FakePython python_{GetParam()};
  ObjectReader objects_{&python_.memory(), GetParam()};
};

TEST_P(ObjectReaderTest, ReadsStringsOfEveryWidth) {
  EXPECT_THAT(objects_.Str(python_.Ascii("")), Optional(std::string()));
  EXPECT_THAT(objects_.Str(python_.Ascii("plain")), Optional(std::string("plain")));
  EXPECT_THAT(objects_.Str(python_.Text(u8"na\u00efve \u00ff", 1)),
              Optional(std::string("na\u00efve \u00ff")));
  EXPECT_THAT(objects_.Str(python_.Text(u8"\u0436\u6f22\u0800\uffff", 2)),
              Optional(std::string("\u0436\u6f22\u0800\uffff")));
  EXPECT_THAT(objects_.Str(python_.Text(u8"\U0001f680 \U0010ffff a", 4)),
              Optional(std::string("\U0001f680 \U0010ffff a")));
  const std::string long_text(100'000, 'x');
  EXPECT_THAT(objects_.Str(python_.Ascii(long_text)), Optional(long_text));
}

TEST_P(ObjectReaderTest, ReplacesWhatIsNoCharacter) {
  const std::u32string text = {0xd800, 'a', 0xdfff};
  EXPECT_THAT(objects_.Str(python_.Characters(text, 2)), Optional(std::string("\ufffda\ufffd")));
  EXPECT_THAT(objects_.Str(python_.Characters({0x110000}, 4)), Optional(std::string("\ufffd")));
}

TEST_P(ObjectReaderTest, PathsKeepTheBytesThatAreNoText) {
  const auto escaped =
      python_.Characters({'/', 0xdce9, 0x6f22, 0xdc80, 0xdcff, 0xdc7f, 0xdd00, 0xd800}, 2);
  EXPECT_THAT(objects_.Path(escaped),
              Optional(std::string("/\xe9\u6f22\x80\xff\ufffd\ufffd\ufffd")));
  EXPECT_THAT(objects_.Path(python_.Ascii("/plain.py")), Optional(std::string("/plain.py")));
}

TEST_P(ObjectReaderTest, RefusesWhatIsNoString) {
  EXPECT_EQ(objects_.Str(0), std::nullopt);
  EXPECT_EQ(objects_.Str(0x1234560), std::nullopt);  // unmapped
  const layout::Objects& at = GetParam()->objects;
  const Address absurd = python_.Ascii("text");
  for (const uint64_t length : {uint64_t{1} << 40, UINT64_MAX, uint64_t{1} << 62}) {
    python_.memory().Put(absurd + at.str_length, length);
    EXPECT_EQ(objects_.Str(absurd), std::nullopt) << length;
  }
  python_.memory().Put(absurd + at.str_length, uint64_t{100'000});  // longer than what is mapped
  EXPECT_EQ(objects_.Str(absurd), std::nullopt);
  const Address bad = python_.Ascii("text");
  for (const uint32_t state : {0u, 0x40u, 0x20u, 0x20u | 3 << 2, 0x60u | 2 << 2}) {
    python_.memory().Put(bad + at.str_state, state);
    EXPECT_EQ(objects_.Str(bad), std::nullopt) << state;
  }
}

TEST_P(ObjectReaderTest, ReadsBytes) {
  EXPECT_THAT(objects_.Bytes(python_.Bytes({})), Optional(ElementsAre()));
  EXPECT_THAT(objects_.Bytes(python_.Bytes({0, 255, 7})), Optional(ElementsAre(0, 255, 7)));
  EXPECT_EQ(objects_.Bytes(0), std::nullopt);
  const Address absurd = python_.Bytes({1});
  for (const uint64_t size : {uint64_t{1} << 31, UINT64_MAX, uint64_t{4096}}) {
    python_.memory().Put(absurd + GetParam()->objects.var_size, size);
    EXPECT_EQ(objects_.Bytes(absurd), std::nullopt) << size;
  }
}

TEST_P(ObjectReaderTest, NamesTypes) {
  EXPECT_THAT(objects_.TypeName(python_.Object("module.Class")),
              Optional(std::string("module.Class")));
  // The name ends with the mapped memory.
  const Address type = python_.Allocate(512);
  python_.memory().Put(type + GetParam()->objects.type_name, Address{0x500000 + 4096 - 3});
  python_.memory().Write(0x500000 + 4096 - 3, std::string_view("ab\0", 3));
  const Address object = python_.Allocate(64);
  python_.memory().Put(object + GetParam()->objects.type, type);
  EXPECT_THAT(objects_.TypeName(object), Optional(std::string("ab")));
  EXPECT_EQ(objects_.TypeName(0), std::nullopt);
  EXPECT_EQ(objects_.TypeName(0x1234560), std::nullopt);
}

TEST_P(ObjectReaderTest, FailsWhenTheProcessIsGone) {
  const Address text = python_.Ascii("text"), object = python_.Object("int");
  python_.memory().FailWith(ESRCH);
  EXPECT_EQ(objects_.Str(text), std::nullopt);
  EXPECT_EQ(objects_.Bytes(text), std::nullopt);
  EXPECT_EQ(objects_.TypeName(object), std::nullopt);
  EXPECT_EQ(objects_.Word(text), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Python, ObjectReaderTest, EachTable(), TableName);

}  // namespace
}  // namespace linescope
