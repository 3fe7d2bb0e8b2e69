#include "process/launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "child.h"
#include "process/procfs.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A folder of its own for each test, removed at the end.
class LaunchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("launch_test.{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path Write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string Slurp(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::string Read(const std::string& name) { return Slurp(folder_ / name); }
  [[nodiscard]] std::string At(const std::string& name) const { return (folder_ / name).string(); }

  // Runs `sh -c SCRIPT FILE` to its end; the script writes to "$0", whose contents are returned.
  std::string RunShell(const std::string& script, LaunchOptions options = {}) {
    options.argv = {"sh", "-c", script, At("out")};
    auto process = Launch(options);
    EXPECT_TRUE(process) << process.error().what;
    EXPECT_TRUE(process->Release());
    EXPECT_TRUE(process->Wait(-1));
    return Read("out");
  }

  fs::path folder_;
};

TEST_F(LaunchTest, HoldsTheProgramUntilReleased) {
  auto process = Launch({.argv = {"sleep", "100"}});
  ASSERT_TRUE(process) << process.error().what;
  EXPECT_EQ(ReadExe(process->pid()).value(), ReadExe(::getpid()).value());
  EXPECT_FALSE(process->WaitForEnd(20).value());
  ASSERT_TRUE(process->Release());
  EXPECT_NE(ReadExe(process->pid()).value(), ReadExe(::getpid()).value())
      << "the exec has happened when Release returns";
  EXPECT_THAT(ReadCommandLine(process->pid()).value(), ::testing::ElementsAre("sleep", "100"));
  EXPECT_FALSE(process->Wait(1).value());
  ::kill(process->pid(), SIGKILL);
  const auto status = process->Wait(-1);
  ASSERT_TRUE(status && *status);
  EXPECT_EQ((*status)->signal, SIGKILL);
  EXPECT_EQ((*status)->ShellCode(), 137);
}

TEST_F(LaunchTest, TellsHowItEnded) {
  struct Case {
    const char* script;
    int code, signal, shell;
  };
  for (const Case& c : {Case{"exit 7", 7, 0, 7}, Case{"exit 255", 255, 0, 255},
                        Case{"kill -TERM $$", 0, SIGTERM, 143},
                        Case{"ulimit -c 0; kill -SEGV $$", 0, SIGSEGV, 139}}) {
    SCOPED_TRACE(c.script);
    auto process = Launch({.argv = {"/bin/sh", "-c", c.script}});
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->Release());
    ASSERT_TRUE(process->WaitForEnd(-1).value());
    EXPECT_EQ(ReadStat(process->pid())->state, 'Z') << "not reaped yet";
    const auto status = process->Reap();
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, c.code);
    EXPECT_EQ(status->signal, c.signal);
    EXPECT_EQ(status->ShellCode(), c.shell);
    EXPECT_FALSE(status->core_dumped);
  }
}

TEST_F(LaunchTest, PassesArgumentsAndChangesOfTheEnvironment) {
  ::setenv("LAUNCH_TEST_KEPT", "kept", 1);
  ::setenv("LAUNCH_TEST_GONE", "gone", 1);
  ::setenv("LAUNCH_TEST_SET", "old", 1);
  LaunchOptions options;
  options.environment = {{"LAUNCH_TEST_GONE", std::nullopt},
                         {"LAUNCH_TEST_SET", "new = value"},
                         {"LAUNCH_TEST_NEW", ""}};
  EXPECT_EQ(RunShell("echo "
                     "\"$LAUNCH_TEST_KEPT|${LAUNCH_TEST_GONE-unset}|$LAUNCH_TEST_SET|${LAUNCH_TEST_"
                     "NEW-unset}|$PWD\" > \"$0\"",
                     options),
            fmt::format("kept|unset|new = value||{}\n", fs::current_path().string()));
}

TEST_F(LaunchTest, KeepsArgvZeroApartFromTheProgram) {
  auto process = Launch({.argv = {"odd name", "100"}, .program = "/bin/sleep"});
  ASSERT_TRUE(process && process->Release());
  EXPECT_THAT(ReadCommandLine(process->pid()).value(), ::testing::ElementsAre("odd name", "100"));
  ::kill(process->pid(), SIGKILL);
  EXPECT_TRUE(process->Wait(-1));
}

