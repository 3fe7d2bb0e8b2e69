#include "process/remote_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "child.h"
#include "process/live_memory.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

// Three pages, the middle one unmapped, in this process and so in its forked children.
class Pages {
 public:
  Pages() {
    base_ = static_cast<char*>(
        ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < 3 * kPage; ++i) base_[i] = static_cast<char>('a' + i % 23);
    ::munmap(base_ + kPage, kPage);
  }
  ~Pages() {
    ::munmap(base_, kPage);
    ::munmap(base_ + 2 * kPage, kPage);
  }
  [[nodiscard]] Address address(size_t offset) const {
    return reinterpret_cast<Address>(base_) + offset;
  }
  static constexpr size_t kPage = 4096;

 private:
  char* base_;
};

char Expected(size_t offset) { return static_cast<char>('a' + offset % 23); }

enum class Way { kVmReadv, kMemFile };

class LiveMemoryTest : public ::testing::TestWithParam<Way> {
 protected:
  std::unique_ptr<RemoteMemory> Open(int pid) {
    if (GetParam() == Way::kVmReadv) return std::make_unique<VmReadvMemory>(pid);
    auto memory = MemFileMemory::Open(pid);
    EXPECT_TRUE(memory) << memory.error();
    return memory ? std::move(*memory) : nullptr;
  }
  Pages pages_;
};

TEST_P(LiveMemoryTest, ReadsScatteredRangesOfAChild) {
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  auto memory = Open(child.pid());
  const std::vector<RemoteRange> ranges = {{pages_.address(2 * Pages::kPage + 5), 3},
                                           {pages_.address(0), 2}};
  std::string out(5, '.');
  ASSERT_EQ(memory->Read(ranges, out.data()), 5);
  EXPECT_EQ(out, std::string({Expected(2 * Pages::kPage + 5), Expected(2 * Pages::kPage + 6),
                              Expected(2 * Pages::kPage + 7), Expected(0), Expected(1)}));
  EXPECT_EQ(memory->bytes(), 5U);
}

TEST_P(LiveMemoryTest, SplitsListsLongerThanTheKernelTakes) {
  auto memory = Open(::getpid());
  constexpr size_t kCount = 2 * IOV_MAX + 7;
  std::vector<RemoteRange> ranges;
  for (size_t i = 0; i < kCount; ++i) ranges.push_back({pages_.address(i % Pages::kPage), 1});
  std::string out(kCount, '.');
  ASSERT_EQ(memory->Read(ranges, out.data()), static_cast<ssize_t>(kCount));
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(out[i], Expected(i % Pages::kPage)) << i;
  EXPECT_EQ(memory->calls(), GetParam() == Way::kVmReadv ? 3U : kCount);
}

TEST_P(LiveMemoryTest, ReadsShortUpToAnUnmappedPage) {
  auto memory = Open(::getpid());
  std::string out(2 * Pages::kPage, '.');
  const std::vector<RemoteRange> ranges = {{pages_.address(100), 2 * Pages::kPage - 100},
                                           {pages_.address(0), 1}};
  EXPECT_EQ(memory->Read(ranges, out.data()), static_cast<ssize_t>(Pages::kPage - 100));
  EXPECT_EQ(out[0], Expected(100));
  EXPECT_EQ(out[Pages::kPage - 101], Expected(Pages::kPage - 1));
}

TEST_P(LiveMemoryTest, SaysEfaultWhenNothingIsThere) {
  auto memory = Open(::getpid());
  char byte;
  for (const Address address :
       {pages_.address(Pages::kPage), Address{0}, ~Address{0} - 4095, Address{1} << 63}) {
    const RemoteRange range{address, 1};
    EXPECT_EQ(memory->Read({&range, 1}, &byte), -EFAULT) << std::hex << address;
  }
  EXPECT_EQ(memory->Read({}, &byte), 0);
}

