#include "python/layout.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "python/locals_layout.h"
#include "support/test_data.h"
#include "unit/python/fake_python.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

TEST(PythonVersion, ReadsAndPrintsTheHexWord) {
  EXPECT_EQ(PythonVersion::FromHex(0x030c01f0).ToString(), "3.12.1");
  EXPECT_EQ(PythonVersion::FromHex(0x030d00a2).ToString(), "3.13.0a2");
  EXPECT_EQ(PythonVersion::FromHex(0x030e00b4).ToString(), "3.14.0b4");
  EXPECT_EQ(PythonVersion::FromHex(0x030e00c1).ToString(), "3.14.0rc1");
  EXPECT_EQ(PythonVersion::FromHex(0x030b07f0).micro, 7);
}

TEST(Layout, KnowsItsVersionsAndNamesThemOtherwise) {
  for (int minor = kOldestMinor; minor <= kNewestMinor; ++minor) {
    const auto table = LayoutFor({3, minor, 0, 0});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->minor, minor);
  }
  for (const PythonVersion& version :
       {PythonVersion{3, kOldestMinor - 1, 4, 0}, PythonVersion{3, kNewestMinor + 1, 0, 0},
        PythonVersion{2, 7, 18, 0}, PythonVersion{4, 12, 0, 0}}) {
    const auto table = LayoutFor(version);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(table.error().what, HasSubstr(version.ToString()));
    EXPECT_THAT(table.error().what, HasSubstr("3.8 to 3.15"));
  }
}

class DebugOffsetsTest : public ::testing::Test {
 protected:
  DebugOffsetsTest() {
    std::memcpy(bytes_.data(), "xdebugpy", 8);
    Put(1, 0x030d00f0);
    // Every offset its own number, so that a mixed-up field shows.
    for (size_t i = 3; i < bytes_.size() / 8; ++i) Put(i, i * 8);
    for (const size_t size : {3, 6, 19, 28, 34, 44, 46, 56, 64, 67, 71}) Put(size, 1 << 20);
    // Inside what is read with them: a frame's instruction and owner, an object's type and size.
    // A thread's status before its frame.
    Put(27, 32);
    Put(31, 72);
    Put(33, 70);
    Put(45, 8);
    Put(65, 16);
  }
  void Put(size_t word, uint64_t value) { std::memcpy(bytes_.data() + word * 8, &value, 8); }

  std::vector<std::byte> bytes_ = std::vector<std::byte>(kDebugOffsetsBytes);
  layout::Table table_ = layout::kPython313;
};

TEST_F(DebugOffsetsTest, ReadsTheHeader) {
  const auto header = ReadDebugOffsetsHeader(bytes_);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->version.ToString(), "3.13.0");
  EXPECT_FALSE(header->free_threaded);
  Put(2, 1);
  EXPECT_TRUE(ReadDebugOffsetsHeader(bytes_)->free_threaded);
}

TEST_F(DebugOffsetsTest, WantsTheCookieAndAllOfTheHeader) {
  EXPECT_FALSE(ReadDebugOffsetsHeader(std::span(bytes_).first(23)));
  EXPECT_FALSE(ReadDebugOffsetsHeader({}));
  bytes_[7] = std::byte{'Y'};
  EXPECT_FALSE(ReadDebugOffsetsHeader(bytes_));
}

TEST_F(DebugOffsetsTest, TakesTheRuntimesOwnNumbers) {
  ASSERT_TRUE(ApplyDebugOffsets(bytes_, &table_));
  EXPECT_EQ(table_.thread.current_frame, 23u * 8);
  EXPECT_EQ(table_.thread.top, table_.thread.chunk + 8);
  EXPECT_EQ(table_.thread.limit, table_.thread.chunk + 16);
  EXPECT_EQ(table_.thread.status, 32u);
  EXPECT_EQ(table_.interpreter.gc_collecting, 10u * 8 + 72u * 8);
  EXPECT_EQ(table_.frame.owner, 70u);
  EXPECT_EQ(table_.code.bytecode, 43u * 8);
  EXPECT_EQ(table_.objects.str_ascii, 70u * 8);
  EXPECT_EQ(table_.frame.is_entry, layout::kNone);
}

TEST_F(DebugOffsetsTest, RefusesImpossibleNumbers) {
  for (const size_t word : {5, 9, 23, 26, 32, 43, 70}) {
    SCOPED_TRACE(word);
    std::vector<std::byte> good = bytes_;
    Put(word, UINT64_MAX);
    const Status status = ApplyDebugOffsets(bytes_, &table_);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    bytes_ = good;
  }
}

