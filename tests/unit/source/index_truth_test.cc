// Compares the index of the installed standard library with what CPython's own parser and compiler
// say.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "source/index.h"
#include "support/test_data.h"

namespace linescope {
namespace {

std::string PythonProgram() {
  const char* program = std::getenv("LINESCOPE_TEST_PYTHON");
  return program != nullptr ? program : "python3";
}

struct PipeCloser {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

// All output of a shell command; empty when it fails.
std::string OutputOf(const std::string& command) {
  std::unique_ptr<FILE, PipeCloser> pipe(popen(command.c_str(), "r"));
  std::string output;
  std::array<char, 65536> buffer;
  while (pipe) {
    const size_t count = fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (count == 0) break;
    output.append(buffer.data(), count);
  }
  return output;
}

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

uint32_t Number(const std::string& text) { return static_cast<uint32_t>(std::stoul(text)); }

class IndexTruth : public ::testing::Test {
 protected:
  void Load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    path_ = path;
    index_ = IndexPython(DecodeSource(bytes.str()));
    ++files_;
    skip_ = index_.has_errors;
    if (skip_) ++unparsed_;
  }

  void CheckDefinition(const std::string& name, uint32_t line, uint32_t last_line) {
    for (const Definition& definition : index_.definitions) {
      if (definition.name == name && definition.line == line) {
        EXPECT_EQ(definition.last_line, last_line) << path_ << ":" << line << " " << name;
        ++definitions_;
        return;
      }
    }
    ADD_FAILURE() << path_ << ":" << line << " " << name << " is not in the index";
  }

  void CheckCode(const std::string& name, const std::string& qualified, uint32_t first_line) {
    const bool by_syntax = name.front() != '<' || name == "<lambda>" || name == "<genexpr>" ||
                           name.ends_with("comp>") || name.starts_with("<generic parameters of ");
    if (!by_syntax) return;
    const Definition* found = index_.FindDefinition(name, first_line, qualified);
    if (found == nullptr) {
      ADD_FAILURE() << path_ << ":" << first_line << " " << qualified << " is not found";
      return;
    }
    ++code_objects_;
    EXPECT_TRUE(Matches(index_, name, first_line));
    // Before 3.12 names inside list, set and dict comprehensions are qualified by these.
    if (qualified.empty() || qualified.find("comp>.") != std::string::npos) return;
    if (name.starts_with("<generic")) return;
    EXPECT_EQ(found->qualified_name, qualified) << path_ << ":" << first_line;
  }

  void CheckStatement(uint32_t first, uint32_t last) {
    ++statements_;
    for (uint32_t line : {first, last}) {
      auto range = index_.StatementAt(line);
      if (!range) {
        ADD_FAILURE() << path_ << ":" << line << " has no statement";
      } else {
        EXPECT_EQ(range->first, first) << path_ << ":" << line;
        EXPECT_EQ(range->last, last) << path_ << ":" << line;
      }
    }
  }

  std::string path_;
  SourceIndex index_;
  bool skip_ = false;
  size_t files_ = 0, unparsed_ = 0, definitions_ = 0, code_objects_ = 0, statements_ = 0;
};

TEST_F(IndexTruth, AgreesWithCPythonOnTheStandardLibrary) {
  const std::string python = PythonProgram();
  const std::string folder =
      OutputOf(python + " -c 'import os, sys; sys.stdout.write(os.path.dirname(os.__file__))'");
  if (folder.empty()) GTEST_SKIP() << "no " << python << " to compare with";
  const char* all = std::getenv("LINESCOPE_TEST_ALL");
  std::istringstream records(OutputOf(python + " '" +
                                      TestData("unit/source/python_truth.py").string() + "' '" +
                                      folder + "'" + (all != nullptr ? " all" : "")));
  for (std::string line; std::getline(records, line);) {
    const std::vector<std::string> fields = Split(line);
    if (fields[0] == "F") {
      Load(fields[1]);
    } else if (!skip_ && fields[0] == "D") {
      CheckDefinition(fields[1], Number(fields[2]), Number(fields[3]));
    } else if (!skip_ && fields[0] == "C") {
      CheckCode(fields[1], fields[2], Number(fields[3]));
    } else if (!skip_ && fields[0] == "S") {
      CheckStatement(Number(fields[1]), Number(fields[2]));
    }
  }
  // Debian's minimal library has about 200 files.
  EXPECT_GT(files_, 100U);
  EXPECT_LE(unparsed_, files_ / 200) << "files with syntax that the parser does not know";
  EXPECT_GT(definitions_, 1000U);
  EXPECT_GT(code_objects_, definitions_);
  EXPECT_GT(statements_, 10000U);
  RecordProperty("files", static_cast<int>(files_));
  std::printf("%zu files, %zu not understood, %zu definitions, %zu code objects, %zu statements\n",
              files_, unparsed_, definitions_, code_objects_, statements_);
}

}  // namespace
}  // namespace linescope
