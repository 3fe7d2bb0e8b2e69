#include "source/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "source/target_files.h"
#include "unit/source/temporary_folder.h"
#include "unit/source/zip_builder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

int64_t SecondsFromNow(int seconds) {
  const auto now = std::chrono::system_clock::now() + std::chrono::seconds(seconds);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

class Snapshot : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(Snapshot, KeepsTheBytes) {
  const std::string bytes("\xEF\xBB\xBFx = 1\r\n\0\xFF", 12);
  const std::string path = folder_.Write("a.py", bytes);
  const SourceSnapshot snapshot = TakeSnapshot({.file = path, .in_project = true});
  EXPECT_EQ(snapshot.path, path);
  EXPECT_EQ(snapshot.resolved_path, path);
  EXPECT_EQ(snapshot.text, bytes);
  EXPECT_TRUE(snapshot.in_project);
  EXPECT_EQ(snapshot.verified, std::nullopt) << "the process's start is unknown";
  EXPECT_THAT(snapshot.note, IsEmpty());
}

TEST_F(Snapshot, ResolvesByTheWorkingDirectory) {
  const std::string path = folder_.Write("p/a.py", "x");
  const SourceSnapshot given =
      TakeSnapshot({.file = "./a.py", .working_directory = folder_.Path("p")});
  EXPECT_EQ(given.resolved_path, path);
  EXPECT_EQ(given.path, "./a.py");
  // The process's own: this one's.
  const std::string here = TargetFiles(getpid()).WorkingDirectory();
  EXPECT_EQ(here, std::filesystem::current_path().string());
  std::filesystem::current_path(folder_.Path("p"));
  EXPECT_EQ(TakeSnapshot({.file = "a.py", .pid = getpid()}).resolved_path, path);
  std::filesystem::current_path(here);
}

TEST_F(Snapshot, ComparesWithTheStartOfTheProcess) {
  const std::string path = folder_.Write("a.py", "def f():\n    pass\n");
  SnapshotRequest request{.file = path, .process_start_unix_ns = SecondsFromNow(60)};
  EXPECT_EQ(TakeSnapshot(request).verified, true);
  request.process_start_unix_ns = SecondsFromNow(-60);
  SourceSnapshot newer = TakeSnapshot(request);
  EXPECT_EQ(newer.verified, false);
  EXPECT_THAT(newer.note, HasSubstr("changed after the process started"));

  request.function_name = "f";
  request.first_line = 1;
  newer = TakeSnapshot(request);
  EXPECT_EQ(newer.verified, std::nullopt);
  EXPECT_THAT(newer.note, HasSubstr("still where it was"));

  request.process_start_unix_ns = SecondsFromNow(60);
  request.first_line = 2;
  const SourceSnapshot moved = TakeSnapshot(request);
  EXPECT_EQ(moved.verified, false) << "an old file may be replaced with its times kept";
  EXPECT_THAT(moved.note, HasSubstr("f was at line 2"));
}

TEST_F(Snapshot, SaysWhyThereIsNoText) {
  folder_.Write("lib.zip", "PK");
  folder_.Write("large.py", std::string(100, '#'));
  ASSERT_EQ(mkfifo(folder_.Path("pipe.py").c_str(), 0600), 0);
  struct Case {
    std::string file, note;
  };
  const Case cases[] = {
      {folder_.Path("none.py"), "cannot open " + folder_.Path("none.py") + ": No such file"},
      {folder_.Path("lib.zip/pkg/mod.py"),
       "cannot read " + folder_.Path("lib.zip") + " as an archive: it is no zip archive"},
      {folder_.Path("large.py"), "has 100 bytes; files of more than 50 are not stored"},
      {folder_.Path("pipe.py"), "is no regular file"},
      {folder_.Path(""), "is a folder"},
      {"/tmp/ipykernel_77/12345.py", "notebook cell"},
      {"<ipython-input-3-abc>", "notebook cell"},
      {"<frozen importlib._bootstrap>", "frozen into the interpreter"},
      {"<string>", "compiled from a string"},
      {"<stdin>", "standard input"},
      {"<something>", "not a file"},
      {"", "names no file"},
  };
  for (const Case& one : cases) {
    const SourceSnapshot snapshot = TakeSnapshot({.file = one.file, .size_limit = 50});
    EXPECT_THAT(snapshot.note, HasSubstr(one.note)) << one.file;
    EXPECT_THAT(snapshot.text, IsEmpty());
    EXPECT_THAT(snapshot.resolved_path, IsEmpty());
    EXPECT_EQ(snapshot.verified, std::nullopt);
  }
}

TEST_F(Snapshot, ReadsMembersOfArchives) {
  folder_.Write(
      "app.pyz",
      BuildZip({{.name = "pkg/mod.py", .text = "def f():\n    pass\n", .compressed = true}}));
  const std::string member = folder_.Path("app.pyz/pkg/mod.py");
  SnapshotRequest request{.file = member, .process_start_unix_ns = SecondsFromNow(60)};
  const SourceSnapshot snapshot = TakeSnapshot(request);
  EXPECT_EQ(snapshot.text, "def f():\n    pass\n");
  EXPECT_EQ(snapshot.resolved_path, member);
  EXPECT_EQ(snapshot.verified, true);
  request.process_start_unix_ns = SecondsFromNow(-60);
  EXPECT_EQ(TakeSnapshot(request).verified, false) << "the archive is newer";
  EXPECT_THAT(TakeSnapshot({.file = folder_.Path("app.pyz/pkg/none.py")}).note,
              HasSubstr("no member pkg/none.py"));
}

TEST_F(Snapshot, TakesTheCodeOfTheCommandLine) {
  const SourceSnapshot snapshot = TakeSnapshot({.file = "<string>", .code = "print(1)"});
  EXPECT_EQ(snapshot.text, "print(1)");
  EXPECT_EQ(snapshot.verified, true);
}

TEST(TargetFiles, AbsolutePathsAreClean) {
  EXPECT_EQ(AbsolutePath("a/../b/./c//d", "/x/"), "/x/b/c/d");
  EXPECT_EQ(AbsolutePath("../../../a", "/x/y"), "/a");
  EXPECT_EQ(AbsolutePath("/a/", "/x"), "/a");
  EXPECT_EQ(AbsolutePath("", "/x"), "/x");
  EXPECT_EQ(AbsolutePath("..", "/"), "/");
  EXPECT_TRUE(IsUnder("/a/b", "/a"));
  EXPECT_TRUE(IsUnder("/a", "/a"));
  EXPECT_FALSE(IsUnder("/ab", "/a"));
  EXPECT_TRUE(IsUnder("/a", "/"));
}

// A process in a root of its own, whose absolute links must not lead out of it. Needs the right to
// chroot.
TEST_F(Snapshot, ReadsInTheRootOfTheProcess) {
  folder_.Write("root/app/real.py", "inside");
  std::filesystem::create_symlink("/app/real.py", folder_.Path("root/app/link.py"));
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    const char ok = chroot(folder_.Path("root").c_str()) == 0 && chdir("/app") == 0 ? 'y' : 'n';
    if (write(ready[1], &ok, 1) != 1) _exit(1);
    char byte;
    _exit(read(done[0], &byte, 1) == 0 ? 0 : 1);
  }
  char ok = 'n';
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  if (ok == 'y') {
    for (const char* file : {"/app/link.py", "link.py", "/app/real.py"}) {
      const SourceSnapshot snapshot =
          TakeSnapshot({.file = file, .pid = child, .working_directory = "/app"});
      EXPECT_EQ(snapshot.text, "inside") << file << ": " << snapshot.note;
    }
    const TargetFiles files(child);
    EXPECT_EQ(files.Canonical("/app/link.py"), "/app/real.py");
    EXPECT_TRUE(files.IsDirectory("/app"));
    EXPECT_FALSE(files.Exists("/etc/passwd"));
  }
  close(done[1]);
  for (int fd : {ready[0], ready[1], done[0]}) close(fd);
  int status = 0;
  waitpid(child, &status, 0);
  if (ok != 'y') GTEST_SKIP() << "may not chroot";
}

}  // namespace
}  // namespace linescope