TEST_F(DebugOffsetsTest, RefusesFieldsBeyondTheirStruct) {
  for (const size_t size : {3, 6, 19, 28, 34, 44, 46, 56, 64, 71}) {
    SCOPED_TRACE(size);
    Put(size, 8);
    EXPECT_FALSE(ApplyDebugOffsets(bytes_, &table_));
    Put(size, 1 << 20);
  }
  EXPECT_TRUE(ApplyDebugOffsets(bytes_, &table_));
}

TEST_F(DebugOffsetsTest, RefusesFieldsOutsideWhatIsRead) {
  // Frame: executable, instruction and owner beyond the locals; code: name beyond the bytecode;
  // thread: native id before the frame, status behind it; str: length beyond the data.
  for (const auto& [word, value] : std::vector<std::pair<size_t, uint64_t>>{
           {30, 256}, {31, 248}, {33, 256}, {36, 344}, {25, 8}, {27, 200}, {69, 560}}) {
    SCOPED_TRACE(word);
    const std::vector<std::byte> good = bytes_;
    Put(word, value);
    EXPECT_FALSE(ApplyDebugOffsets(bytes_, &table_));
    bytes_ = good;
  }
  EXPECT_TRUE(ApplyDebugOffsets(bytes_, &table_));
}

TEST_F(DebugOffsetsTest, RefusesOtherVersionsAndShortTables) {
  layout::Table other = layout::kPython312;
  EXPECT_EQ(ApplyDebugOffsets(bytes_, &other).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(ApplyDebugOffsets(std::span(bytes_).first(500), &table_).error().code,
            ErrorCode::kUnsupported);
}

// The tables of offsets of free-threaded builds, printed by a program that was compiled with their
// headers (_Py_DebugOffsets_INIT), because such builds are rare.
layout::Table ByOwnOffsets(int minor) {
  std::vector<std::byte> bytes(kDebugOffsetsBytes);
  std::ifstream file(TestData(fmt::format("unit/python/offsets_3_{}t.txt", minor)));
  size_t at = 0;
  for (uint64_t word = 0; file >> word; at += 8) std::memcpy(bytes.data() + at, &word, 8);
  EXPECT_GT(at, 700u) << "no table of Python 3." << minor;
  const auto header = ReadDebugOffsetsHeader(bytes);
  EXPECT_TRUE(header && header->free_threaded && header->version.minor == minor);
  auto table = LayoutFor({3, minor, 0, 0});
  const Status applied = ApplyDebugOffsets(bytes, &*table);
  EXPECT_TRUE(applied) << applied.error().what;
  return *table;
}

// The numbers are offsetof with the same headers.
TEST(FreeThreading, IsReadByTheBuildsOwnOffsets) {
  for (const int minor : {14, 15}) {
    SCOPED_TRACE(minor);
    const layout::Table table = ByOwnOffsets(minor);
    EXPECT_TRUE(table.free_threaded);
    EXPECT_EQ(table.frame.copy, 72u);
    EXPECT_EQ(table.frame.owner, 78u);
    EXPECT_EQ(table.frame.locals, 80u);
    EXPECT_EQ(table.frame_specials_words, 10u);
    EXPECT_EQ(table.code.flags, 64u);
    EXPECT_EQ(table.code.nlocalsplus, 88u);
    EXPECT_EQ(table.code.framesize, 92u);
    EXPECT_EQ(table.code.version, 108u);
    EXPECT_EQ(table.code.first_traceable, 208u);
    EXPECT_EQ(table.code.copies, 224u);
    EXPECT_EQ(table.code.bytecode, 232u);
    EXPECT_EQ(table.objects.type, 24u);
    EXPECT_EQ(table.objects.str_state, 48u);
    EXPECT_EQ(table.objects.str_ascii, 56u);
    EXPECT_EQ(table.objects.str_compact, 72u);
    EXPECT_EQ(table.objects.str_kind_bit, 8u);
    EXPECT_EQ(table.objects.dict_keys, 48u);
    EXPECT_EQ(table.generator.frame, 88u);
    EXPECT_EQ(table.gil.enabled, 0u);
    EXPECT_EQ(table.gil.holder, 16u);
    EXPECT_EQ(table.gil.locked, 24u);
    EXPECT_EQ(table.names.managed_dict, 8u);
    EXPECT_EQ(table.names.type_cached_keys, minor == 14 ? 896u : 904u);
    EXPECT_EQ(table.thread.native_id, minor == 14 ? 160u : 184u);
    const layout::Values values = layout::ValuesFor(table);
    EXPECT_EQ(values.frame_namespace, 40u);
    EXPECT_EQ(values.frame_slots, 80u);
    EXPECT_EQ(values.code_names, 112u);
    EXPECT_EQ(values.tuple_items, 48u);
    EXPECT_EQ(values.set_table, 56u);
    EXPECT_EQ(values.type_dict, 280u);
    EXPECT_EQ(values.type_qualified_name, minor == 14 ? 888u : 896u);
  }
}

TEST(FreeThreading, TheCopiesMustLieWhereTheyAreRead) {
  layout::Table table = layout::kPython314;
  std::vector<std::byte> bytes(kDebugOffsetsBytes);
  std::ifstream file(TestData("unit/python/offsets_3_14t.txt"));
  size_t at = 0;
  for (uint64_t word = 0; file >> word; at += 8) std::memcpy(bytes.data() + at, &word, 8);
  for (const auto& [word, value] : {std::pair<size_t, uint64_t>{38, 80}, {49, 232}}) {
    std::vector<std::byte> bad = bytes;
    std::memcpy(bad.data() + word * 8, &value, 8);
    EXPECT_EQ(ApplyDebugOffsets(bad, &table).error().code, ErrorCode::kCorrupt) << word;
  }
  EXPECT_TRUE(ApplyDebugOffsets(bytes, &table));
}

// The numbers are offsetof with Py_TRACE_REFS.
TEST(TracedReferences, MoveWhatLiesInObjects) {
  EXPECT_EQ(kTraced39.frame.code, 48u);
  EXPECT_EQ(kTraced39.frame.previous, 40u);
  EXPECT_EQ(kTraced39.frame.instr, 120u);
  EXPECT_EQ(kTraced39.frame.owner, 132u);
  EXPECT_EQ(kTraced39.code.code_bytes, 64u);
  EXPECT_EQ(kTraced39.code.linetable, 136u);
  EXPECT_EQ(kTraced39.objects.str_ascii, 64u);
  EXPECT_EQ(kTraced39.names.type_cached_keys, 880u);
  EXPECT_EQ(kTraced311.frame.code, layout::kPython311.frame.code) << "is in no object";
  EXPECT_EQ(kTraced311.generator.frame, 96u);
  EXPECT_EQ(kTraced311.code.first_traceable, 184u);
  EXPECT_EQ(kTraced312.code.framesize, 92u);
  EXPECT_EQ(kTraced312.code.bytecode, 208u);
  EXPECT_EQ(kTraced312.names.int_size, 32u);
  EXPECT_EQ(layout::ValuesFor(kTraced39).frame_slots, 376u);
  EXPECT_EQ(layout::ValuesFor(kTraced39).frame_namespace, 72u);
  EXPECT_EQ(layout::ValuesFor(kTraced39).code_locals, 88u);
  EXPECT_EQ(layout::ValuesFor(kTraced311).frame_namespace, 24u);
  EXPECT_EQ(layout::ValuesFor(kTraced311).type_qualified_name, 880u);
}

TEST(LayoutForNewer, TakesTheNewestFormAndKnowsNoOpcode) {
  const layout::Table table = LayoutForNewer();
  EXPECT_EQ(table.minor, kNewestMinor);
  for (const uint8_t info : table.opcodes) {
    EXPECT_EQ(info >> 4, static_cast<int>(OpcodeKind::kOpaque));
  }
}

class TableTest : public ::testing::TestWithParam<const layout::Table*> {};

TEST_P(TableTest, OpcodesHaveKnownKindsAndAllKindsThatMatter) {
  std::array<int, 16> kinds{};
  for (const uint8_t info : GetParam()->opcodes) ++kinds[info >> 4];
  EXPECT_GT(kinds[static_cast<int>(OpcodeKind::kPush)], 10);
  EXPECT_GT(kinds[static_cast<int>(OpcodeKind::kReturn)], 0);
  if (GetParam()->liveness != layout::Liveness::kObject) {
    EXPECT_GT(kinds[static_cast<int>(OpcodeKind::kIterate)], 1);
  }
  EXPECT_EQ(kinds[static_cast<int>(OpcodeKind::kMove)],
            GetParam()->liveness == layout::Liveness::kExecutable ? 1 : 0);
  EXPECT_EQ(kinds[static_cast<int>(OpcodeKind::kCall)],
            GetParam()->liveness == layout::Liveness::kObject ? 5 : 0);
  for (size_t i = static_cast<size_t>(OpcodeKind::kCall) + 1; i < kinds.size(); ++i) {
    EXPECT_EQ(kinds[i], 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Python, TableTest, EachTable(), TableName);

}  // namespace
}  // namespace linescope
