#include "process/tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/fake_memory.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

std::string ReadText(RemoteMemory& memory, std::vector<RemoteRange> ranges, ssize_t* result) {
  std::string out(64, '.');
  *result = memory.Read(ranges, out.data());
  out.resize(*result > 0 ? static_cast<size_t>(*result) : 0);
  return out;
}

// A tape of a memory that changes: "aaaa" at 0x1000 becomes "bbbb"; then a read across its end, and
// one of nothing.
Tape ChangingTape() {
  FakeMemory memory;
  memory.Write(0x1000, "aaaa");
  memory.Write(0x5ffe, "wxyz");
  TapeRecorder recorder(memory);
  ssize_t n;
  EXPECT_EQ(ReadText(recorder, {{0x1000, 4}, {0x5ffe, 4}}, &n), "aaaawxyz");
  memory.Write(0x1000, "bbbb");
  EXPECT_EQ(ReadText(recorder, {{0x1000, 4}, {0x5ffe, 4}}, &n), "bbbbwxyz");
  EXPECT_EQ(ReadText(recorder, {{0x1002, 9}}, &n), "bb");
  EXPECT_EQ(ReadText(recorder, {{0x9000, 9}}, &n), "");
  EXPECT_EQ(n, -EFAULT);
  EXPECT_EQ(recorder.calls(), 4U);
  EXPECT_EQ(recorder.bytes(), 18U);
  recorder.tape().SetFact("python", "3.12.1");
  recorder.tape().SetFact("odd", std::string("\0\n\xff", 3));
  return recorder.tape();
}

TEST(Tape, RepeatsTheSameWalk) {
  TapeMemory memory(ChangingTape());
  ssize_t n;
  EXPECT_EQ(ReadText(memory, {{0x1000, 4}, {0x5ffe, 4}}, &n), "aaaawxyz");
  EXPECT_EQ(ReadText(memory, {{0x1000, 4}, {0x5ffe, 4}}, &n), "bbbbwxyz");
  EXPECT_EQ(ReadText(memory, {{0x1002, 9}}, &n), "bb");
  EXPECT_EQ(ReadText(memory, {{0x9000, 9}}, &n), "");
  EXPECT_EQ(n, -EFAULT);
  EXPECT_EQ(memory.place(), 4U);
  EXPECT_EQ(memory.calls(), 4U);
  EXPECT_EQ(memory.bytes(), 18U);
}

TEST(Tape, AnswersOtherReadsFromTheImageAtThePlace) {
  TapeMemory memory(ChangingTape());
  ssize_t n;
  EXPECT_EQ(ReadText(memory, {{0x1001, 2}}, &n), "aa")
      << "nothing passed: the first record of each byte";
  EXPECT_EQ(ReadText(memory, {{0x6000, 1}, {0x5fff, 2}}, &n), "yxy");
  EXPECT_EQ(memory.place(), 0U);
  ReadText(memory, {{0x1000, 4}, {0x5ffe, 4}}, &n);
  EXPECT_EQ(ReadText(memory, {{0x1001, 2}}, &n), "aa");
  ReadText(memory, {{0x1000, 4}, {0x5ffe, 4}}, &n);
  EXPECT_EQ(ReadText(memory, {{0x1001, 2}}, &n), "bb");
  memory.Rewind();
  EXPECT_EQ(ReadText(memory, {{0x1001, 2}}, &n), "aa");
}

TEST(Tape, PassesOverSkippedRecords) {
  TapeMemory memory(ChangingTape());
  ssize_t n;
  EXPECT_EQ(ReadText(memory, {{0x1002, 9}}, &n), "bb");
  EXPECT_EQ(memory.place(), 3U);
  EXPECT_EQ(ReadText(memory, {{0x1000, 4}, {0x5ffe, 4}}, &n), "bbbbwxyz")
      << "those records are behind us: the image answers";
}

TEST(Tape, FailsWhereNothingWasRead) {
  TapeMemory memory(ChangingTape());
  ssize_t n;
  EXPECT_EQ(ReadText(memory, {{0x1003, 2}}, &n), "a");
  EXPECT_EQ(n, 1);
  EXPECT_EQ(ReadText(memory, {{0x0fff, 2}}, &n), "");
  EXPECT_EQ(n, -EFAULT);
  EXPECT_EQ(memory.Read({}, nullptr), 0);
}

TEST(Tape, SurvivesTheFile) {
  const Tape tape = ChangingTape();
  const std::string path = ::testing::TempDir() + "/tape_test.tape";
  ASSERT_TRUE(tape.Save(path));
  const auto loaded = Tape::Load(path);
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(loaded->facts, tape.facts);
  EXPECT_EQ(loaded->Fact("python"), "3.12.1");
  EXPECT_EQ(loaded->Fact("absent"), std::nullopt);
  ASSERT_EQ(loaded->records.size(), tape.records.size());
  for (size_t i = 0; i < tape.records.size(); ++i) {
    EXPECT_EQ(loaded->records[i].result, tape.records[i].result) << i;
    EXPECT_EQ(loaded->records[i].bytes, tape.records[i].bytes) << i;
    ASSERT_EQ(loaded->records[i].ranges.size(), tape.records[i].ranges.size());
    for (size_t j = 0; j < tape.records[i].ranges.size(); ++j) {
      EXPECT_EQ(loaded->records[i].ranges[j].address, tape.records[i].ranges[j].address);
      EXPECT_EQ(loaded->records[i].ranges[j].size, tape.records[i].ranges[j].size);
    }
  }
}

TEST(Tape, RefusesDamagedFiles) {
  const std::string good = ChangingTape().Serialize();
  EXPECT_THAT(Tape::Parse("").error().what, HasSubstr("not a tape"));
  EXPECT_THAT(Tape::Parse(std::string(100, 'x')).error().what, HasSubstr("not a tape"));
  std::string newer = good;
  newer[7] = 9;
  EXPECT_THAT(Tape::Parse(newer).error().what, HasSubstr("version 9"));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(Tape::Parse(good.substr(0, size))) << size;
  for (size_t at = 8; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    EXPECT_FALSE(Tape::Parse(bytes)) << at;
  }
  EXPECT_EQ(Tape::Load("/nonexistent/x.tape").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace linescope
