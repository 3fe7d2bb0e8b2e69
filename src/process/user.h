#pragma once
// Under sudo: the user who called it, and becoming that user with no more privileges than reading
// other processes takes.
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace linescope {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // all of them, as login gives them
  std::string name, home, shell;
};

// By name or number. kUsage: there is no such user.
Result<User> FindUser(const std::string& name_or_id);

// Who called the sudo whose command we are. None for root's own shell, which sudo may have opened
// long ago: there it was not us that sudo was told to run. `get_env` looks up SUDO_…; `program` is
// the name we were started by.
std::optional<User> SudoCaller(
    const std::function<std::optional<std::string>(const std::string&)>& get_env,
    const std::string& program);

// What is kept of root's privileges, beyond reading the memory and the mapped files of all
// processes, their switches on and off CPUs, and news of forks.
enum class KeepFiles : bool {
  kNo,   // files are read as the user
  kYes,  // all files can be read: sources of other users' programs
};

// Turns this process, root's until now, into one of the user's, for good: ids, groups,
// capabilities. Children that it executes have none of root's privileges. To be called before there
// are threads.
Status BecomeUser(const User& user, KeepFiles files);

}  // namespace linescope
