#include "export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <map>

#include "export/places.h"
#include "report/encoding.h"
#include "source/text.h"
#include "unit/report/fake_profile.h"

namespace linescope {
namespace {

using testing::FakeProfile;
using ::testing::HasSubstr;
using testing::kMs;
using ::testing::Not;
using ::testing::StartsWith;

// Names that mean something in one of the formats.
const std::string kHostile =
    "</script><!--]]>\"'&;\n=cmd|' /C calc'!A0\t\\ fn=(1) x\n\x1b[31m\xff\xe2\x80\xae\xed\xa0\x80";

void FillHostile(FakeProfile& fake) {
  fake.mutable_run().title = kHostile;
  fake.mutable_run().command = {kHostile};
  fake.AddThread(kHostile);
  const FunctionId outer = fake.AddFunction("=" + kHostile, kHostile, 1);
  const FunctionId inner = fake.AddFunction(kHostile, "(" + kHostile, -5, false);
  fake.AddSamples(0, fake.AddStack({{outer, 3}, {inner, 0}, {outer, 3}}), 7);
  fake.AddSamples(50 * kMs, fake.AddStack({{outer, 4}}), 2, ThreadState::kWaiting, 1);
  fake.AddSource("=" + kHostile, "@decorator\n=1+1\n" + kHostile + "\n");
}

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override { FillDemo(fake_); }

  Profile Load(FakeProfile& fake) { return *fake.Load(); }
  std::string Text(FakeProfile& fake, ExportFormat format, const ExportOptions& options = {}) {
    auto text = ExportText(fake, Load(fake), format, options);
    EXPECT_TRUE(text) << text.error().what;
    return text.value_or("");
  }

