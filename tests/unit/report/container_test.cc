#include "report/container.h"

#include <gmock/gmock.h>

#include "report/report_data.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;

TEST(Container, IsTheBytesOfTheFormat) {
  ContainerBuilder builder;
  const std::vector<uint8_t> small = {1, 2, 3};
  const std::vector<uint32_t> words = {0x01020304};
  builder.Add("a", std::span(small));
  builder.Add("bb", std::span(words));
  const std::string header = R"({"a":["u8",0,3],"bb":["u32",8,1]})";
  std::string expected("\x24\0\0\0", 4);  // 33 characters and 3 spaces
  expected += header + "   ";
  expected += std::string("\1\2\3\0\0\0\0\0", 8) + std::string("\4\3\2\1\0\0\0\0", 8);
  EXPECT_EQ(builder.Build(), expected);
}

TEST(Container, IsReadBack) {
  ContainerBuilder builder;
  const std::vector<double> numbers = {0.5, -1, 9e15};
  builder.Add("n", std::span(numbers));
  StringColumn strings;
  for (const char* text : {"", "é", "a\nb"}) strings.Push(text);
  strings.AddTo(builder, "s");
  VarintColumn varints;
  for (const uint32_t value : {0u, 127u, 128u}) varints.Push(value);
  varints.EndGroup();
  varints.EndGroup();
  varints.Push(UINT32_MAX);
  varints.EndGroup();
  varints.AddTo(builder, "v");

  const ReportContainer container = ReportContainer::Parse(builder.Build()).value();
  EXPECT_THAT(container.F64("n"), ElementsAre(0.5, -1, 9e15));
  EXPECT_EQ(container.StringAt("s", 0), "");
  EXPECT_EQ(container.StringAt("s", 1), "é");
  EXPECT_EQ(container.StringAt("s", 2), "a\nb");
  EXPECT_EQ(container.StringAt("s", 3), "");
  EXPECT_THAT(container.VarintsAt("v", 0).value(), ElementsAre(0, 127, 128));
  EXPECT_THAT(container.VarintsAt("v", 1).value(), ElementsAre());
  EXPECT_THAT(container.VarintsAt("v", 2).value(), ElementsAre(UINT32_MAX));
  EXPECT_TRUE(container.U32("n").empty());  // another type
}

TEST(Container, RefusesDamage) {
  const auto parse = [](std::string header, std::string data) {
    header.append((8 - (4 + header.size()) % 8) % 8, ' ');
    std::string bytes(4, '\0');
    bytes[0] = static_cast<char>(header.size());
    return ReportContainer::Parse(bytes + header + data);
  };
  EXPECT_TRUE(parse(R"({"a":["u8",0,8]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["u8",0,9]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["f64",0,2305843009213693953]})", "12345678"));  // count * 8 wraps
  EXPECT_FALSE(parse(R"({"a":["u8",16,0]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["u8",1,1]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["u16",0,1]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["u8",0]})", "12345678"));
  EXPECT_FALSE(parse(R"({"a":["u8",-8,1]})", "12345678"));
  EXPECT_FALSE(parse(R"([])", "12345678"));
  EXPECT_FALSE(parse(R"({"a":)", "12345678"));
  EXPECT_FALSE(ReportContainer::Parse("ab"));
  EXPECT_FALSE(ReportContainer::Parse(std::string("\xff\xff\xff\xff{}", 6)));
}

TEST(Container, RefusesCutNumbers) {
  ContainerBuilder builder;
  const std::vector<uint8_t> bytes = {0x80, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F};
  const std::vector<uint32_t> start = {0, 2, 7, 9};
  builder.Add("v", std::span(bytes));
  builder.Add("v_start", std::span(start));
  const ReportContainer container = ReportContainer::Parse(builder.Build()).value();
  EXPECT_FALSE(container.VarintsAt("v", 0));                 // ends in the middle of a number
  EXPECT_FALSE(container.VarintsAt("v", 1));                 // 35 bits
  EXPECT_TRUE(container.VarintsAt("v", 2).value().empty());  // outside of the bytes
}

}  // namespace
}  // namespace linescope
