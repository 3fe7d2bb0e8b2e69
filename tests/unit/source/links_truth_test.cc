// Compares the links of the installed standard library with what its modules hold when they are
// imported.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "source/links.h"
#include "support/test_data.h"
#include "temporary_folder.h"

namespace linescope {
namespace {

struct PipeCloser {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

std::vector<std::string> LinesOf(const std::string& command) {
  const std::unique_ptr<FILE, PipeCloser> pipe(popen(command.c_str(), "r"));
  std::string output;
  std::array<char, 65536> buffer;
  while (pipe) {
    const size_t count = fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (count == 0) break;
    output.append(buffer.data(), count);
  }
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(LinksTruth, AgreeWithTheImportedStandardLibrary) {
  const char* given = std::getenv("LINESCOPE_TEST_PYTHON");
  const std::string python = given != nullptr ? given : "python3";
  const auto folder = LinesOf(python + " -c 'import os; print(os.path.dirname(os.__file__))'");
  if (folder.empty()) GTEST_SKIP() << "there is no " << python;
  const std::string judge = fmt::format("{} '{}' '{}' ", python,
                                        TestData("unit/source/links_truth.py").string(), folder[0]);

  std::vector<std::string> paths = LinesOf(judge + "list");
  ASSERT_GT(paths.size(), 300u);
  std::deque<SourceIndex> indexes;
  std::vector<LinkSource> sources;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    indexes.push_back(IndexPython(DecodeSource(bytes.str())));
    sources.push_back({path, &indexes.back()});
  }
  const auto links = ResolveLinks(sources, {.scripts = {}, .others = {folder[0]}});

  const TemporaryFolder temporary;
  const std::string list = temporary.Path("links");
  {
    std::ofstream out(list);
    for (size_t file = 0; file < links.size(); ++file) {
      for (const Link& link : links[file]) {
        out << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", paths[file], link.line, link.column,
                           link.length, paths[link.file], link.target_line);
      }
    }
  }
  const auto verdict = LinesOf(fmt::format("{} judge '{}' 2>/dev/null", judge, list));
  ASSERT_FALSE(verdict.empty());
  unsigned right = 0, wrong = 0, unknown = 0, missing = 0;
  ASSERT_EQ(std::sscanf(verdict.back().c_str(), "right %u, wrong %u, unknown %u, missing %u",
                        &right, &wrong, &unknown, &missing),
            4)
      << verdict.back();
  std::string examples;
  for (size_t i = 0; i + 1 < verdict.size(); ++i) examples += verdict[i] + "\n";
  printf("links: %s\n", verdict.back().c_str());
  EXPECT_GT(right, 20'000u);
  // importlib.metadata has functions under decorators whose wrapper does not tell what it wraps;
  // the link to what stands there is right.
  EXPECT_LE(wrong, 10u) << examples;
  EXPECT_LT(missing, right / 3);
}

}  // namespace
}  // namespace linescope
