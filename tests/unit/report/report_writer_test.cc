#include "report/report_writer.h"

#include <gmock/gmock.h>
#include <simdjson.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "report/assets.h"
#include "report/chunks.h"
#include "report/encoding.h"
#include "report/report_data.h"
#include "unit/report/fake_profile.h"
#include "unit/report/html_scan.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::linescope::testing::FakeProfile;
using ::linescope::testing::FillDemo;
using ::linescope::testing::HtmlTag;
using ::linescope::testing::kMs;
using ::linescope::testing::ScanHtml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string Html(FakeProfile& profile) { return ReportHtml(BuildModel(profile).value()).value(); }

std::string DemoHtml() {
  FakeProfile profile;
  FillDemo(profile);
  return Html(profile);
}

// A written report's index, parsed.
class Index {
 public:
  explicit Index(const ReportData& data) : root_(parser_.parse(data.index()).value()) {}
  simdjson::dom::element At(std::string_view pointer) const {
    return root_.at_pointer(pointer).value();
  }
  int64_t Int(std::string_view pointer) const { return At(pointer).get_int64().value(); }
  std::string Text(std::string_view pointer) const {
    return std::string(At(pointer).get_string().value());
  }
  bool IsNull(std::string_view pointer) const { return At(pointer).is_null(); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

TEST(Report, IsTheModelReadBack) {
  FakeProfile profile;
  FillDemo(profile);
  const ReportModel model = BuildModel(profile).value();
  const ReportData data = ReportData::Parse(ReportHtml(model).value()).value();
  const Index index(data);
  EXPECT_EQ(index.Int("/totals/time"), model.totals.all.time_ns);
  EXPECT_EQ(index.Int("/totals/outside_time"), 5 * kMs);
  EXPECT_EQ(index.Int("/totals/no_python_samples"), 5);
  EXPECT_EQ(index.Int("/totals/max_line_time"), 60 * kMs);
  EXPECT_EQ(index.Int("/totals/max_line_total"), 90 * kMs);
  EXPECT_EQ(index.Int("/totals/max_function_time"), 60 * kMs);
  EXPECT_EQ(index.Int("/ticks/missed"), 10);
  EXPECT_EQ(index.Int("/run/started_unix_ms"), 1'795'780'000'123);
  EXPECT_EQ(index.Text("/run/status/kind"), "success");
  EXPECT_EQ(index.Text("/files/path/0"), "/p/demo.py");
  EXPECT_EQ(index.Int("/files/lines/0"), 14);
  EXPECT_TRUE(index.IsNull("/files/lines/1"));
  EXPECT_TRUE(index.IsNull("/files/chunk/1"));
  EXPECT_TRUE(index.IsNull("/files/time/1"));
  EXPECT_EQ(index.Int("/files/samples/1"), 0);
  EXPECT_EQ(index.Text("/files/note/1"), "the file was deleted");
  EXPECT_EQ(index.Int("/timeline/line/0"), 5);
  EXPECT_TRUE(index.IsNull("/timeline/line/2"));
  EXPECT_EQ(index.Text("/hot/0/label"), "demo.py:4-5");
  EXPECT_EQ(index.Text("/token_classes/5"), "definition");

  ASSERT_EQ(index.Int("/chunks/functions"), 0);
  const ReportContainer functions = data.Chunk(0).value();
  EXPECT_EQ(index.Int("/functions"), 4);
  EXPECT_EQ(functions.StringAt("name", 1), "work");
  EXPECT_THAT(functions.U32("line"), ElementsAre(1, 3, 8, 11));
  EXPECT_THAT(functions.U32("last"), ElementsAre(0, 6, 9, 12));
  EXPECT_THAT(functions.U8("kind"), ElementsAre(5, 0, 1, 0));
  EXPECT_THAT(functions.F64("m.time"), ElementsAre(0, 60e6, 0, 30e6));
  EXPECT_THAT(functions.F64("m.samples"), ElementsAre(0, 60, 0, 30));
  EXPECT_THAT(functions.F64("m.total"), ElementsAre(90e6, 90e6, 0, 30e6));
  EXPECT_THAT(functions.U32("m.missing"), ElementsAre(1, 0, 5, 0));

  const ReportContainer sources = data.Chunk(1).value();
  EXPECT_EQ(index.Int("/files/chunk/0"), 1);
  EXPECT_THAT(sources.U32("file"), ElementsAre(0));
  EXPECT_EQ(sources.StringAt("text", 0), linescope::testing::kDemoSource);
  EXPECT_THAT(sources.U32("line"), ElementsAre(5, 6, 12, 14));
  EXPECT_THAT(sources.U32("line_start"), ElementsAre(0, 4));
  EXPECT_THAT(sources.F64("m.time"), ElementsAre(60e6, 0, 30e6, 0));
  EXPECT_THAT(sources.U32("m.missing"), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(sources.U32("def_line"), ElementsAre(3, 8, 11));
  EXPECT_THAT(sources.U32("def_function"), ElementsAre(1, 2, 3));
  EXPECT_THAT(sources.U32("def_column"), ElementsAre(4, 10, 4));
  EXPECT_THAT(sources.U32("def_length"), ElementsAre(4, 4, 6));
  EXPECT_THAT(sources.U32("stmt_first"), ElementsAre(1, 3, 4, 6, 8, 9, 11, 12, 14));
  EXPECT_THAT(sources.U32("stmt_last"), ElementsAre(1, 3, 5, 6, 8, 9, 11, 12, 14));

  EXPECT_EQ(index.Int("/calls/nodes"), 6);
  EXPECT_EQ(index.Int("/calls/cells"), 5);
  EXPECT_EQ(index.Int("/calls/bucket_width"), 10 * kMs);
  EXPECT_EQ(index.Int("/calls/time_unit"), 1);
  EXPECT_EQ(index.Text("/states/6/group"), "waiting");
  ASSERT_EQ(index.Int("/chunks/calls"), 2);
  ASSERT_EQ(index.Int("/chunks/samples/0"), 3);
  EXPECT_EQ(data.Chunk(2).value().StringAt("function_name", 1), "work");
  EXPECT_THAT(data.Chunk(3).value().WideVarintsAt("cell_count", 0).value(),
              ElementsAre(60, 10, 20, 5, 5));
}

// The token streams of a group as texts of the source that they cover.
std::vector<std::string> TokenTexts(const ReportContainer& sources, size_t group) {
  const std::string text(sources.StringAt("text", group));
  const auto gaps = sources.VarintsAt("token_gap", group).value();
  const auto lengths = sources.VarintsAt("token_length", group).value();
  EXPECT_EQ(gaps.size(), lengths.size());
  std::vector<std::string> texts;
  uint32_t at = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    const uint32_t begin = ByteColumn(text, at + gaps[i]);
    at += gaps[i] + lengths[i];
    texts.push_back(text.substr(begin, ByteColumn(text, at) - begin));
  }
  return texts;
}

TEST(Report, TokensCountInUtf16UnitsThroughTheWholeText) {
  FakeProfile profile;
  // BOM, CRLF, a character of two units, a combining one, an invalid byte, a lone CR, NUL.
  profile.AddSource("/p/a.py", "\xEF\xBB\xBF# 😀\r\nx = 'e\u0301\xff'\ry = 1\n'\0'\nz = 22"s);
  profile.AddSource("/p/b.py", "pass\n");
  const ReportData data = ReportData::Parse(Html(profile)).value();
  const ReportContainer sources = data.Chunk(0).value();
  EXPECT_EQ(sources.StringAt("text", 0), "# 😀\nx = 'e\u0301\uFFFD'\ny = 1\n'\0'\nz = 22"s);
  const std::vector<std::string> tokens = TokenTexts(sources, 0);
  ASSERT_GE(tokens.size(), 4u);  // how much of a string with a NUL is coloured is the parser's
  EXPECT_EQ(tokens[0], "# 😀");
  EXPECT_EQ(tokens[1], "'e\u0301\uFFFD'");
  EXPECT_EQ(tokens[2], "1");
  EXPECT_EQ(tokens.back(), "22");
  EXPECT_THAT(TokenTexts(sources, 1), ElementsAre("pass"));
  EXPECT_EQ(sources.U8("token_class").back(), 1);
  EXPECT_THAT(sources.U32("token_class_start"), ElementsAre(0, tokens.size(), tokens.size() + 1));
}

TEST(Report, SourcesSharePartsButAreNeverSplit) {
  FakeProfile profile;
  const std::string large = "x = '" + std::string(200'000, 'a') + "'\n";
  const std::string small = "y = '" + std::string(60'000, 'b') + "'\n";
  profile.AddSource("/p/a.py", small);
  profile.AddSource("/p/b.py", small);
  profile.AddSource("/p/c.py", large);
  profile.AddSource("/p/d.py", small);
  const ReportModel model = BuildModel(profile).value();
  const ReportChunks chunks = BuildChunks(model, 2);
  EXPECT_EQ(chunks.functions, std::nullopt);
  EXPECT_THAT(chunks.files, ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(BuildChunks(model, 1).text, chunks.text);
  const ReportData data = ReportData::Parse(ReportHtml(model).value()).value();
  EXPECT_EQ(data.chunk_count(), 3u);
  EXPECT_EQ(data.Chunk(1).value().StringAt("text", 0), large);
}

TEST(Report, IsTheSameForTheSameProfile) { EXPECT_EQ(DemoHtml(), DemoHtml()); }

TEST(Report, HasNothingInItWithoutSamples) {
  FakeProfile profile;
  profile.mutable_end().elapsed_ns = 3 * kMs;
  const std::string html = Html(profile);
  const ReportData data = ReportData::Parse(html).value();
  const Index index(data);
  EXPECT_EQ(data.chunk_count(), 0u);
  EXPECT_TRUE(index.IsNull("/timeline"));
  EXPECT_TRUE(index.IsNull("/chunks/functions"));
  EXPECT_TRUE(index.IsNull("/totals/max_line_time"));
  EXPECT_EQ(index.Int("/totals/time"), 0);
  EXPECT_THAT(html, HasSubstr("No samples fell on project lines."));
}

TEST(Report, SaysThatACutOffRunHasNoEnd) {
  FakeProfile profile;
  profile.mutable_end() = {};
  profile.mutable_end().state = ProfileState::kInterrupted;
  profile.mutable_end().ticks_known = false;
  const ReportData data = ReportData::Parse(Html(profile)).value();
  const Index index(data);
  EXPECT_EQ(index.Text("/run/status/kind"), "interrupted");
  for (const char* pointer : {"/run/elapsed", "/run/rate_reached", "/run/consistency_used",
                              "/ticks/due", "/ticks/missed"})
    EXPECT_TRUE(index.IsNull(pointer)) << pointer;
}

constexpr const char* kSummaryTags[] = {"h1",    "p",  "ul", "li",    "table", "caption",
                                        "thead", "tr", "th", "tbody", "td",    "pre"};

// Names of elements, without those of the summary in noscript, whose text is checked elsewhere.
std::vector<std::string> Skeleton(const std::vector<HtmlTag>& tags) {
  std::vector<std::string> names;
  for (const HtmlTag& tag : tags) {
    std::string name = tag.name;
    if (name[0] == '/') continue;
    if (std::ranges::find(kSummaryTags, name) != std::end(kSummaryTags)) continue;
    if (const auto id = tag.attributes.find("id"); id != tag.attributes.end())
      name += "#" + id->second;
    names.push_back(name);
  }
  return names;
}

TEST(Report, HasItsElementsInOrder) {
  EXPECT_THAT(
      Skeleton(ScanHtml(DemoHtml())),
      ElementsAre("!", "html", "head", "meta", "meta", "meta", "meta", "meta", "meta", "title",
                  "style", "body", "div#app", "noscript", "script#ls-index", "script",
                  "script#ls-c0", "script#ls-c1", "script#ls-c2", "script#ls-c3", "script#ls-c4"));
}

std::string PolicyOf(const std::string& html) {
  for (const HtmlTag& tag : ScanHtml(html)) {
    const auto equiv = tag.attributes.find("http-equiv");
    if (equiv != tag.attributes.end() && equiv->second == "Content-Security-Policy")
      return tag.attributes.at("content");
  }
  return "";
}

TEST(Report, ItsPolicyAllowsItsOwnScriptAndStyleOnly) {
  const std::string html = DemoHtml();
  std::vector<std::string> scripts, styles;
  for (const HtmlTag& tag : ScanHtml(html)) {
    if (tag.name == "script" && !tag.attributes.contains("type")) scripts.push_back(tag.raw_text);
    if (tag.name == "style") styles.push_back(tag.raw_text);
  }
  ASSERT_THAT(scripts, ElementsAre(std::string(BuiltInPage().script)));
  ASSERT_THAT(styles, ElementsAre(std::string(BuiltInPage().style)));
  EXPECT_EQ(PolicyOf(html),
            "default-src 'none'; script-src '" + CspHash(scripts[0]) + "'; style-src '" +
                CspHash(styles[0]) +
                "'; img-src data:; connect-src https: http://localhost:* http://127.0.0.1:*; "
                "base-uri 'none'; form-action 'none'");
}

TEST(Report, WithoutAiItConnectsToNothing) {
  FakeProfile profile;
  FillDemo(profile);
  const std::string html = ReportHtml(BuildModel(profile).value(), {.ai = false}).value();
  EXPECT_THAT(PolicyOf(html), HasSubstr("; connect-src 'none'; "));
}

// Text that tries to become markup, a template marker, or the end of something.
const std::string kHostile =
    std::string(
        "</script></noscript></title></pre><img src=x onerror=alert(1)><!--<script>{{INDEX:none}}"
        "{{#HOT}}{{%AUTOESCAPE}}\"'&lt;\u2028\u2029\u202E]]>\x1b[31m") +
    std::string("\0\xed\xa0\x80\xff", 5);

TEST(Report, KeepsHostileTextAsText) {
  FakeProfile profile;
  const std::string file = "/p/" + kHostile + ".py";
  profile.mutable_run().title = kHostile;
  profile.mutable_run().command = {kHostile, kHostile};
  profile.mutable_run().host = kHostile;
  profile.mutable_run().project_root = kHostile;
  profile.mutable_run().linescope_version = kHostile;
  profile.mutable_run().labels = {{kHostile, kHostile}};
  profile.mutable_end().error = kHostile;
  profile.mutable_processes()[0].python_version = kHostile;
  profile.mutable_processes()[0].command = {kHostile};
  profile.mutable_drops() = {{kHostile, 1}};
  profile.mutable_diagnostics() = {{kHostile, kHostile}};
  profile.AddSource(file, "x = '''" + kHostile + "'''\ndef f(): pass\n");
  profile.AddMissingSource(file + "2", kHostile);
  profile.AddThread(kHostile);
  const FunctionId function = profile.AddFunction(file, kHostile, 1);
  profile.AddSamples(0, profile.AddStack({{function, 1}}), 5);

  const std::string html = Html(profile);
  const std::vector<HtmlTag> tags = ScanHtml(html);
  EXPECT_THAT(
      Skeleton(tags),
      ElementsAre("!", "html", "head", "meta", "meta", "meta", "meta", "meta", "meta", "title",
                  "style", "body", "div#app", "noscript", "script#ls-index", "script",
                  "script#ls-c0", "script#ls-c1", "script#ls-c2", "script#ls-c3", "script#ls-c4"));
  for (const HtmlTag& tag : tags) {
    EXPECT_FALSE(tag.attributes.contains("onerror"));
    const bool is_app = tag.name == "script" && !tag.attributes.contains("type");
    if (is_app) {
      EXPECT_EQ(tag.raw_text, BuiltInPage().script);
    } else if (tag.name != "style") {
      EXPECT_THAT(tag.raw_text, Not(HasSubstr("<")));
    }
  }
  std::string valid = html;
  EXPECT_EQ(MakeValidUtf8(valid), 0u);
  EXPECT_EQ(html.find('\0'), std::string::npos);

  // Nothing was lost on the way: the texts come back, with invalid bytes replaced.
  std::string expected = kHostile;
  MakeValidUtf8(expected);
  const ReportData data = ReportData::Parse(html).value();
  const Index index(data);
  for (const char* pointer :
       {"/run/title", "/run/command/1", "/run/host", "/run/labels/0/1", "/run/status/text",
        "/scope/root", "/run/python", "/drops/0/reason", "/diagnostics/0/text", "/files/note/1",
        "/processes/0/command/0", "/threads/1/name"}) {
    EXPECT_EQ(index.Text(pointer), expected) << pointer;
  }
  EXPECT_EQ(index.Text("/files/path/0"), "/p/" + expected + ".py");
  const ReportContainer functions = data.Chunk(0).value();
  EXPECT_EQ(functions.StringAt("name", 0), expected);
  EXPECT_EQ(data.Chunk(1).value().StringAt("text", 0),
            "x = '''" + expected + "'''\ndef f(): pass\n");
  EXPECT_EQ(index.Text("/hot/0/text"), "x = '''" + expected + "'''");
}

TEST(Report, ItsSummaryNamesTheHottestLines) {
  const std::string html = DemoHtml();
  const size_t begin = html.find("<noscript>");
  const std::string summary = html.substr(begin, html.find("</noscript>") - begin);
  for (const char* text :
       {"Status: Success", "Command: demo.py --fast", "Elapsed: 1.00 s", "Samples: 100",
        "<td>60.0 ms</td><td>60.0%</td><td>60</td><td>demo.py:4-5</td>", "demo.py:12"}) {
    EXPECT_THAT(summary, HasSubstr(text));
  }
}

TEST(ReportData, TellsWhatIsMissingOfACutFile) {
  const std::string html = DemoHtml();
  const size_t last = html.find("id=\"ls-c2\"");
  const struct {
    size_t length;
    const char* text;
  } kCases[] = {
      {0, "this is not a LineScope report, or it is cut before its data"},
      {html.find("ls-index") + 200, "the report's index is damaged"},
      {html.find("id=\"ls-c0\"") + 20, "the report is incomplete: 0 of 5 parts are present"},
      {last - 20, "the report is incomplete: 2 of 5 parts are present"},
      {last + 50, "the report is incomplete: 2 of 5 parts are present"},
  };
  for (const auto& [length, text] : kCases) {
    const auto data = ReportData::Parse(html.substr(0, length));
    ASSERT_FALSE(data) << text;
    EXPECT_EQ(data.error().what, text);
    EXPECT_EQ(data.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ReportData, RefusesOtherFormats) {
  std::string html = DemoHtml();
  html.replace(html.find("\"format\":1"), 10, "\"format\":2");
  const auto data = ReportData::Parse(html);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::kUnsupported);
}

TEST(ReportData, FindsAFlippedByte) {
  std::string html = DemoHtml();
  char& c = html[html.find("id=\"ls-c1\">") + 60];
  c = c == 'A' ? 'B' : 'A';
  const ReportData data = ReportData::Parse(html).value();
  EXPECT_TRUE(data.Chunk(0));
  EXPECT_FALSE(data.Chunk(1));
  EXPECT_TRUE(data.Chunk(2));
  EXPECT_FALSE(data.Chunk(5));
}

class WriteReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    FillDemo(profile_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    return names;
  }

  fs::path folder_;
  FakeProfile profile_;
};

TEST_F(WriteReportTest, LeavesOneFile) {
  ASSERT_TRUE(WriteReport(profile_, folder_ / "r.html"));
  EXPECT_THAT(Names(), ElementsAre("r.html"));
  EXPECT_EQ(Read(folder_ / "r.html"), DemoHtml());
}

TEST_F(WriteReportTest, TakesAnotherTitle) {
  ASSERT_TRUE(WriteReport(profile_, folder_ / "r.html", {.title = "nightly <1>"}));
  EXPECT_THAT(Read(folder_ / "r.html"), HasSubstr("<title>nightly &lt;1&gt; – LineScope</title>"));
}

TEST_F(WriteReportTest, SaysWhereItCannotWrite) {
  const auto status = WriteReport(profile_, folder_ / "none" / "r.html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().what, HasSubstr("none/r.html"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WriteReportTest, LeavesNothingOnAFullDisk) {
  const auto status = WriteReport(profile_, "/dev/full");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace linescope
