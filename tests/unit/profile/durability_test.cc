// When a writer waits for the disk. The calls of SQLite's are counted here, in place of the C
// library's: nothing of this program is synced.
#include <gtest/gtest.h>

#include <utility>

#include "profile/reader.h"
#include "profile/writer.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace {
int g_syncs = 0;
}

extern "C" int fdatasync(int) {
  ++g_syncs;
  return 0;
}
extern "C" int fsync(int) {
  ++g_syncs;
  return 0;
}

namespace linescope {
namespace {

int Syncs() { return std::exchange(g_syncs, 0); }

TEST(Durability, AShortRunWaitsForTheDiskOnce) {
  TemporaryFolder folder;
  Syncs();
  auto writer = ProfileWriter::Create(folder / "short.linescope", FixtureRun());
  ASSERT_TRUE(writer) << writer.error().what;
  (*writer)->AddDiagnostic({"info", "1"});
  EXPECT_EQ(Syncs(), 0);
  ASSERT_TRUE((*writer)->Finish({}));
  EXPECT_EQ(Syncs(), 1);
  EXPECT_TRUE(ProfileReader::Open(folder / "short.linescope"));
}

TEST(Durability, EachCommitOfALongRunIsOnTheDisk) {
  TemporaryFolder folder;
  auto writer = ProfileWriter::Create(folder / "long.linescope", FixtureRun());
  ASSERT_TRUE(writer) << writer.error().what;
  Syncs();
  (*writer)->AddDiagnostic({"info", "1"});
  ASSERT_TRUE((*writer)->Commit());
  EXPECT_GE(Syncs(), 2) << "the database, without which its log is worth nothing, and the log";
  for (int i = 0; i < 3; ++i) {
    (*writer)->AddDiagnostic({"info", fmt::format("{}", 2 + i)});
    ASSERT_TRUE((*writer)->Commit());
    EXPECT_GE(Syncs(), 1);
  }
  ASSERT_TRUE((*writer)->Finish({}));
  EXPECT_GE(Syncs(), 2) << "the log before the database takes it in, and the database";
}

}  // namespace
}  // namespace linescope
