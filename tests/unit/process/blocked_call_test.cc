#include "process/blocked_call.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace linescope {
namespace {

TEST(FutexWait, ReadsTheWordThatIsWaitedFor) {
  EXPECT_EQ(ParseFutexWait(fmt::format("{} 0x7f0a2c001b40 0x189 0x0 0x7ffd 0x0 0xffffffff 0x7ffd "
                                       "0x7f0a\n",
                                       SYS_futex)),
            0x7f0a2c001b40u);
}

TEST(FutexWait, KnowsOtherCallsAndNone) {
  for (const char* text :
       {"running", "running\n", "-1 0x7ffd01 0x7f0a2c\n", "0 0x3 0x7fae 0x20\n", "", " ", "x 0x10 ",
        "202", "202 ", "202 10 0x0", "202 0x", "202 0xzz 0x0", "202 0xfffffffffffffffff 0x0",
        "99999999999999999999 0x10 0x0"}) {
    EXPECT_EQ(ParseFutexWait(text), std::nullopt) << text;
  }
}

TEST(FutexWait, SeesAThreadOnALock) {
  std::mutex mutex;
  mutex.lock();
  std::atomic<int> tid = 0;
  std::thread waiter([&] {
    tid = ::gettid();
    const std::lock_guard lock(mutex);
  });
  std::optional<Address> seen;
  for (int i = 0; i < 2000 && !seen; ++i) {
    ::usleep(1000);
    if (tid != 0) seen = ReadFutexWait(::getpid(), tid);
  }
  mutex.unlock();
  waiter.join();
  ASSERT_TRUE(seen);
  EXPECT_EQ(*seen, reinterpret_cast<Address>(mutex.native_handle()));
  EXPECT_EQ(ReadFutexWait(::getpid(), tid), std::nullopt) << "it has ended";
}

}  // namespace
}  // namespace linescope
