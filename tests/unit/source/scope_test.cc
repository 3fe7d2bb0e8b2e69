#include "source/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "unit/source/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;
using enum ScopeVerdict;

class Scope : public ::testing::Test {
 protected:
  void SetUp() override { setenv("HOME", folder_.Path("home").c_str(), 1); }

  ProjectScope Make(ScopeOptions options) {
    if (options.working_directory.empty()) options.working_directory = folder_.Path("");
    auto scope = ProjectScope::Create(options);
    if (!scope) {
      ADD_FAILURE() << scope.error().what;
      abort();
    }
    return std::move(*scope);
  }

  ScopeVerdict Judge(ProjectScope& scope, const std::string& relative) {
    const std::string path = relative[0] == '/' ? relative : folder_.Path(relative);
    return scope.Judge({.file = path, .stdlib_dir = "/usr/lib/python3.11"});
  }

  TemporaryFolder folder_;
};

TEST_F(Scope, TakesTheNearestMarkerAboveTheScript) {
  for (const char* marker : {"pyproject.toml", "setup.cfg", "setup.py", ".git"}) {
    const TemporaryFolder folder;
    folder.Write(std::string("p/") + marker);
    folder.Write(".git");
    const std::string script = folder.Write("p/a/b/main.py");
    ProjectScope scope = Make({.script = script});
    EXPECT_EQ(scope.root(), folder.Path("p"));
    EXPECT_THAT(scope.Describe(), HasSubstr(std::string("the nearest folder with ") + marker));
  }
}

TEST_F(Scope, TakesTheScriptsFolderWithoutAMarker) {
  const std::string script = folder_.Write("p/main.py");
  ProjectScope scope = Make({.working_directory = folder_.Path("p"), .script = "./main.py"});
  // Folders above the temporary one may hold a marker of their own; none is expected.
  EXPECT_EQ(scope.root(), folder_.Path("p"));
  EXPECT_THAT(scope.Describe(), HasSubstr("the script's folder"));
  EXPECT_EQ(Judge(scope, script), kScript);
  EXPECT_EQ(Judge(scope, "p/other.py"), kUnderRoot);
  EXPECT_EQ(Judge(scope, "q/other.py"), kOutside);
  EXPECT_EQ(Judge(scope, "pq.py"), kOutside);
  EXPECT_EQ(scope.Judge({.file = "other.py"}), kUnderRoot);
  EXPECT_EQ(scope.Judge({.file = "other.py", .working_directory = folder_.Path("q")}), kOutside);
  EXPECT_EQ(scope.Judge({.file = "../p/./x//other.py"}), kUnderRoot);
}

TEST_F(Scope, TakesAFolderAsScript) {
  folder_.Write("app/__main__.py");
  ProjectScope scope = Make({.script = "app"});
  EXPECT_EQ(scope.root(), folder_.Path("app"));
  EXPECT_EQ(Judge(scope, "app/__main__.py"), kUnderRoot);
}

TEST_F(Scope, TakesTheWorkingDirectoryWithoutAScript) {
  folder_.Write("p/setup.py");
  folder_.Write("p/sub/x.py");
  EXPECT_EQ(Make({.working_directory = folder_.Path("p/sub")}).root(), folder_.Path("p"));
  ProjectScope scope = Make({.working_directory = folder_.Path("")});
  EXPECT_EQ(scope.root(), folder_.Path(""));
  EXPECT_THAT(scope.Describe(), HasSubstr("(the working directory)"));
}

TEST_F(Scope, IgnoresARepositoryOfTheHomeFolder) {
  folder_.Write("home/.git");
  const std::string script = folder_.Write("home/work/main.py");
  EXPECT_EQ(Make({.script = script}).root(), folder_.Path("home/work"));
  folder_.Write("home/pyproject.toml");
  EXPECT_EQ(Make({.script = script}).root(), folder_.Path("home"));
}

