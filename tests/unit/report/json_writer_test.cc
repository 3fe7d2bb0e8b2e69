#include "report/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace linescope {
namespace {

std::string Quoted(std::string_view text) { return std::move(JsonWriter().String(text)).Take(); }

TEST(JsonWriter, PutsCommasBetweenValuesOnly) {
  JsonWriter json;
  json.BeginObject();
  json.Field("a", 1).Key("b").BeginArray().BeginArray().EndArray().Null().EndArray();
  json.Field("c", true).List("d", std::vector<int>{1, 2}).EndObject();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[[],null],"c":true,"d":[1,2]})");
}

TEST(JsonWriter, WritesAbsentAndEndlessNumbersAsNull) {
  JsonWriter json;
  json.BeginArray().Value(std::optional<int64_t>()).Value(std::optional<int64_t>(7));
  json.Double(std::numeric_limits<double>::quiet_NaN());
  json.Double(std::numeric_limits<double>::infinity()).EndArray();
  EXPECT_EQ(json.text(), "[null,7,null,null]");
}

TEST(JsonWriter, WritesNumbersInOneForm) {
  JsonWriter json;
  json.BeginArray().Double(0.1).Double(-0.0).Double(1000).Double(997.25);
  json.Int(std::numeric_limits<int64_t>::min()).Uint(UINT64_MAX).EndArray();
  EXPECT_EQ(json.text(), "[0.1,0,1000,997.25,-9223372036854775808,18446744073709551615]");
}

TEST(JsonWriter, EscapesWhatCouldLeaveAScriptElement) {
  EXPECT_EQ(Quoted("</script><!--&"), R"("\u003c/script\u003e\u003c!--\u0026")");
  EXPECT_EQ(Quoted("a\u2028b\u2029c"), R"("a\u2028b\u2029c")");
  EXPECT_EQ(Quoted("…\u2027"), "\"…\u2027\"");  // neighbours of U+2028 stay
}

TEST(JsonWriter, EscapesControlCharactersAndQuotes) {
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\"\\\n\t\r\x7f", 8)),
            R"("\u0000\u001f\"\\\n\t\r\u007f")");
}

TEST(JsonWriter, MakesTextValid) {
  EXPECT_EQ(Quoted("a\xff"), "\"a\uFFFD\"");
  EXPECT_EQ(Quoted("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");  // a lone surrogate
  EXPECT_EQ(Quoted("😀"), "\"😀\"");
}

}  // namespace
}  // namespace linescope