TEST_F(LaunchTest, StaysInOurProcessGroupAndSession) {
  auto process = Launch({.argv = {"sleep", "100"}});
  ASSERT_TRUE(process && process->Release());
  const auto theirs = ReadStat(process->pid());
  const auto ours = ReadStat(::getpid());
  EXPECT_EQ(theirs->process_group, ours->process_group);
  EXPECT_EQ(theirs->session, ours->session);
  EXPECT_EQ(theirs->terminal, ours->terminal);
  ::kill(process->pid(), SIGKILL);
  EXPECT_TRUE(process->Wait(-1));
}

TEST_F(LaunchTest, GivesNoDescriptorOfOursToTheProgram) {
  const std::string list = "for fd in /proc/self/fd/*; do echo \"${fd##*/}\"; done > \"$0\"";
  // What a plain fork and exec would give.
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", list.c_str(), At("plain").c_str(), nullptr);
    ::_exit(1);
  }
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(RunShell(list), Read("plain"));
  EXPECT_NE(Read("plain"), "");
}

TEST_F(LaunchTest, GivesItTheStreamsThatWereAskedFor) {
  const UniqueFd in(::open(Write("in", "typed").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd out(::open(At("both").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  LaunchOptions options;
  options.streams = {in.get(), out.get(), out.get()};
  EXPECT_EQ(RunShell("cat; echo error >&2; echo done > \"$0\"", options), "done\n");
  EXPECT_EQ(Read("both"), "typederror\n");
}

// In a child, because what was inherited is remembered once in a process.
TEST_F(LaunchTest, RestoresWhatWeInherited) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // What this process "inherits" ...
    ::signal(SIGUSR1, SIG_IGN);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGCHLD, SIG_IGN);
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGUSR2);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    cpu_set_t cpus;
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    SaveInheritedSignals();
    // ... and what it makes of it.
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR1, [](int) {});
    ::signal(SIGINT, [](int) {});
    ::sigfillset(&mask);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::prctl(PR_SET_TIMERSLACK, 1);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &cpus)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    ::sched_setaffinity(0, sizeof one, &one);
    // Not by a shell, which sets its own signals.
    for (const std::string file : {"status", "timerslack_ns"}) {
      auto process = Launch({.argv = {"cp", "/proc/self/" + file, At(file)}});
      EXPECT_TRUE(process && process->Release());
      EXPECT_EQ(process->Wait(-1).value()->code, 0) << "there although SIGCHLD was ignored";
    }
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  const std::string text = Read("status");
  const auto bits = [&](const std::string& key) {
    const size_t at = text.find(key + ":\t");
    EXPECT_NE(at, std::string::npos) << key;
    return at == std::string::npos ? 0
                                   : std::stoull(text.substr(at + key.size() + 2, 16), nullptr, 16);
  };
  const auto bit = [](int signal) { return 1ULL << (signal - 1); };
  EXPECT_EQ(bits("SigBlk"), bit(SIGUSR2));
  EXPECT_EQ(bits("SigIgn") & bit(SIGUSR1), bit(SIGUSR1));
  EXPECT_EQ(bits("SigIgn") & bit(SIGCHLD), bit(SIGCHLD));
  EXPECT_EQ(bits("SigIgn") & (bit(SIGPIPE) | bit(SIGINT)), 0U);
  EXPECT_EQ(Read("timerslack_ns"), Slurp("/proc/self/timerslack_ns"));
  // The parent of all this changed nothing of its own, so it shows what was inherited.
  const auto line = [](const std::string& t) {
    const size_t at = t.find("Cpus_allowed_list:");
    return t.substr(at, t.find('\n', at) - at);
  };
  EXPECT_EQ(line(text), line(Slurp("/proc/self/status")));
}

TEST_F(LaunchTest, ExplainsWhatCannotBeRun) {
  struct Case {
    std::string program;
    int exit_code;
    std::string what;
  };
  const Case before[] = {
      {"", 127, "without a name"},
      {"no-such-program-anywhere", 127, "no such program along PATH"},
      {At("missing"), 127, "No such file or directory"},
      {Write("plain", "text", 0644).string() + "/x", 127, "Not a directory"},
      {Write("data", "text", 0644).string(), 126, "not executable"},
      {folder_.string(), 126, "it is a directory"},
  };
  for (const Case& c : before) {
    SCOPED_TRACE(c.program);
    const auto process = Launch({.argv = {c.program}});
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::kUsage);
    EXPECT_EQ(process.error().exit_code, c.exit_code);
    EXPECT_THAT(process.error().what, HasSubstr(c.what));
    EXPECT_THAT(process.error().what, HasSubstr(c.program));
  }
  const Case at_exec[] = {
      {Write("bad_interpreter", "#! /no/such/interpreter -x\n").string(), 127,
       "/no/such/interpreter, does not exist"},
      {Write("garbage", std::string("\x7f\0\0\0garbage\n", 12)).string(), 126,
       "no program for this machine"},
  };
  for (const Case& c : at_exec) {
    SCOPED_TRACE(c.program);
    auto process = Launch({.argv = {c.program}});
    ASSERT_TRUE(process);
    const auto released = process->Release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().exit_code, c.exit_code);
    EXPECT_THAT(released.error().what, HasSubstr(c.what));
    const auto status = process->Wait(-1);
    ASSERT_TRUE(status && *status);
    EXPECT_EQ((*status)->code, c.exit_code);
  }
}

