#pragma once
// The Python interpreters that live tests run on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace linescope {

struct Interpreter {
  std::string path;  // the executable itself: no link, no shim
  int minor = 0, micro = 0;
  bool free_threaded = false, debug = false;
  [[nodiscard]] std::string Name() const;  // "Python 3.11.2 (/usr/bin/python3.11)"
};

// Those of CPython 3.`minor` on this machine, of every kind of build: from $LINESCOPE_PYTHONS
// (colon-separated; then nothing else is looked at), what tools/pythons made, pyenv's versions,
// python3.X and python3.Xd on $PATH. Looked up once.
const std::vector<Interpreter>& InterpretersOf(int minor);

// A test over versions: INSTANTIATE_TEST_SUITE_P(Live, Name, EachMinor(), MinorName). Its body
// begins with LS_FOR_EACH_INTERPRETER(python, GetParam()) { … }, which skips the test, saying so,
// where there is none.
inline auto EachMinor() { return ::testing::Range(8, 16); }
inline std::string MinorName(const ::testing::TestParamInfo<int>& info) {
  return "Python3" + std::to_string(info.param);
}
#define LS_FOR_EACH_INTERPRETER(python, minor)                                              \
  if (InterpretersOf(minor).empty()) {                                                      \
    GTEST_SKIP() << "no Python 3." << (minor) << " on this machine; set LINESCOPE_PYTHONS"; \
  }                                                                                         \
  for (const Interpreter& python : InterpretersOf(minor))                                   \
    if (const ::testing::ScopedTrace trace(__FILE__, __LINE__, python.Name()); true)

}  // namespace linescope