TEST_F(Scope, ObeysTheGivenRoot) {
  folder_.Write("p/pyproject.toml");
  const std::string script = folder_.Write("p/main.py");
  folder_.Write("lib/x.py");
  ProjectScope scope = Make({.script = script, .project_root = "lib"});
  EXPECT_EQ(scope.root(), folder_.Path("lib"));
  EXPECT_EQ(Judge(scope, "lib/x.py"), kUnderRoot);
  EXPECT_EQ(Judge(scope, "p/main.py"), kScript);
  EXPECT_EQ(Judge(scope, "p/other.py"), kOutside);
  EXPECT_THAT(scope.Describe(), HasSubstr("given by --project-root"));
  EXPECT_THAT(scope.Describe(), HasSubstr("The script " + script + " lies elsewhere"));

  const auto missing = ProjectScope::Create({.working_directory = "/", .project_root = script});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUsage);
  EXPECT_THAT(missing.error().what, HasSubstr("main.py is not a folder"));
}

TEST_F(Scope, LeavesLibrariesOut) {
  folder_.Write("p/.git");
  folder_.Write("p/env/pyvenv.cfg");
  folder_.Write("p/conda/conda-meta/history");
  folder_.Write("p/environment/x.py");
  ProjectScope scope = Make({.working_directory = folder_.Path("p")});
  const std::pair<const char*, ScopeVerdict> cases[] = {
      {"/usr/lib/python3.11/json/decoder.py", kStandardLibrary},
      {"/usr/lib/python3.11/site-packages/x.py", kInstalled},
      {"/usr/lib/python3/dist-packages/x.py", kInstalled},
      {"/opt/py/lib/python3.13/json/decoder.py", kStandardLibrary},
      {"/opt/py/lib64/python3.13t/json/decoder.py", kStandardLibrary},
      {"/opt/app/python312.zip/json/decoder.py", kStandardLibrary},
      {"p/.venv/lib/python3.11/site-packages/x.py", kInstalled},
      {"p/.venv/bin/tool.py", kInstalled},
      {"p/env/lib/python3.11/site-packages/x.py", kInstalled},
      {"p/env/bin/tool.py", kInstalled},
      {"p/conda/lib/python3.11/json/decoder.py", kStandardLibrary},
      {"p/conda/etc/x.py", kInstalled},
      {"p/.tox/py311/x.py", kInstalled},
      {"p/node_modules/node-gyp/gyp/x.py", kInstalled},
      {"p/a/site-packages/x.py", kInstalled},
      {"p/environment/x.py", kUnderRoot},
      {"p/lib/python_tools/x.py", kUnderRoot},
      {"p/python3.11/x.py", kUnderRoot},
      {"p/venv", kUnderRoot},  // a file
  };
  for (auto [path, verdict] : cases) EXPECT_EQ(Judge(scope, path), verdict) << path;
}

TEST_F(Scope, AcceptsARootInsideALibrary) {
  const std::string script = folder_.Write("venv/lib/python3.11/site-packages/tool/main.py");
  folder_.Write("venv/pyvenv.cfg");
  ProjectScope scope = Make({.script = script});
  EXPECT_EQ(Judge(scope, "venv/lib/python3.11/site-packages/tool/x.py"), kUnderRoot);
  EXPECT_EQ(Judge(scope, "venv/lib/python3.11/site-packages/other/x.py"), kInstalled);
  ProjectScope library = Make({.project_root = folder_.Path("venv/lib/python3.11/site-packages")});
  EXPECT_EQ(library.Judge({.file = folder_.Path("venv/lib/python3.11/site-packages/a.py"),
                           .stdlib_dir = folder_.Path("venv/lib/python3.11")}),
            kUnderRoot);
}

TEST_F(Scope, LeavesTheStandardLibraryOutOfARootThatHoldsIt) {
  ProjectScope scope = Make({.project_root = "/"});
  EXPECT_EQ(scope.Judge({.file = "/work/cpython/Lib/json/x.py", .stdlib_dir = "/work/cpython/Lib"}),
            kStandardLibrary);
  EXPECT_EQ(Judge(scope, "/srv/app/main.py"), kUnderRoot);
  EXPECT_EQ(Judge(scope, "/usr/share/tool/x.py"), kOutside);
  EXPECT_THAT(scope.Describe(), HasSubstr("System folders"));
}

