#include "cli/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kOurReport[] = "<!doctype html><meta name=\"generator\" content=\"LineScope 1.0\">";

class OutputsTest : public ::testing::Test {
 protected:
  OutputsTest() : before_(fs::current_path()) {
    fs::current_path(folder_.path());
    values_.host = "box";
    values_.time = "20261130-142501";
    values_.program = "app";
    values_.rank = "3";
  }
  ~OutputsTest() override { fs::current_path(before_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(name) << text; }
  std::string Complaint(const OutputRequest& request) {
    const auto plan = PlanOutputs(request, values_);
    return plan ? "" : plan.error().what;
  }

  TemporaryFolder folder_;
  fs::path before_;
  Placeholders values_;
};

std::vector<std::string> Files(const OutputPlan& plan) {
  std::vector<std::string> files;
  for (const OutputFile& file : plan.files)
    files.push_back(std::string(FormatName(file.format)) + " " + file.path);
  return files;
}

TEST_F(OutputsTest, WithoutWishesReportAndProfileAreNamedAfterTheProgram) {
  const auto plan = PlanOutputs({}, values_);
  ASSERT_TRUE(plan);
  EXPECT_THAT(Files(*plan), ElementsAre("html linescope-app.html"));
  EXPECT_EQ(plan->profile, "linescope-app.linescope");
  EXPECT_EQ(plan->recording, plan->profile);
}

TEST_F(OutputsTest, NamedFilesAreAllThereIs) {
  const auto plan = PlanOutputs({{"a.html", "b.collapsed"}, {}, ""}, values_);
  ASSERT_TRUE(plan);
  EXPECT_THAT(Files(*plan), ElementsAre("html a.html", "collapsed b.collapsed"));
  EXPECT_EQ(plan->profile, "");
  EXPECT_EQ(fs::path(plan->recording).extension(), ".linescope");
  const auto kept = PlanOutputs({{"a.html"}, {}, "p.linescope"}, values_);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->profile, "p.linescope");
}

TEST_F(OutputsTest, FormatsAreGivenOnceOrForEach) {
  EXPECT_THAT(Files(*PlanOutputs({{"x", "y"}, {"collapsed"}, ""}, values_)),
              ElementsAre("collapsed x", "collapsed y"));
  EXPECT_THAT(Files(*PlanOutputs({{"x", "y"}, {"collapsed", "html"}, ""}, values_)),
              ElementsAre("collapsed x", "html y"));
  EXPECT_THAT(Files(*PlanOutputs({{}, {"collapsed"}, ""}, values_)),
              ElementsAre("collapsed linescope-app.collapsed"));
  EXPECT_THAT(Complaint({{"x", "y", "z"}, {"html", "html"}, ""}),
              HasSubstr("give it once, or once for each"));
  EXPECT_THAT(Complaint({{"x"}, {"pdf"}, ""}), HasSubstr("'pdf' is not one of html, collapsed"));
  EXPECT_THAT(Complaint({{"x.pdf"}, {}, ""}), HasSubstr("its ending is none of .html, .collapsed"));
  EXPECT_THAT(Complaint({{"x.linescope"}, {}, ""}), HasSubstr("--profile x.linescope"));
}

TEST_F(OutputsTest, PlaceholdersAreReplaced) {
  EXPECT_EQ(*ExpandPlaceholders("%n-%h-%t-%r-100%%.html", values_),
            "app-box-20261130-142501-3-100%.html");
  values_.pid = 4711;
  EXPECT_EQ(*ExpandPlaceholders("%p%%p.html", values_), "4711%p.html");
  EXPECT_THAT(ExpandPlaceholders("%x", values_).error().what, HasSubstr("after % one of"));
  EXPECT_FALSE(ExpandPlaceholders("a%", values_));
}

TEST_F(OutputsTest, APidThatIsNotKnownYetIsFilledInLater) {
  const std::string path = *ExpandPlaceholders("%n-%p-%%p.html", values_);
  EXPECT_EQ(WithPid(path, 4711), "app-4711-%p.html");
  const auto plan = PlanOutputs({{"%p.html"}, {}, "%p.linescope"}, values_);
  ASSERT_TRUE(plan);
  EXPECT_NE(plan->recording, plan->profile);
}

TEST_F(OutputsTest, ImpossiblePlacesAreRefused) {
  fs::create_directory("folder.html");
  EXPECT_THAT(Complaint({{"folder.html"}, {}, ""}), HasSubstr("is a folder"));
  EXPECT_THAT(Complaint({{"no/where/a.html"}, {}, ""}), HasSubstr("there is no folder 'no/where'"));
  EXPECT_THAT(Complaint({{"a.html", "a.html"}, {}, ""}), HasSubstr("named twice"));
  EXPECT_THAT(Complaint({{"a.html"}, {}, "a.html"}), HasSubstr("both"));
  EXPECT_THAT(Complaint({{"/dev/null"}, {"collapsed"}, "/dev/null"}),
              HasSubstr("not a regular file"));
  EXPECT_EQ(Complaint({{"/dev/null"}, {"collapsed"}, ""}), "");
}

TEST_F(OutputsTest, FoldersWithoutPermissionAreRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory("closed");
  fs::permissions("closed", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(Complaint({{"closed/a.html"}, {}, ""}),
              HasSubstr("cannot write in the folder 'closed'"));
}

TEST_F(OutputsTest, OnlyOwnFilesAreReplaced) {
  Write("a.html", "<html>my page</html>");
  Write("a.collapsed", "notes of mine\n");
  Write("a.linescope", "mine");
  EXPECT_THAT(Complaint({{"a.html"}, {}, ""}),
              HasSubstr("exists and is not a report made by LineScope"));
  EXPECT_THAT(Complaint({{"a.collapsed"}, {}, ""}), HasSubstr("is not a list of stacks"));
  EXPECT_THAT(Complaint({{}, {}, "a.linescope"}), HasSubstr("is not a profile"));
  Write("a.html", kOurReport);
  Write("a.collapsed", "main;f x 12\n");
  Write("a.linescope", std::string("SQLite format 3\0", 16));
  EXPECT_EQ(Complaint({{"a.html", "a.collapsed"}, {}, "a.linescope"}), "");
  Write("a.html", "");
  EXPECT_EQ(Complaint({{"a.html"}, {}, ""}), "");
}

}  // namespace
}  // namespace linescope
