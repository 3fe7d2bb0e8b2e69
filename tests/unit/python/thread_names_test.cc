#include "python/thread_names.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "process/fake_memory.h"
#include "python/dict_reader.h"
#include "python/runtime.h"
#include "python/thread_list.h"
#include "support/interpreters.h"
#include "support/python_target.h"

namespace linescope {
namespace {

using ::testing::UnorderedElementsAreArray;

std::string FromHex(const std::string& hex) {
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    text.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return text;
}

class ThreadNamesLive : public ::testing::TestWithParam<int> {};

TEST_P(ThreadNamesLive, AreThoseOfThreading) {
  LS_FOR_EACH_INTERPRETER(python, GetParam()) {
    PythonTarget target(python.path, {ProgramPath("thread_names.py")});
    std::map<uint64_t, std::string> expected;
    for (std::string line = target.ReadLine(); line != "ready"; line = target.ReadLine()) {
      std::istringstream fields(line);
      uint64_t ident = 0;
      std::string hex;
      if (fields >> ident) {
        fields >> hex;
        expected[ident] = FromHex(hex);
      }
      ASSERT_TRUE(!line.empty() || expected.empty());
    }
    ASSERT_EQ(expected.size(), 17u);
    auto memory = OpenRemoteMemory(target.pid());
    ASSERT_TRUE(memory) << memory.error().what;
    auto runtime = FindRuntime(target.pid(), memory->get());
    ASSERT_TRUE(runtime) << runtime.error().what;
    ThreadList list;
    ASSERT_TRUE(ReadThreadList(memory->get(), runtime->table, runtime->address, &list));
    ASSERT_EQ(list.interpreters.size(), 1u);
    const auto names = ReadThreadNames(memory->get(), runtime->table, list.interpreters[0].modules);
    EXPECT_THAT(names, UnorderedElementsAreArray(expected));
    for (const PythonThread& thread : list.threads) {
      EXPECT_TRUE(names.contains(thread.pthread_id)) << thread.native_id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Live, ThreadNamesLive, EachMinor(), MinorName);

}  // namespace
}  // namespace linescope
