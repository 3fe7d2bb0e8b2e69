// Walks recorded from live interpreters, repeated: each version is tested also where it is not
// installed. tests/tapes/README.md says how the tapes were made.
#include <gmock/gmock.h>

#include <filesystem>

#include "process/tape.h"
#include "support/test_data.h"
#include "tapes/walk.h"

namespace linescope {
namespace {

class TapeReplayTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TapeReplayTest, GivesTheStacksThatWereRecorded) {
  const std::filesystem::path path = TestData("tapes") / GetParam();
  auto tape = Tape::Load(path);
  ASSERT_TRUE(tape) << tape.error().what;
  const auto version =
      PythonVersion::FromHex(static_cast<uint32_t>(std::stoul(*tape->Fact("python"), nullptr, 16)));
  const Address runtime = std::stoull(*tape->Fact("runtime"), nullptr, 16);
  const int samples = std::stoi(*tape->Fact("samples"));
  std::map<std::string, std::string> expected;
  for (const auto& [key, value] : tape->facts) {
    if (key.starts_with("walk.")) expected[key.substr(5)] = value;
  }
  ASSERT_GE(expected.size(), static_cast<size_t>(samples) * 2);

  const bool traced = tape->Fact("traced").has_value();
  TapeMemory memory(*std::move(tape));
  const auto table = ReadTable(&memory, version, runtime, traced);
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(WalkStacks(&memory, *table, runtime, samples, [] {}), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Tapes, TapeReplayTest,
    ::testing::Values("mixed-3.8.18.tape", "mixed-3.9.18.tape", "mixed-3.10.13.tape",
                      "mixed-3.11.7.tape", "mixed-3.11.2-debian.tape", "mixed-3.12.1.tape",
                      "mixed-3.13.0.tape", "mixed-3.14.3.tape", "mixed-3.15.2.tape",
                      "mixed-3.9.2-traced.tape", "mixed-3.13.5t.tape", "await-3.13.5t.tape",
                      "mixed-3.14.10d.tape", "await-3.8.18.tape", "await-3.9.18.tape",
                      "await-3.10.13.tape", "await-3.11.7.tape", "await-3.12.1.tape",
                      "await-3.13.0.tape", "await-3.14.3.tape", "await-3.15.2.tape"),
    [](const auto& tape) {
      std::string name = tape.param;
      std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
      return name;
    });

}  // namespace
}  // namespace linescope