TEST_P(LiveMemoryTest, SaysEsrchOnceTheProcessHasEnded) {
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  auto memory = Open(child.pid());
  child.KillOnly();
  char byte;
  const RemoteRange range{pages_.address(0), 1};
  EXPECT_EQ(memory->Read({&range, 1}, &byte), -ESRCH);
  child.KillAndReap();
  EXPECT_EQ(memory->Read({&range, 1}, &byte), -ESRCH);
}

TEST_P(LiveMemoryTest, FollowsAnExec) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  Child child([&](const auto& ready) {
    ready();
    char byte;
    (void)!::read(gate[0], &byte, 1);
    ::execl("/bin/sleep", "sleep", "100", nullptr);
  });
  auto memory = Open(child.pid());
  char byte;
  const RemoteRange range{pages_.address(0), 1};
  ASSERT_EQ(memory->Read({&range, 1}, &byte), 1);
  ASSERT_EQ(::write(gate[1], "x", 1), 1);
  // The new program does not have our pages; it has memory, so the answer is a fault and not the
  // end of the process.
  ssize_t n = 1;
  for (int i = 0; i < 1000 && n == 1; ++i) {
    ::usleep(2000);
    n = memory->Read({&range, 1}, &byte);
  }
  EXPECT_EQ(n, -EFAULT);
  ::close(gate[0]);
  ::close(gate[1]);
}

INSTANTIATE_TEST_SUITE_P(Ways, LiveMemoryTest, ::testing::Values(Way::kVmReadv, Way::kMemFile),
                         [](const auto& test) {
                           return test.param == Way::kVmReadv ? "VmReadv" : "MemFile";
                         });

TEST(OpenRemoteMemory, ReadsThisProcess) {
  auto memory = OpenRemoteMemory(::getpid());
  ASSERT_TRUE(memory) << memory.error().what;
  const uint64_t value = 0x1122334455667788;
  uint64_t copy = 0;
  EXPECT_TRUE((*memory)->ReadValue(reinterpret_cast<Address>(&value), &copy));
  EXPECT_EQ(copy, value);
}

TEST(OpenRemoteMemory, NamesAMissingProcess) {
  Child child([](const auto& ready) { ready(); });
  const int pid = child.pid();
  child.KillAndReap();
  auto memory = OpenRemoteMemory(pid);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kGone);
  EXPECT_THAT(memory.error().what,
              HasSubstr(fmt::format("process {}: there is no such process", pid)));
}

TEST(OpenRemoteMemory, KnowsAZombie) {
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  child.KillOnly();
  auto memory = OpenRemoteMemory(child.pid());
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kGone);
  EXPECT_THAT(memory.error().what, HasSubstr("it has ended"));
}

// Runs `check` in a child that has given up root for user and group 65534.
int AsNobody(const std::function<bool()>& check) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OpenRemoteMemory, NamesAnotherUser) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Child child([](const auto& ready) {
    ready();
    WaitForever();
  });
  EXPECT_EQ(AsNobody([&] {
              auto memory = OpenRemoteMemory(child.pid());
              if (memory) return false;
              ::fprintf(stderr, "%s\n", memory.error().what.c_str());
              return memory.error().code == ErrorCode::kDenied &&
                     memory.error().what.find("belongs to user 0, linescope runs as user 65534") !=
                         std::string::npos &&
                     memory.error().what.find("sudo") != std::string::npos;
            }),
            0);
}

TEST(OpenRemoteMemory, NamesANonDumpableProcess) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Child child([](const auto& ready) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ::prctl(PR_SET_DUMPABLE, 0);
    ready();
    WaitForever();
  });
  EXPECT_EQ(AsNobody([&] {
              auto memory = OpenRemoteMemory(child.pid());
              return !memory && memory.error().code == ErrorCode::kDenied &&
                     memory.error().what.find("non-dumpable") != std::string::npos;
            }),
            0);
}

}  // namespace
}  // namespace linescope