TEST_F(Scope, FollowsLinks) {
  folder_.Write("real/p/.git");
  folder_.Write("real/p/pkg/x.py");
  folder_.Write("elsewhere/site-packages/y.py");
  std::filesystem::create_directory_symlink(folder_.Path("real/p"), folder_.Path("link"));
  std::filesystem::create_directory_symlink(folder_.Path("elsewhere"), folder_.Path("real/p/out"));
  std::filesystem::create_directory_symlink(folder_.Path("real/p/pkg"),
                                            folder_.Path("elsewhere/site-packages/pkg"));
  for (const char* root : {"link", "real/p"}) {
    ProjectScope scope = Make({.project_root = folder_.Path(root)});
    EXPECT_EQ(Judge(scope, "link/pkg/x.py"), kUnderRoot);
    EXPECT_EQ(Judge(scope, "real/p/pkg/x.py"), kUnderRoot);
    EXPECT_EQ(Judge(scope, "elsewhere/site-packages/pkg/x.py"), kUnderRoot)
        << "an editable install";
    EXPECT_EQ(Judge(scope, "real/p/out/site-packages/y.py"), kInstalled);
  }
  folder_.Write("real/p/main.py");
  std::filesystem::create_directory(folder_.Path("bin"));
  std::filesystem::create_symlink(folder_.Path("real/p/main.py"), folder_.Path("bin/tool"));
  ProjectScope scope = Make({.script = "bin/tool"});
  EXPECT_EQ(scope.root(), folder_.Path("real/p"));
  EXPECT_EQ(Judge(scope, "bin/tool"), kScript);
  EXPECT_EQ(Judge(scope, "real/p/main.py"), kScript);
}

TEST_F(Scope, ObeysPatterns) {
  folder_.Write("p/.git");
  folder_.Write("p/app/__init__.py");
  folder_.Write("other/tools/__init__.py");
  const std::string script = folder_.Write("p/app/main.py");
  ProjectScope scope = Make({.script = script,
                             .includes = {"numpy.linalg", "../shared", "json", "tools"},
                             .excludes = {"app.gen", "*_pb2.py", "numpy.linalg.tests", "app"}});
  EXPECT_EQ(Judge(scope, "p/app/main.py"), kScript) << "nothing takes the script away";
  EXPECT_EQ(Judge(scope, "p/app/gen/x.py"), kExcluded);
  EXPECT_EQ(Judge(scope, "p/src/app/x.py"), kExcluded);
  EXPECT_EQ(Judge(scope, "p/x_pb2.py"), kExcluded);
  EXPECT_EQ(Judge(scope, "p/x.py"), kUnderRoot);
  EXPECT_EQ(Judge(scope, "/v/lib/python3.11/site-packages/numpy/linalg/_linalg.py"), kIncluded);
  EXPECT_EQ(Judge(scope, "/v/lib/python3.11/site-packages/numpy/linalg/__init__.py"), kIncluded);
  EXPECT_EQ(Judge(scope, "/v/lib/python3.11/site-packages/numpy/linalg/tests/t.py"), kExcluded);
  EXPECT_EQ(Judge(scope, "/v/lib/python3.11/site-packages/numpy/core.py"), kInstalled);
  EXPECT_EQ(Judge(scope, "/usr/lib/python3.11/json/decoder.py"), kIncluded);
  EXPECT_EQ(Judge(scope, "/usr/lib/python3.11/jsonx.py"), kStandardLibrary);
  EXPECT_EQ(Judge(scope, "shared/a.py"), kIncluded);
  EXPECT_EQ(Judge(scope, "other/tools/a.py"), kIncluded) << "a package by its __init__.py";
  EXPECT_THAT(scope.Describe(),
              HasSubstr("Included as well: numpy.linalg, ../shared, json, tools."));
  EXPECT_THAT(scope.Describe(), HasSubstr("Excluded: app.gen"));
  EXPECT_FALSE(ProjectScope::Create({.working_directory = "/", .includes = {""}}));
}

TEST_F(Scope, KnowsWhatIsNoFile) {
  ProjectScope scope = Make({.working_directory = folder_.Path("")});
  for (const char* file : {"", "<frozen os>", "<string>", "<stdin>", "<ipython-input-1-a>"}) {
    EXPECT_EQ(scope.Judge({.file = file}), kNoFile) << file;
  }
  ProjectScope code = Make({.code_string = true});
  EXPECT_EQ(code.Judge({.file = "<string>"}), kScript);
  EXPECT_EQ(code.Judge({.file = "<frozen os>"}), kNoFile);
}

}  // namespace
}  // namespace linescope
