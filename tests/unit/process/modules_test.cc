#include "process/modules.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "child.h"
#include "process/live_memory.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

Mapping File(Address start, uint64_t offset, uint64_t inode, bool code = false) {
  return {.start = start,
          .end = start + 0x1000,
          .executable = code,
          .offset = offset,
          .device_major = 8,
          .inode = inode,
          .path = fmt::format("/lib/{}.so", inode)};
}

TEST(GroupModules, KeepsInstancesApart) {
  std::vector<Mapping> maps = {File(0x1000, 0, 5),      File(0x2000, 0x1000, 5, true),
                               File(0x3000, 0x1000, 5), File(0x5000, 0, 6),
                               File(0x6000, 0, 5),      File(0x7000, 0x1000, 5, true)};
  maps.push_back({.start = 0x9000, .end = 0xa000, .path = "[heap]"});
  const std::vector<Module> modules = GroupModules(maps);
  ASSERT_EQ(modules.size(), 3U);
  EXPECT_EQ(modules[0].base(), 0x1000U);
  EXPECT_EQ(modules[0].mappings.size(), 3U) << "two segments share a page of the file";
  EXPECT_TRUE(modules[0].has_code());
  EXPECT_EQ(modules[1].path, "/lib/6.so");
  EXPECT_FALSE(modules[1].has_code());
  EXPECT_EQ(modules[2].base(), 0x6000U);
  EXPECT_EQ(modules[2].end(), 0x8000U);
}

TEST(GroupModules, KeepsSegmentsTogetherWhenAnotherFileLiesBetween) {
  const Mapping maps[] = {File(0x1000, 0, 5), File(0x3000, 0, 6), File(0x5000, 0x2000, 5)};
  const std::vector<Module> modules = GroupModules(maps);
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules[0].mappings.size(), 2U);
}

std::string Contents(int fd) {
  char buffer[64];
  const ssize_t n = ::pread(fd, buffer, sizeof buffer, 0);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

// A child that has a file with known contents mapped.
class MappedFile {
 public:
  explicit MappedFile(
      const fs::path& path, const std::function<void()>& before = [] {})
      : child_([&](const auto& ready) {
          before();
          std::ofstream(path) << "the mapped file";
          const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
          if (::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) ::_exit(1);
          ready();
          WaitForever();
        }) {
    const auto maps = ReadMaps(child_.pid());
    EXPECT_TRUE(maps);
    for (const Mapping& m : *maps) {
      if (fs::path(m.path).filename() == path.filename()) mapping_ = m;
    }
    EXPECT_NE(mapping_.inode, 0U);
  }
  Child child_;
  Mapping mapping_;
};

fs::path TempFile(const std::string& name) {
  return fs::path(::testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
}

TEST(OpenMappedFile, OpensAFile) {
  const fs::path path = TempFile("modules plain");
  const MappedFile mapped(path);
  const auto fd = OpenMappedFile(mapped.child_.pid(), mapped.mapping_);
  ASSERT_TRUE(fd) << fd.error().what;
  EXPECT_EQ(Contents(fd->get()), "the mapped file");
  fs::remove(path);
}

TEST(OpenMappedFile, NeverOpensAnotherFileInItsPlace) {
  const fs::path path = TempFile("modules replaced");
  const MappedFile mapped(path);
  fs::rename(path, path.string() + ".old");  // keeps the inode from being used again
  std::ofstream(path) << "another file";
  const auto expect_the_file_or_an_error = [&] {
    const auto fd = OpenMappedFile(mapped.child_.pid(), mapped.mapping_);
    if (fd) {
      EXPECT_EQ(Contents(fd->get()), "the mapped file");
    } else {
      EXPECT_EQ(fd.error().code, ErrorCode::kGone);
    }
  };
  expect_the_file_or_an_error();
  // A pipe in its place must not make us wait, either.
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_the_file_or_an_error();
  fs::remove(path);
  fs::remove(path.string() + ".old");
}

TEST(OpenMappedFile, OpensADeletedFileWhereTheKernelLetsUs) {
  const fs::path path = TempFile("modules deleted");
  const MappedFile mapped(path);
  fs::remove(path);
  const auto maps = ReadMaps(mapped.child_.pid());
  const auto it = std::ranges::find(*maps, mapped.mapping_.start, &Mapping::start);
  ASSERT_NE(it, maps->end());
  EXPECT_TRUE(it->deleted);
  const auto fd = OpenMappedFile(mapped.child_.pid(), *it);
  if (!fd) GTEST_SKIP() << fd.error().what;
  EXPECT_EQ(Contents(fd->get()), "the mapped file");
}

TEST(OpenMappedFile, OpensADeletedExecutable) {
  const fs::path path = TempFile("modules_sleep");
  fs::copy_file("/bin/sleep", path, fs::copy_options::overwrite_existing);
  Child child([&](const auto& ready) {
    ::fcntl(2, F_SETFD, FD_CLOEXEC);
    ready();
    ::execl(path.c_str(), "sleep", "100", nullptr);
  });
  std::vector<Module> modules;
  for (int i = 0; i < 1000; ++i) {  // until the exec is through
    modules = ListCodeModules(child.pid()).value_or(std::vector<Module>());
    std::erase_if(modules,
                  [&](const Module& m) { return fs::path(m.path).filename() != path.filename(); });
    if (!modules.empty()) break;
    ::usleep(2000);
  }
  fs::remove(path);
  ASSERT_EQ(modules.size(), 1U);
  VmReadvMemory memory(child.pid());
  const auto file = OpenModule(child.pid(), modules[0], &memory);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_TRUE(file->LoadBias(modules[0].mappings));
}

TEST(OpenMappedFile, SeesIntoAnotherMountNamespace) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to make a mount namespace";
  // In a plain chroot "/" is no mount point, and its mounts cannot be made private.
  const pid_t probe = ::fork();
  if (probe == 0) {
    ::_exit(::unshare(CLONE_NEWNS) == 0 &&
                    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(probe, &status, 0);
  if (status != 0) GTEST_SKIP() << "mounts cannot be made private here";
  const fs::path folder = TempFile("modules_namespace");
  fs::create_directory(folder);
  const MappedFile mapped(folder / "inside", [&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.c_str(), "tmpfs", 0, nullptr) != 0) {
      ::_exit(1);
    }
  });
  EXPECT_FALSE(fs::exists(folder / "inside"));
  const auto fd = OpenMappedFile(mapped.child_.pid(), mapped.mapping_);
  ASSERT_TRUE(fd) << fd.error().what;
  EXPECT_EQ(Contents(fd->get()), "the mapped file");
  fs::remove(folder);
}

}  // namespace
}  // namespace linescope
