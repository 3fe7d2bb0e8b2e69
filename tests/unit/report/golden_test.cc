// The whole way from a stored profile to the data in a report, against numbers that are known by
// construction (profile_fixture.h), and against tests/golden/report/index.txt, so that every change
// of the format is seen. LINESCOPE_UPDATE_GOLDEN=1 rewrites that file.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "profile/reader.h"
#include "report/report_data.h"
#include "report/report_writer.h"
#include "support/test_data.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// JSON with a line for each member of the outer three levels.
std::string OneMemberALine(const std::string& json) {
  std::string out;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == '}' || c == ']')) --depth;
    out += c;
    if (c == '\\') out += json[++i];  // an escape: its next character ends no string
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == ',' && depth <= 3) out += '\n' + std::string(2 * static_cast<size_t>(depth), ' ');
  }
  return out + "\n";
}

class StoredProfile : public ::testing::Test {
 protected:
  ReportData Data(const RunInfo& run = FixtureRun()) {
    EXPECT_TRUE(WriteFixture(folder_ / "run.linescope", run));
    auto reader = ProfileReader::Open(folder_ / "run.linescope").value();
    EXPECT_TRUE(WriteReport(*reader, folder_ / "run.html"));
    return ReportData::Parse(ReadFile(folder_ / "run.html")).value();
  }

  // Line numbers of app.py with their own time in samples of 10 ms.
  static std::map<uint32_t, double> LineTimes(const ReportContainer& sources) {
    std::map<uint32_t, double> times;
    for (size_t i = 0; i < sources.U32("line").size(); ++i) {
      if ((sources.U32("m.missing")[i] & 1) == 0)
        times[sources.U32("line")[i]] = sources.F64("m.time")[i] / 10e6;
    }
    return times;
  }

  TemporaryFolder folder_;
};

TEST_F(StoredProfile, GivesTheKnownLineTimes) {
  const ReportData data = Data();
  const ReportContainer sources = data.Chunk(1).value();
  EXPECT_EQ(sources.StringAt("text", 0), kAppSource);
  EXPECT_THAT(LineTimes(sources), ElementsAre(Pair(6, 30), Pair(7, 20), Pair(8, 10), Pair(12, 40),
                                              Pair(19, 100), Pair(28, 50)));
}

TEST_F(StoredProfile, GivesCpuTimeInModeCpu) {
  const ReportData data = Data(FixtureRun("cpu"));
  EXPECT_THAT(LineTimes(data.Chunk(1).value()),
              ElementsAre(Pair(6, 27), Pair(7, 18), Pair(8, 9), Pair(12, 36)));
}

TEST_F(StoredProfile, GivesTheGoldenIndex) {
  const std::filesystem::path golden = TestData("golden/report/index.txt");
  std::string index = Data().index();
  // The lengths of compressed parts are zlib's.
  const size_t lengths = index.find("\"length\":[");
  index.replace(lengths, index.find(']', lengths) + 1 - lengths, "\"length\":[]");
  const std::string actual = OneMemberALine(index);
  if (std::getenv("LINESCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << actual;
  EXPECT_EQ(actual, ReadFile(golden)) << "LINESCOPE_UPDATE_GOLDEN=1 rewrites " << golden;
}

}  // namespace
}  // namespace linescope
