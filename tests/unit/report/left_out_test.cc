#include "report/left_out.h"

#include <gmock/gmock.h>

#include "unit/report/fake_profile.h"

namespace linescope {
namespace {

using ::linescope::testing::FakeProfile;
using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

// By the path of a library that a project's line calls, for 1 ms.
std::vector<LeftOut> Called(const std::vector<std::string>& paths, const RunInfo& run = {},
                            size_t most = 40) {
  FakeProfile profile;
  const FunctionId main = profile.AddFunction("/p/app.py", "main", 1);
  for (const std::string& path : paths) {
    const FunctionId library = profile.AddFunction(path, "f", 1, false);
    profile.AddSamples(0, profile.AddStack({{main, 2}, {library, 3}}), 1);
  }
  return LeftOutCode(profile.Load(Weight::kWall).value(), run, most);
}

TEST(LeftOut, SaysWhatAndWhy) {
  RunInfo run;
  run.project_root = "/p";
  run.excludes = {"tests/", "app.vendor"};
  const std::vector<std::tuple<std::string, std::string, LeftOutReason>> cases = {
      {"/v/lib/python3.13/site-packages/numpy/linalg/_linalg.py", "numpy",
       LeftOutReason::kInstalled},
      {"/usr/lib/python3/dist-packages/six.py", "six", LeftOutReason::kInstalled},
      {"/usr/lib/python3.11/json/decoder.py", "json", LeftOutReason::kStandardLibrary},
      {"/opt/lib/python3.14t/threading.py", "threading", LeftOutReason::kStandardLibrary},
      {"/usr/lib64/python3.9/re.py", "re", LeftOutReason::kStandardLibrary},
      {"/x/python311.zip/os.py", "os", LeftOutReason::kStandardLibrary},
      {"<frozen importlib._bootstrap>", "<frozen importlib>", LeftOutReason::kNoFile},
      {"", "", LeftOutReason::kNoFile},
      {"/p/tests/test_a.py", "tests/", LeftOutReason::kExcluded},
      {"/p/app/vendor/six.py", "app.vendor", LeftOutReason::kExcluded},
      {"/srv/app.zip/tools.py", "/srv/app.zip/", LeftOutReason::kOutside},
      {"/srv/shared/tools.py", "/srv/shared/", LeftOutReason::kOutside},
      {"/usr/library/tools.py", "/usr/library/", LeftOutReason::kOutside},
  };
  for (const auto& [path, name, reason] : cases)
    EXPECT_THAT(Called({path}, run),
                ElementsAre(FieldsAre(name, reason, 1, Cost{1, testing::kMs, testing::kMs})))
        << path;
}

TEST(LeftOut, GroupsByFallingTimeWithTheRestLast) {
  const std::string packages = "/v/lib/python3.13/site-packages/";
  const std::vector<LeftOut> all = Called({packages + "a/x.py", packages + "a/y.py",
                                           packages + "b.py", packages + "c.py", packages + "d.py"},
                                          {}, 2);
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].files, 2);
  EXPECT_EQ(all[0].cost.samples, 2);
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[2].reason, LeftOutReason::kRest);
  EXPECT_EQ(all[2].files, 2);
  EXPECT_EQ(all[2].cost.samples, 2);
}

TEST(LeftOut, AddsUpWithWhatIsShown) {
  FakeProfile profile;
  testing::FillDemo(profile);
  const Profile loaded = profile.Load(Weight::kWall).value();
  Cost sum = loaded.without_frames;
  for (const LeftOut& each : LeftOutCode(loaded, profile.run())) sum += each.cost;
  for (const FileStats& file : loaded.files) {
    if (file.in_project) sum += file.self;
  }
  EXPECT_EQ(sum, loaded.total);
}

TEST(LeftOut, TheProjectIsNotLeftOut) { EXPECT_THAT(Called({}), IsEmpty()); }

}  // namespace
}  // namespace linescope
