#include "python/thread_ids.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "process/live_memory.h"
#include "python/layout.h"

namespace linescope {
namespace {

// A process of which ids are asked. Its memory is ours, as a fork's is.
class Forked {
 public:
  explicit Forked(bool own_namespace = false) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool inside = !own_namespace || ::unshare(CLONE_NEWPID) == 0;
      const pid_t inner = inside && own_namespace ? ::fork() : 1;
      if (inner == 0) ::close(ends[1]);
      if (inner != 0 && ::write(ends[1], inside ? "y" : "n", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char answer = 'n';
    made_ = ::read(ends[0], &answer, 1) == 1 && answer == 'y';
    ::close(ends[0]);
    ::close(ends[1]);
    id_ = pid_;
    if (made_ && own_namespace) {
      std::ifstream(fmt::format("/proc/{0}/task/{0}/children", pid_)) >> inner_;
      id_ = inner_;
    }
  }
  ~Forked() {
    for (const pid_t pid : {inner_, pid_}) {
      if (pid > 0) ::kill(pid, SIGKILL);
    }
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] int id() const { return id_; }

 private:
  pid_t pid_ = 0, inner_ = 0, id_ = 0;
  bool made_ = false;
};

TEST(ThreadIds, AreWhatTheThreadSays) {
  const Forked process;
  VmReadvMemory memory(process.id());
  ThreadIds ids(process.id(), &memory, &layout::kPython312);
  EXPECT_EQ(ids.Find({.native_id = process.id()}, false), process.id());
  EXPECT_EQ(ids.Find({.native_id = ::getpid()}, false), 0) << "a thread, but of another process";
}

// As uWSGI forks: the thread states still have the ids of the parent's threads.
TEST(ThreadIds, AreFoundAfterASilentFork) {
  const Forked process;
  VmReadvMemory memory(process.id());
  ThreadIds ids(process.id(), &memory, &layout::kPython312);
  PythonThread stale{.native_id = ::getpid()};
  EXPECT_EQ(ids.Find(stale, true), process.id()) << "there is but one to choose";
#if defined(__GLIBC__) && defined(__x86_64__)
  stale.pthread_id = ::pthread_self();
  EXPECT_EQ(ids.Find(stale, false), process.id()) << "by the C library's own note";
#endif
}

TEST(ThreadIds, AreTranslatedFromAnotherNamespace) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to make a pid namespace";
  const Forked process(true);
  if (!process.made() || process.id() == 0) GTEST_SKIP() << "no pid namespace can be made here";
  VmReadvMemory memory(process.id());
  ThreadIds ids(process.id(), &memory, &layout::kPython312);
  EXPECT_EQ(ids.Find({.native_id = 1}, false), process.id());
  EXPECT_EQ(ids.Find({.native_id = 2}, false), 0);
}

}  // namespace
}  // namespace linescope
