// Stacks of live targets whose truth is known: what the program itself sees of its stack, and the
// exact walk of a stopped process.
#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "support/interpreters.h"
#include "support/python_target.h"
#include "unit/python/stack_probe.h"

namespace linescope {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// As checkpoint.py prints it: the case, and its frames described as Describe does.
struct Checkpoint {
  std::string name;
  std::vector<std::string> frames;
};
Checkpoint ParseCheckpoint(const std::string& line) {
  Checkpoint checkpoint;
  checkpoint.frames = Split(line, '\x1e');
  checkpoint.name = checkpoint.frames.front();
  checkpoint.frames.erase(checkpoint.frames.begin());
  for (std::string& frame : checkpoint.frames) std::ranges::replace(frame, '\x1f', ':');
  return checkpoint;
}

// The first difference, short enough to read also for stacks of 20,000 frames.
::testing::AssertionResult SameStack(const std::vector<std::string>& got,
                                     const std::vector<std::string>& expected) {
  size_t same = 0;
  while (same < got.size() && same < expected.size() && got[same] == expected[same]) ++same;
  if (same == got.size() && same == expected.size()) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  result << got.size() << " frames instead of " << expected.size() << ", the same up to " << same;
  for (size_t i = same > 2 ? same - 2 : 0; i < same + 4; ++i) {
    result << "\n  " << i << " expected " << (i < expected.size() ? expected[i] : "-") << "\n  "
           << i << " got      " << (i < got.size() ? got[i] : "-");
  }
  return result;
}

class StackLive : public ::testing::TestWithParam<int> {};

// The thread waits in a system call, so whatever is read is one instant.
TEST_P(StackLive, IsWhatTheProgramSees) {
  LS_FOR_EACH_INTERPRETER(python, GetParam()) {
    PythonTarget target(python.path, {ProgramPath("stacks.py")});
    Checkpoint checkpoint = ParseCheckpoint(target.ReadLine() + "\x1e");
    StackProbe probe;
    ASSERT_TRUE(probe.Open(target.pid()));
    struct Readers {
      std::unique_ptr<StackReader> exact, free;
    };
    std::map<std::pair<Address, int>, Readers> warm;
    int64_t now = 0;
    int checked = 0;
    for (;;) {
      SCOPED_TRACE(checkpoint.name);
      now += 1'000'000;
      ASSERT_TRUE(probe.ReadThreads());
      // The newest thread is the one that waits in checkpoint().
      const PythonThread thread = probe.list.threads.front();
      Readers& readers = warm.try_emplace({thread.tstate, thread.native_id},
                                          Readers{probe.Reader(thread), probe.Reader(thread)})
                             .first->second;
      const auto fresh_exact = probe.Reader(thread), fresh_free = probe.Reader(thread);
      const std::vector<std::pair<const char*, StackReader*>> ways = {
          {"fresh exact", fresh_exact.get()},
          {"fresh free", fresh_free.get()},
          {"exact", readers.exact.get()},
          {"free", readers.free.get()}};
      for (const auto& [way, reader] : ways) {
        const bool exact = std::string_view(way).ends_with("exact");
        ASSERT_EQ(ReadStack(probe.memory.get(), reader, exact, now), Decision::kOk) << way;
        EXPECT_TRUE(SameStack(Describe(reader->frames()), checkpoint.frames)) << way;
      }
      ++checked;
      target.Send("\n");
      const std::string line = target.ReadLine();
      if (line == "done") break;
      ASSERT_FALSE(line.empty()) << "the program ended early";
      checkpoint = ParseCheckpoint(line);
    }
    EXPECT_GT(checked, 180);
  }
}

INSTANTIATE_TEST_SUITE_P(Python, StackLive, EachMinor(), MinorName);

}  // namespace
}  // namespace linescope
