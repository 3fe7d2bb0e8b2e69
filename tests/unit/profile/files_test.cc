// Which files a writer takes, and which a reader refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "profile/reader.h"
#include "profile/recording_file.h"
#include "profile/schema.h"
#include "profile/sqlite.h"
#include "profile/writer.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string ReadBytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Error WhyNotCreated(const fs::path& path) {
  auto writer = ProfileWriter::Create(path, FixtureRun());
  return writer ? Error{ErrorCode::kInternal, "it was created"} : writer.error();
}

Error WhyNotOpened(const fs::path& path) {
  auto reader = ProfileReader::Open(path);
  return reader ? Error{ErrorCode::kInternal, "it was opened"} : reader.error();
}

void Change(const fs::path& path, const std::string& sql) {
  auto database = Database::Open(path.string(), SQLITE_OPEN_READWRITE, "test");
  ASSERT_TRUE(database);
  Status status = (*database)->Execute(sql);
  ASSERT_TRUE(status) << status.error().what;
}

TEST(CreateTest, RefusesImpossiblePlaces) {
  TemporaryFolder folder;
  WriteText(folder / "text", "print(1)\n");
  WriteText(folder / "long", std::string(5000, 'x'));
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const std::vector<std::pair<fs::path, std::string>> cases = {
      {folder / "none" / "run.linescope", "there is no folder"},
      {folder.path(), "it is a folder"},
      {folder / "text" / "run.linescope", "there is no folder"},
      {folder / "text", "is not a LineScope profile"},
      {folder / "long", "is not a LineScope profile"},
      {folder / "fifo", "not a regular file"},
      {"", "names no file"},
      {"/proc/run.linescope", "cannot "},
  };
  for (const auto& [path, why] : cases) {
    Error error = WhyNotCreated(path);
    EXPECT_THAT(error.what, HasSubstr(why));
    EXPECT_TRUE(error.code == ErrorCode::kUsage || error.code == ErrorCode::kIo) << error.what;
  }
  EXPECT_EQ(ReadBytes(folder / "text"), "print(1)\n");
}

TEST(CreateTest, RefusesAnotherSqliteDatabase) {
  TemporaryFolder folder;
  auto path = folder / "other.db";
  auto database = Database::Open(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "test");
  ASSERT_TRUE((*database)->Execute("CREATE TABLE precious (x)"));
  database->reset();
  std::string before = ReadBytes(path);
  EXPECT_THAT(WhyNotCreated(path).what, HasSubstr("is not a LineScope profile"));
  EXPECT_EQ(ReadBytes(path), before);
}

