#include "sampler/code_registry.h"

#include <gtest/gtest.h>

namespace linescope {
namespace {

Code MakeCode(const std::string& file, const std::string& name, int32_t first_line) {
  Code code;
  code.file = file;
  code.name = code.qualified_name = name;
  code.first_line = first_line;
  return code;
}

TEST(CodeRegistry, TheSameFunctionInTwoProcessesIsOne) {
  CodeRegistry registry;
  const CodeId first = registry.IdOf(MakeCode("/a.py", "f", 1), 0);
  EXPECT_EQ(registry.IdOf(MakeCode("/a.py", "f", 1), 7), first);
  EXPECT_NE(registry.IdOf(MakeCode("/a.py", "f", 2), 0), first);
  EXPECT_NE(registry.IdOf(MakeCode("/b.py", "f", 1), 0), first);
  EXPECT_NE(registry.IdOf(MakeCode("/a.py", "g", 1), 0), first);
}

TEST(CodeRegistry, HandsOverWhatIsNewInTheOrderOfItsNumbers) {
  CodeRegistry registry;
  EXPECT_EQ(registry.IdOf(MakeCode("/a.py", "f", 1), 3), 0U);
  EXPECT_EQ(registry.IdOf(MakeCode("/a.py", "g", 5), 4), 1U);
  const auto first = registry.TakeNew();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].name, "f");
  EXPECT_EQ(first[0].process, 3U);
  EXPECT_EQ(first[1].name, "g");
  EXPECT_EQ(registry.IdOf(MakeCode("/a.py", "f", 1), 4), 0U);
  EXPECT_TRUE(registry.TakeNew().empty());
}

}  // namespace
}  // namespace linescope
