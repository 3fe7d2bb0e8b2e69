#include "process/user.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "process/procfs.h"

namespace linescope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::optional<User> Caller(std::map<std::string, std::string> variables,
                           const std::string& program = "linescope") {
  return SudoCaller(
      [&](const std::string& name) -> std::optional<std::string> {
        const auto it = variables.find(name);
        return it == variables.end() ? std::nullopt : std::optional(it->second);
      },
      program);
}

TEST(SudoCaller, IsWhoCalledTheSudoThatStartedUs) {
  const passwd* nobody = ::getpwnam("nobody");
  ASSERT_NE(nobody, nullptr);
  std::map<std::string, std::string> variables = {{"SUDO_UID", std::to_string(nobody->pw_uid)},
                                                  {"SUDO_GID", "12"},
                                                  {"SUDO_USER", "nobody"},
                                                  {"SUDO_COMMAND", "/usr/bin/linescope run a.py"}};
  const auto user = Caller(variables);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->uid, nobody->pw_uid);
  EXPECT_EQ(user->gid, 12U);
  EXPECT_EQ(user->name, "nobody");
  EXPECT_THAT(user->groups, Contains(nobody->pw_gid));

  variables["SUDO_COMMAND"] = "/usr/bin/env A=1 ./linescope run a.py";
  EXPECT_TRUE(Caller(variables));
  variables["SUDO_USER"] = "somebody else";
  ASSERT_TRUE(Caller(variables));
  EXPECT_EQ(Caller(variables)->name, "nobody") << "the number decides";
  variables["SUDO_UID"] = "4294967290";
  const auto unknown = Caller(variables);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->uid, 4294967290U);
  EXPECT_THAT(unknown->groups, ElementsAre(12U));
}

TEST(SudoCaller, IsNobodyElse) {
  const std::map<std::string, std::string> good = {
      {"SUDO_UID", "65534"}, {"SUDO_GID", "12"}, {"SUDO_COMMAND", "/usr/bin/linescope"}};
  ASSERT_TRUE(Caller(good));
  const std::pair<const char*, const char*> changes[] = {
      {"SUDO_UID", "0"},    {"SUDO_UID", ""},
      {"SUDO_UID", "-1"},   {"SUDO_UID", "99999999999"},
      {"SUDO_GID", "x"},    {"SUDO_COMMAND", "/bin/bash"},
      {"SUDO_COMMAND", ""}, {"SUDO_COMMAND", "/usr/bin/linescope-old"}};
  for (const auto& [name, value] : changes) {
    auto variables = good;
    variables[name] = value;
    EXPECT_FALSE(Caller(variables)) << name << "=" << value;
  }
  EXPECT_FALSE(Caller({}));
}

TEST(FindUser, TakesNamesAndNumbers) {
  ASSERT_TRUE(FindUser("root"));
  EXPECT_EQ(FindUser("root")->uid, 0U);
  EXPECT_EQ(FindUser("0")->name, "root");
  EXPECT_EQ(FindUser("no such user").error().code, ErrorCode::kUsage);
}

TEST(BecomeUser, KeepsWhatReadingTakes) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t child = ::fork();
  if (child == 0) {
    User user{
        .uid = 65534, .gid = 65534, .groups = {65534, 12}, .name = {}, .home = {}, .shell = {}};
    const auto before = ReadStatus(::getpid());
    if (!BecomeUser(user, KeepFiles::kNo)) ::_exit(1);
    const auto status = ReadStatus(::getpid());
    if (!before || !status || status->uid.real != 65534 || status->uid.saved != 65534) ::_exit(2);
    if (status->gid.effective != 65534 || ::getgroups(0, nullptr) != 2) ::_exit(3);
    uint64_t wanted = 0;
    for (const int capability :
         {CAP_SYS_PTRACE, CAP_PERFMON, CAP_NET_ADMIN, CAP_CHECKPOINT_RESTORE}) {
      wanted |= uint64_t{1} << capability;
    }
    if (status->effective_caps != (wanted & before->effective_caps)) ::_exit(4);
    if (status->permitted_caps != status->effective_caps) ::_exit(5);
    if (::setuid(0) == 0) ::_exit(6);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace linescope
