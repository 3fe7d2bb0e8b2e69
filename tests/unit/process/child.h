#pragma once
// A forked child that runs a function and is killed and reaped at the end of the test.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace linescope {

class Child {
 public:
  // Runs `body` in a child, which then exits with 0. Returns once the child has called `ready` (its
  // argument).
  explicit Child(const std::function<void(const std::function<void()>& ready)>& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      body([&] { (void)!::write(ends[1], "x", 1); });
      ::_exit(0);
    }
    ::close(ends[1]);
    char byte;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { KillAndReap(); }

  [[nodiscard]] int pid() const { return pid_; }
  void KillAndReap() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // Kills it and waits for its death, but leaves the zombie.
  void KillOnly() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  pid_t pid_ = -1;
};

inline void WaitForever() {
  for (;;) ::pause();
}

}  // namespace linescope