  FakeProfile fake_;
  simdjson::dom::parser parser_;
};

int64_t Number(simdjson::simdjson_result<simdjson::dom::element> value) {
  return static_cast<int64_t>(double(value));
}

TEST_F(ExportTest, LayOutKeepsTimeAndNesting) {
  const Profile profile = Load(fake_);
  const auto slices = LayOutSlices(fake_, profile);
  ASSERT_TRUE(slices);
  ASSERT_EQ(slices->size(), 1u);
  int64_t sum = 0, end = 0;
  for (const Slice& slice : (*slices)[0]) {
    EXPECT_GE(slice.start_ns, end);
    end = slice.start_ns + slice.duration_ns;
    sum += slice.duration_ns;
  }
  EXPECT_EQ(sum, profile.Time(profile.total));
  // The samples of 500 ms begin there, those of one bucket stand side by side.
  EXPECT_EQ((*slices)[0][0].start_ns, 0);
  EXPECT_EQ((*slices)[0][1].start_ns, 100 * kMs);
  EXPECT_EQ((*slices)[0][2].start_ns, 110 * kMs);
  EXPECT_EQ((*slices)[0][3].start_ns, 500 * kMs);

  const Places places = CollectPlaces(profile);
  std::vector<uint32_t> open;
  int64_t at = 0;
  for (const FrameEvent& event : FrameEvents(profile.stacks, places, (*slices)[0])) {
    EXPECT_GE(event.at_ns, at);
    at = event.at_ns;
    if (event.open) {
      open.push_back(event.place);
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back(), event.place);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST_F(ExportTest, WhatTakesLongerThanItsBucketComesLater) {
  FakeProfile fake;
  const FunctionId f = fake.AddFunction("/p/a.py", "f", 1);
  fake.AddSamples(0, fake.AddStack({{f, 1}}), 25);
  fake.AddSamples(10 * kMs, fake.AddStack({{f, 2}}), 5);
  const auto slices = LayOutSlices(fake, Load(fake));
  ASSERT_TRUE(slices);
  EXPECT_EQ((*slices)[0][1].start_ns, 25 * kMs);
}

TEST_F(ExportTest, SpeedscopeTotalsAreTheProfiles) {
  const std::string text = Text(fake_, ExportFormat::kSpeedscope);
  simdjson::dom::element root = parser_.parse(text);
  int64_t total = 0, open_at = 0;
  size_t depth = 0;
  for (const auto profile : root["profiles"].get_array()) {
    for (const auto event : profile["events"].get_array()) {
      const bool open = std::string_view(event["type"]) == "O";
      if (open && depth++ == 0) open_at = Number(event["at"]);
      if (!open && --depth == 0) total += Number(event["at"]) - open_at;
    }
  }
  EXPECT_EQ(total, 100 * kMs);
  EXPECT_EQ(std::string_view(root["profiles"].at(0)["name"]), "thread MainThread (100)");
}

TEST_F(ExportTest, ChromeTraceTotalsAreTheProfiles) {
  const std::string text = Text(fake_, ExportFormat::kChromeTrace);
  simdjson::dom::element root = parser_.parse(text);
  double total = 0, open_at = 0;
  size_t depth = 0;
  for (const auto event : root["traceEvents"].get_array()) {
    const std::string_view phase = event["ph"];
    if (phase == "B" && depth++ == 0) open_at = double(event["ts"]);
    if (phase == "E" && --depth == 0) total += double(event["ts"]) - open_at;
  }
  EXPECT_DOUBLE_EQ(total * 1000, 100 * kMs);
}

TEST_F(ExportTest, FirefoxTablesFitTogether) {
  const std::string text = Text(fake_, ExportFormat::kFirefox);
  simdjson::dom::element root = parser_.parse(text);
  const auto shared = root["shared"];
  const auto rows = [](simdjson::simdjson_result<simdjson::dom::element> table) {
    const int64_t length = table["length"];
    for (const auto& [name, column] : table.get_object()) {
      if (column.is_array()) {
        EXPECT_TRUE(static_cast<int64_t>(column.get_array().size()) == length ||
                    column.get_array().size() == 0)
            << name;
      }
    }
    return length;
  };
  const int64_t frames = rows(shared["frameTable"]), functions = rows(shared["funcTable"]);
  const int64_t stacks = rows(shared["stackTable"]), sources = rows(shared["sources"]);
  const auto strings = static_cast<int64_t>(shared["stringArray"].get_array().size());
  for (const auto frame : shared["stackTable"]["frame"].get_array())
    EXPECT_LT(int64_t(frame), frames);
  int64_t row = 0;
  for (const auto prefix : shared["stackTable"]["prefix"].get_array()) {
    if (!prefix.is_null()) {
      EXPECT_LT(int64_t(prefix), row);
    }
    ++row;
  }
  for (const auto function : shared["frameTable"]["func"].get_array())
    EXPECT_LT(int64_t(function), functions);
  for (const auto name : shared["funcTable"]["name"].get_array()) EXPECT_LT(int64_t(name), strings);
  for (const auto source : shared["funcTable"]["source"].get_array()) {
    if (!source.is_null()) {
      EXPECT_LT(int64_t(source), sources);
    }
  }
  double total = 0;
  for (const auto thread : root["threads"].get_array()) {
    rows(thread["samples"]);
    for (const auto stack : thread["samples"]["stack"].get_array())
      EXPECT_LT(int64_t(stack), stacks);
    for (const auto weight : thread["samples"]["weight"].get_array()) total += double(weight);
  }
  EXPECT_DOUBLE_EQ(total, 100);
}

TEST_F(ExportTest, CallgrindTotalsAndCalls) {
  const std::string text = Text(fake_, ExportFormat::kCallgrind);
  EXPECT_THAT(text, StartsWith("# callgrind format\nversion: 1\ncreator: LineScope 0.1.0\n"));
  EXPECT_THAT(text, HasSubstr("\nsummary: 100000000 100\n"));
  EXPECT_THAT(text, HasSubstr("\ntotals: 100000000 100\n"));
  // work calls helper from line 6: 30 ms with what that calls.
  EXPECT_THAT(text, HasSubstr("calls=1 11\n6 30000000 30\n"));
  EXPECT_THAT(text, HasSubstr("[no Python code]\n0 5000000 5\n"));
  // Self costs add up to the whole.
  int64_t self = 0;
  bool call = false;
  for (size_t at = text.find("\n\n"); at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("calls=")) {
      call = true;
    } else if (!line.empty() && line[0] >= '0' && line[0] <= '9') {
      if (!call) self += std::stoll(line.substr(line.find(' ')));
      call = false;
    }
  }
  EXPECT_EQ(self, 100 * kMs);
}

// `(1) ` without a name would be a reference to a name that is not there.
TEST_F(ExportTest, CallgrindHasANameForEveryFunction) {
  FakeProfile fake;
  for (const char* name : {"", " ", "\n"}) {
    const FunctionId f = fake.AddFunction(name, name, 1);
    fake.AddSamples(0, fake.AddStack({{f, 2}, {f, 3}}), 10);
  }
  const std::string text = Text(fake, ExportFormat::kCallgrind);
  EXPECT_THAT(text, HasSubstr("fl=(1) ???\nfn=(1) ???\n"));
}
TEST_F(ExportTest, CallgrindCountsRecursionOnce) {
  FakeProfile fake;
  const FunctionId f = fake.AddFunction("/p/a.py", "f", 1);
  fake.AddSamples(0, fake.AddStack({{f, 2}, {f, 2}, {f, 2}, {f, 3}}), 10);
  EXPECT_THAT(Text(fake, ExportFormat::kCallgrind), HasSubstr("calls=1 1\n2 10000000 10\n"));
}

// Enough of protocol buffers to read one message back.
std::multimap<int, std::string> Fields(std::string_view bytes) {
  std::multimap<int, std::string> fields;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      bytes.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (!bytes.empty()) {
    const uint64_t key = varint();
    if ((key & 7) == 0) {
      fields.emplace(key >> 3, std::to_string(varint()));
    } else {
      const uint64_t size = varint();
      fields.emplace(key >> 3, std::string(bytes.substr(0, size)));
      bytes.remove_prefix(std::min<size_t>(size, bytes.size()));
    }
  }
  return fields;
}

TEST_F(ExportTest, PprofHoldsSamplesAndTime) {
  const auto message = Gunzip(Text(fake_, ExportFormat::kPprof), 1 << 20);
  ASSERT_TRUE(message);
  const auto fields = Fields(*message);
  EXPECT_EQ(fields.count(1), 2u);
  EXPECT_EQ(fields.count(2), 5u);  // stacks × states
  std::vector<std::string> strings;
  for (auto [at, end] = fields.equal_range(6); at != end; ++at) strings.push_back(at->second);
  EXPECT_EQ(strings[0], "");
  EXPECT_THAT(strings, ::testing::IsSupersetOf({"wall", "nanoseconds", "helper", "MainThread",
                                                "[no Python code]", "gil wait"}));
  EXPECT_EQ(fields.find(10)->second, std::to_string(1000 * kMs));
}

TEST_F(ExportTest, JsonAddsUp) {
  const std::string text = Text(fake_, ExportFormat::kJson);
  simdjson::dom::element root = parser_.parse(text);
  EXPECT_EQ(int64_t(root["totals"]["all"]["time_ns"]), 100 * kMs);
  int64_t wall = 0;
  for (const auto value : root["samples"]["wall_ns"].get_array()) wall += int64_t(value);
  EXPECT_EQ(wall, 100 * kMs);
  EXPECT_TRUE(root["run"]["error"].is_null());
}

TEST_F(ExportTest, CsvRowsAreTheLines) {
  const std::string text = Text(fake_, ExportFormat::kCsv);
  EXPECT_THAT(text,
              HasSubstr("\r\n/p/demo.py,5,1,60000000,0.600000,60,60000000,60,60000000,60,'+ len"
                        "('😀'))\r\n"));
}

TEST_F(ExportTest, SvgIsWholeAndInert) {
  const std::string svg = Text(fake_, ExportFormat::kSvg);
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("100 ms"));
  EXPECT_THAT(svg,
              HasSubstr("<title>helper\n/p/demo.py:11\n30.0 ms, 30.0% of all, 30 samples</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST_F(ExportTest, SplitsByThreadAndProcess) {
  FakeProfile fake;
  const ThreadId other = fake.AddThread("worker");
  const FunctionId f = fake.AddFunction("/p/a.py", "f", 1);
  fake.AddSamples(0, fake.AddStack({{f, 1}}), 3);
  fake.AddSamples(0, fake.AddStack({{f, 1}}), 4, ThreadState::kRunning, other);
  EXPECT_EQ(Text(fake, ExportFormat::kCollapsed), "/p/a.py:f:1 7\n");
  EXPECT_EQ(Text(fake, ExportFormat::kCollapsed, {.split = StackSplit::kThread}),
            "thread MainThread (100);/p/a.py:f:1 3\nthread worker (101);/p/a.py:f:1 4\n");
  EXPECT_EQ(Text(fake, ExportFormat::kCollapsed, {.split = StackSplit::kProcess}),
            "process 100;/p/a.py:f:1 7\n");
}

TEST_F(ExportTest, HostileNamesStayNames) {
  FakeProfile fake;
  FillHostile(fake);
  for (const ExportFormat format : {ExportFormat::kSpeedscope, ExportFormat::kFirefox,
                                    ExportFormat::kChromeTrace, ExportFormat::kJson}) {
    const std::string text = Text(fake, format);
    EXPECT_EQ(parser_.parse(text).error(), simdjson::SUCCESS);
    EXPECT_THAT(text, Not(HasSubstr("</script")));
  }
  const std::string callgrind = Text(fake, ExportFormat::kCallgrind);
  for (size_t at = 0; at < callgrind.size();) {
    const size_t end = callgrind.find('\n', at);
    const std::string line = callgrind.substr(at, end - at);
    at = end + 1;
    EXPECT_TRUE(line.empty() || line.find_first_not_of("0123456789 ") == std::string::npos ||
                line.find_first_of("=:#") != std::string::npos)
        << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(callgrind, HasSubstr("\ntotals: 9000000 9\n"));

  const std::string csv = Text(fake, ExportFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("\r\n\"'=</script>"));
  EXPECT_THAT(csv, Not(HasSubstr(",=")));

  const std::string svg = Text(fake, ExportFormat::kSvg, {.split = StackSplit::kThread});
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("</script")));
  EXPECT_THAT(svg, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  std::string valid = svg;
  EXPECT_EQ(MakeValidUtf8(valid), 0u);

  const std::string collapsed = Text(fake, ExportFormat::kCollapsed);
  EXPECT_EQ(std::ranges::count(collapsed, '\n'), 2);
}

TEST_F(ExportTest, AProfileWithoutSamples) {
  FakeProfile fake;
  for (const ExportFormat format :
       {ExportFormat::kSpeedscope, ExportFormat::kPprof, ExportFormat::kFirefox,
        ExportFormat::kChromeTrace, ExportFormat::kCallgrind, ExportFormat::kJson,
        ExportFormat::kCsv, ExportFormat::kSvg})
    EXPECT_NE(Text(fake, format), "");
}

}  // namespace
}  // namespace linescope
