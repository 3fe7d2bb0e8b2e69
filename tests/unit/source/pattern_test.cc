#include "source/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linescope {
namespace {

using ::testing::HasSubstr;

struct GlobCase {
  const char* glob;
  const char* text;
  bool matches;
};

TEST(GlobMatch, Paths) {
  const GlobCase cases[] = {
      {"/a/b", "/a/b", true},
      {"/a/b", "/a/bc", false},
      {"/a/*", "/a/b", true},
      {"/a/*", "/a/b/c", false},
      {"/a/**", "/a/b/c", true},
      {"/a/**/c", "/a/c", true},
      {"/a/**/c", "/a/b/b/c", true},
      {"/a/**/c", "/a/bc", false},
      {"/a/**/c", "/a/b/xc", false},
      {"/**/c", "/c", true},
      {"/**/c", "/a/b/c", true},
      {"/a*c", "/abbc", true},
      {"/a*b*c", "/axbybzc", true},
      {"/a?c", "/abc", true},
      {"/a?c", "/a/c", false},
      {"/[a-c]x", "/bx", true},
      {"/[!a-c]x", "/bx", false},
      {"/[!a-c]x", "/dx", true},
      {"/[]]x", "/]x", true},
      {"/[a-]x", "/-x", true},
      {"/a[/]b", "/a/b", false},
      {"/**/*_test.py", "/a/b_test.py", true},
      {"/*/*/c", "/a/c", false},
      {"/a/**b", "/a/x/yb", true},
      {"", "", true},
      {"*", "", true},
      {"/**/a/*/b", "/a/x/a/y/b", true},
      {"/**/a/**/b", "/x/a/y/b", true},
  };
  for (const GlobCase& one : cases) {
    EXPECT_EQ(GlobMatch(one.glob, one.text, '/'), one.matches) << one.glob << " on " << one.text;
  }
}

TEST(GlobMatch, TakesNoExponentialTime) {
  std::string glob, text(5000, 'a');
  for (int i = 0; i < 200; ++i) glob += "*a";
  EXPECT_FALSE(GlobMatch(glob + "b", text, '/'));
  glob.clear();
  for (int i = 0; i < 200; ++i) glob += "**a*";
  EXPECT_FALSE(GlobMatch(glob + "b", text, '/'));
}

struct PatternCase {
  const char* pattern;
  const char* subject;  // a path when it begins with '/', else a module
  bool matches;
};

TEST(ScopePattern, MatchesPathsAndModules) {
  const PatternCase cases[] = {
      {"src/app", "/project/src/app/x.py", true},
      {"src/app", "/project/src/apple.py", false},
      {"src/app/", "/project/src/app/x.py", true},
      {"./tools", "/project/tools/x.py", true},
      {"../shared", "/shared/x.py", true},
      {"~/lib", "/home/me/lib/x.py", true},
      {"/opt/**/gen", "/opt/a/b/gen/x.py", true},
      {"*_test.py", "/project/deep/down/a_test.py", true},
      {"*_test.py", "/project/deep/down/a_tests.py", false},
      {"**/migrations", "/project/app/migrations/1.py", true},
      {"*/migrations/*", "/project/app/migrations/1.py", true},
      {"*/migrations/*", "/project/app/sub/migrations/1.py", false},
      {"/", "/anything", true},
      {"numpy", "numpy", true},
      {"numpy", "numpy.linalg.linalg", true},
      {"numpy", "numpy_financial", false},
      {"numpy.lin*", "numpy.linalg", true},
      {"*.tests", "app.sub.tests.test_a", true},
      {"*.tests", "tests.test_a", false},
      {"app.[ab]", "app.b.c", true},
      {"numpy", "/project/numpy", false},
      {"src/app", "src.app", false},
  };
  for (const PatternCase& one : cases) {
    const auto pattern = ScopePattern::Parse(one.pattern, "/project", "/home/me");
    ASSERT_TRUE(pattern) << one.pattern;
    const bool matches = one.subject[0] == '/' ? pattern->MatchesPath(one.subject)
                                               : pattern->MatchesModule(one.subject);
    EXPECT_EQ(matches, one.matches) << one.pattern << " on " << one.subject;
  }
}

TEST(ScopePattern, RefusesWhatCannotMatch) {
  EXPECT_THAT(ScopePattern::Parse("", "/", "").error().what, HasSubstr("is empty"));
  const auto unclosed = ScopePattern::Parse("a[b", "/", "");
  ASSERT_FALSE(unclosed);
  EXPECT_EQ(unclosed.error().code, ErrorCode::kUsage);
  EXPECT_THAT(unclosed.error().what, HasSubstr("\"a[b\""));
  EXPECT_FALSE(ScopePattern::Parse("a[!]", "/", ""));
  EXPECT_TRUE(ScopePattern::Parse("a[]]", "/", ""));
}

}  // namespace
}  // namespace linescope