TEST(CreateTest, RefusesAProfileThatIsBeingRecorded) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  // In another process, as it would be: locks do not count within one.
  pid_t recorder = ::fork();
  if (recorder == 0) {
    auto writer = ProfileWriter::Create(path, FixtureRun());
    FillFixture(**writer);
    (void)(*writer)->Commit();
    (void)!::write(ready[1], "x", 1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  Error error = WhyNotCreated(path);
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_THAT(error.what, HasSubstr("being recorded"));
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_TRUE(ProfileWriter::Create(path, FixtureRun()));
}

TEST(CreateTest, TakesAnEmptyFileAndASymbolicLink) {
  TemporaryFolder folder;
  WriteText(folder / "empty", "");
  EXPECT_TRUE(WriteFixture(folder / "empty"));
  fs::create_symlink(folder / "target", folder / "link");
  EXPECT_TRUE(WriteFixture(folder / "link"));
  EXPECT_TRUE(WriteFixture(folder / "link"));  // replaces what the link names
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(ProfileReader::Open(folder / "target"));
}

TEST(CreateTest, IgnoresTheLogOfAFileThatIsGone) {
  TemporaryFolder folder;
  WriteText(folder / "run.linescope-wal", std::string(8192, 'x'));
  ASSERT_TRUE(WriteFixture(folder / "run.linescope"));
  EXPECT_TRUE(ProfileReader::Open(folder / "run.linescope"));
}

TEST(CreateTest, TakesNamesThatMeanSomethingInAUri) {
  TemporaryFolder folder;
  auto path = folder / "50%?mode=rw#1 ü.linescope";
  ASSERT_TRUE(WriteFixture(path));
  EXPECT_TRUE(ProfileReader::Open(path));
}

TEST(OpenTest, RefusesWhatIsNoProfile) {
  TemporaryFolder folder;
  WriteText(folder / "empty", "");
  WriteText(folder / "text", "print('hello, world')\n");
  WriteText(folder / "short", "SQLite format 3");
  auto database = Database::Open((folder / "other").string(),
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "test");
  ASSERT_TRUE((*database)->Execute("CREATE TABLE run (id)"));
  database->reset();
  const std::vector<std::tuple<fs::path, ErrorCode, std::string>> cases = {
      {folder / "none", ErrorCode::kIo, "there is no such file"},
      {folder.path(), ErrorCode::kIo, "it is a folder"},
      {folder / "empty", ErrorCode::kCorrupt, "is empty"},
      {folder / "text", ErrorCode::kCorrupt, "is not a LineScope profile"},
      {folder / "short", ErrorCode::kCorrupt, "is not a LineScope profile"},
      {folder / "other", ErrorCode::kCorrupt, "not a LineScope profile"},
  };
  for (const auto& [path, code, why] : cases) {
    Error error = WhyNotOpened(path);
    EXPECT_EQ(error.code, code) << error.what;
    EXPECT_THAT(error.what, HasSubstr(why));
    EXPECT_THAT(error.what, HasSubstr(path.string()));
  }
}

TEST(OpenTest, RefusesALaterMajorVersionAndTakesALaterMinor) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  Change(path,
         "PRAGMA user_version = 1999; ALTER TABLE thread ADD COLUMN colour TEXT;"
         "CREATE TABLE memory (at, bytes); INSERT INTO \"drop\" VALUES ('too hot', 3);"
         "UPDATE sample SET state = 9 WHERE state = 0");
  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_EQ((*reader)->drops().size(), 3u);
  auto profile = (*reader)->Load();
  ASSERT_TRUE(profile) << profile.error().what;
  EXPECT_EQ(profile->total.samples, 255u);
  reader->reset();
  Change(path, "PRAGMA user_version = 2000");
  EXPECT_EQ(WhyNotOpened(path).code, ErrorCode::kUnsupported);
  EXPECT_THAT(WhyNotOpened(path).what, HasSubstr("use a later version"));
}

TEST(OpenTest, NeverChangesAFinishedFile) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  const std::string before = ReadBytes(path);
  auto time = fs::last_write_time(path);
  {
    auto reader = ProfileReader::Open(path);
    ASSERT_TRUE(reader);
    ASSERT_TRUE((*reader)->Load());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  }
  EXPECT_EQ(ReadBytes(path), before);
  EXPECT_EQ(fs::last_write_time(path), time);
}

// Before 1.2 every row was of one bucket, and what threads did was only to be had from them.
TEST(OpenTest, AddsUpTheActivityOfFilesThatHaveNone) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  const auto read = [&](std::map<std::tuple<int64_t, ThreadId, ThreadState>, Cost>& costs) {
    auto reader = ProfileReader::Open(path);
    ASSERT_TRUE(reader) << reader.error().what;
    const Status status = (*reader)->ForEachActivity([&](const SampleRow& row) {
      const SampleCell& cell = row.cell;
      EXPECT_EQ(cell.stack, kNoStack);
      EXPECT_EQ(row.buckets, 1);
      costs[{row.bucket, cell.thread, cell.state}] += Cost{cell.count, cell.wall_ns, cell.cpu_ns};
    });
    ASSERT_TRUE(status) << status.error().what;
  };
  std::map<std::tuple<int64_t, ThreadId, ThreadState>, Cost> stored, added_up;
  ASSERT_NO_FATAL_FAILURE(read(stored));
  EXPECT_EQ(stored.size(), 31u);
  ASSERT_NO_FATAL_FAILURE(Change(path,
                                 "DROP TABLE thread_activity; ALTER TABLE sample DROP COLUMN "
                                 "buckets; PRAGMA user_version = 1001"));
  ASSERT_NO_FATAL_FAILURE(read(added_up));
  EXPECT_EQ(stored, added_up);
}

// What came with a minor version is not in the files of those before.
TEST(OpenTest, ReadsTheFirstMinorVersion) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  ASSERT_NO_FATAL_FAILURE(
      Change(path, "ALTER TABLE function DROP COLUMN kind; PRAGMA user_version = 1000"));
  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().what;
  auto profile = (*reader)->Load();
  ASSERT_TRUE(profile) << profile.error().what;
  ASSERT_FALSE(profile->functions.empty());
  for (const FunctionInfo& function : profile->functions)
    EXPECT_EQ(function.kind, FunctionKind::kPython);
}

