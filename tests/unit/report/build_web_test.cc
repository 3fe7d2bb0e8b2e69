// BuildWeb.cmake, which guards what is put into every report.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/test_data.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

class BuildWeb : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::system("cmake --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "cmake is not in PATH";
  }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(folder_ / "from");
    std::ofstream(folder_ / "from" / name) << text;
  }

  // True when the page was taken.
  bool Take() {
    const std::string command =
        "cmake -D FROM=" + (folder_ / "from").string() + " -D DIST=" + (folder_ / "dist").string() +
        " -P " + TestData("../src/report/BuildWeb.cmake").string() + " > /dev/null 2>&1";
    return ::system(command.c_str()) == 0;
  }

  TemporaryFolder folder_;
};

TEST_F(BuildWeb, TakesAReadyPage) {
  Write("app.js", "let a = [1];\n if (a < 2) { b(';[') }\n");
  Write("app.css", "a { color: red }\n");
  ASSERT_TRUE(Take());
  for (const char* name : {"app.js", "app.css"})
    EXPECT_EQ(fs::file_size(folder_ / "dist" / name), fs::file_size(folder_ / "from" / name));
}

TEST_F(BuildWeb, RefusesAMissingFile) {
  Write("app.js", "1\n");
  EXPECT_FALSE(Take());
}

TEST_F(BuildWeb, RefusesMarkupThatWouldEndItsElement) {
  for (const char* text : {"'</script>'", "'</SCRIPT '", "'</style>'", "'<!--'"}) {
    Write("app.css", "a { color: red }\n");
    Write("app.js", text);
    EXPECT_FALSE(Take()) << text;
    EXPECT_FALSE(fs::exists(folder_ / "dist" / "app.js")) << text;
  }
}

}  // namespace
}  // namespace linescope