TEST_F(LaunchTest, RunsATextFileByTheShell) {
  auto process = Launch({.argv = {Write("script", "exit $1\n").string(), "9"}});
  ASSERT_TRUE(process && process->Release());
  EXPECT_EQ(process->Wait(-1).value()->code, 9);
}

TEST_F(LaunchTest, ResolvesAlongThePath) {
  fs::create_directories(folder_ / "a");
  fs::create_directories(folder_ / "b/tool");
  fs::create_directories(folder_ / "c");
  const std::string old = ::getenv("PATH");
  const auto resolve = [&](const std::string& path) {
    ::setenv("PATH", path.c_str(), 1);
    auto result = ResolveProgram("tool");
    ::setenv("PATH", old.c_str(), 1);
    return result;
  };
  Write("c/tool", "#!/bin/sh\n");
  EXPECT_EQ(resolve(At("a") + ":" + At("b") + ":" + At("c")).value(), At("c/tool"))
      << "a directory is no program";
  Write("a/tool", "#!/bin/sh\n", 0644);
  EXPECT_EQ(resolve(At("a") + ":" + At("c")).value(), At("c/tool"))
      << "the next one that can be executed";
  EXPECT_EQ(resolve(At("a")).error().exit_code, 126) << "found, but not executable";
  const fs::path here = fs::current_path();
  fs::current_path(folder_ / "c");
  EXPECT_EQ(resolve("/nonexistent::").value(), "./tool")
      << "an empty element is the working directory";
  fs::current_path(here);
}

TEST_F(LaunchTest, EndsAnUnreleasedChildWithTheObject) {
  int pid;
  {
    auto process = Launch({.argv = {"sh", "-c", "echo ran > \"$0\"", At("ran")}});
    ASSERT_TRUE(process);
    pid = process->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(LaunchTest, EndsAnUnreleasedChildWhenWeDie) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    auto process = Launch({.argv = {"sh", "-c", "echo ran > \"$0\"", At("ran")}});
    const int pid = process->pid();
    (void)!::write(ends[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  int pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ::close(ends[0]);
  ::waitpid(launcher, nullptr, 0);
  bool ended = false;
  for (int i = 0; i < 2000 && !ended; ++i) {
    const auto stat = ReadStat(pid);
    ended = !stat || stat->state == 'Z';
    if (!ended) ::usleep(1000);
  }
  EXPECT_TRUE(ended);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(LaunchTest, SurvivesTheDeathOfTheHeldChild) {
  auto process = Launch({.argv = {"sleep", "100"}});
  ASSERT_TRUE(process);
  ::kill(process->pid(), SIGTERM);
  ASSERT_TRUE(process->WaitForEnd(-1).value());
  EXPECT_TRUE(process->Release()) << "no SIGPIPE, and no exec error either";
  EXPECT_EQ(process->Wait(-1).value()->signal, SIGTERM);
}

// A stands for the shell, B for LineScope in a process group of its own, C for the target, which
// stops itself.
TEST_F(LaunchTest, StopsWithATargetThatStopsItself) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    auto process = Launch({.argv = {"sh", "-c", "kill -TSTP $$; exit 3"}});
    if (!process || !process->Release()) ::_exit(100);
    for (;;) {
      (void)process->StopWithTarget();
      const auto status = process->Wait(5);
      if (!status) ::_exit(101);
      if (*status) ::_exit((*status)->code);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  EXPECT_EQ(WSTOPSIG(status), SIGTSTP);
  ::kill(-pid, SIGCONT);
  ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
  ASSERT_TRUE(WIFEXITED(status)) << "continued once, not stopped again: " << status;
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace linescope