TEST(OpenTest, KeepsTheKindOfAFunctionAndShowsAnUnknownOneAsPython) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  ASSERT_NO_FATAL_FAILURE(Change(path,
                                 "UPDATE function SET kind = 'native' WHERE id = 1;"
                                 "UPDATE function SET kind = 'of the future' WHERE id = 2"));
  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().what;
  auto profile = (*reader)->Load();
  ASSERT_TRUE(profile) << profile.error().what;
  EXPECT_EQ(profile->functions[1].kind, FunctionKind::kNative);
  EXPECT_EQ(profile->functions[2].kind, FunctionKind::kPython);
}

// Each is one thing wrong with an otherwise sound profile. The message must say that it is damage.
TEST(OpenTest, FindsDamage) {
  const std::vector<std::string> damages = {
      "DROP TABLE sample",
      "DELETE FROM run",
      "UPDATE run SET bucket_width_ns = 0",
      "UPDATE run SET command = 'not json'",
      "UPDATE thread SET process = 7",
      "UPDATE process SET parent = 0",
      "DELETE FROM function WHERE id = 3",
      "UPDATE frame SET function = -1",
      "UPDATE stack SET frame = 1000000",
      "UPDATE stack SET parent = id",
      "UPDATE stack SET parent = 12 WHERE id = 3",
      "UPDATE sample SET stack = 99 WHERE stack = 4",
      "UPDATE sample SET thread = -5",
      "UPDATE sample SET bucket = -1 WHERE bucket = 0",
      "UPDATE sample SET bucket = 9223372036854775807 WHERE stack = 4 AND bucket = 0",
      "UPDATE sample SET buckets = 0",
      "UPDATE sample SET buckets = 1025",
      "UPDATE sample SET buckets = 9223372036854775807",
      "UPDATE sample SET count = -1",
      "UPDATE sample SET wall_ns = -1",
      "UPDATE source_unit SET text_bytes = text_bytes + 1",
      "UPDATE source_unit SET text_bytes = 1 << 40",
      "UPDATE source_unit SET text = x'28b52ffd00'",
      "DROP TABLE diagnostic; CREATE VIEW diagnostic AS WITH RECURSIVE n (id) AS (SELECT 1 UNION "
      "ALL"
      " SELECT id + 1 FROM n) SELECT id, 'error' AS level, 'x' AS text FROM n",
  };
  TemporaryFolder folder;
  for (size_t i = 0; i < damages.size(); ++i) {
    auto path = folder / std::to_string(i);
    ASSERT_TRUE(WriteFixture(path));
    ASSERT_NO_FATAL_FAILURE(Change(path, "PRAGMA ignore_check_constraints = ON;" + damages[i]));
    auto use = [&]() -> Status {
      LS_TRY(reader, ProfileReader::Open(path));
      LS_TRY(profile, reader->Load());
      LS_TRY(text, reader->SourceText(0));
      return {};
    };
    Status status = use();
    ASSERT_FALSE(status) << damages[i];
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt)
        << damages[i] << ": " << status.error().what;
  }
}

// Bytes flipped anywhere: an error or a profile, but no crash and no hang. The fuzz target does
// more.
TEST(OpenTest, SurvivesFlippedBytes) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  const std::string sound = ReadBytes(path);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = sound;
    for (int n = 0; n < 20; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    auto reader = ProfileReader::FromBytes(
        {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "bytes");
    if (!reader || !(*reader)->Load()) ++refused;
  }
  EXPECT_GT(refused, 50);
}

TEST(OpenTest, FromBytesReadsTheSameAsOpen) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  ASSERT_TRUE(WriteFixture(path));
  const std::string bytes = ReadBytes(path);
  auto reader = ProfileReader::FromBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "bytes");
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_EQ((*reader)->Load()->total.samples, 255u);
}

TEST(RecordingFileTest, KnowsAProfileByItsFirstBytes) {
  TemporaryFolder folder;
  ASSERT_TRUE(WriteFixture(folder / "run.linescope"));
  WriteText(folder / "text", std::string(200, 'S'));
  EXPECT_TRUE(LooksLikeProfile(folder / "run.linescope"));
  EXPECT_FALSE(LooksLikeProfile(folder / "text"));
  EXPECT_FALSE(LooksLikeProfile(folder / "none"));
}

}  // namespace
}  // namespace linescope
