#include "process/user.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "base/file_name.h"

namespace linescope {
namespace {

std::optional<uint32_t> ParseId(std::string_view text) {
  uint32_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return id;
}

User Describe(const passwd& entry) {
  User user{.uid = entry.pw_uid,
            .gid = entry.pw_gid,
            .groups = {},
            .name = entry.pw_name,
            .home = entry.pw_dir,
            .shell = entry.pw_shell};
  int count = 64;
  do {
    user.groups.resize(static_cast<size_t>(count));
  } while (::getgrouplist(entry.pw_name, entry.pw_gid, user.groups.data(), &count) < 0);
  user.groups.resize(static_cast<size_t>(count));
  return user;
}

// Whether one of the words of `command` is our name, with or without a path.
bool Names(std::string_view command, std::string_view program) {
  while (!command.empty()) {
    const std::string_view word = command.substr(0, command.find(' '));
    if (FileName(word) == FileName(program)) return true;
    command.remove_prefix(std::min(word.size() + 1, command.size()));
  }
  return false;
}

// Those that the kernel does not know (before 5.8) are not asked for: capset would fail.
void Keep(int capability, __user_cap_data_struct* sets) {
  if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) return;
  const auto bit = 1U << (capability % 32);
  sets[capability / 32].permitted |= bit;
  sets[capability / 32].effective |= bit;
}

}  // namespace

Result<User> FindUser(const std::string& name_or_id) {
  const auto id = ParseId(name_or_id);
  const passwd* entry = ::getpwnam(name_or_id.c_str());
  if (entry == nullptr && id) entry = ::getpwuid(*id);
  if (entry == nullptr) {
    return Fail(ErrorCode::kUsage, "there is no user '{}' on this machine", name_or_id);
  }
  return Describe(*entry);
}

std::optional<User> SudoCaller(
    const std::function<std::optional<std::string>(const std::string&)>& get_env,
    const std::string& program) {
  const auto uid = get_env("SUDO_UID").and_then([](const auto& text) { return ParseId(text); });
  const auto gid = get_env("SUDO_GID").and_then([](const auto& text) { return ParseId(text); });
  if (!uid || !gid || *uid == 0 || !Names(get_env("SUDO_COMMAND").value_or(""), program)) {
    return std::nullopt;
  }
  // The name may be one of several of the same id.
  const auto name = get_env("SUDO_USER");
  const passwd* entry = name ? ::getpwnam(name->c_str()) : nullptr;
  if (entry == nullptr || entry->pw_uid != *uid) entry = ::getpwuid(*uid);
  if (entry == nullptr)
    return User{.uid = *uid, .gid = *gid, .groups = {*gid}, .name = {}, .home = {}, .shell = {}};
  User user = Describe(*entry);
  user.gid = *gid;
  return user;
}

Status BecomeUser(const User& user, KeepFiles files) {
  __user_cap_data_struct before[_LINUX_CAPABILITY_U32S_3] = {},
                         after[_LINUX_CAPABILITY_U32S_3] = {};
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const auto failed = [&] {
    return Fail(ErrorCode::kDenied, "cannot become user {}: {}",
                user.name.empty() ? std::to_string(user.uid) : user.name, ErrnoText());
  };
  if (::syscall(SYS_capget, &header, before) != 0) return failed();
  for (const int capability :
       {CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_PERFMON, CAP_NET_ADMIN}) {
    Keep(capability, after);
  }
  if (files == KeepFiles::kYes) Keep(CAP_DAC_READ_SEARCH, after);
  for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) {  // a container's root has fewer
    after[i].permitted &= before[i].permitted;
    after[i].effective = after[i].permitted;
  }
  if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 ||
      ::setgroups(user.groups.size(), user.groups.data()) != 0 ||
      ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0 ||
      ::syscall(SYS_capset, &header, after) != 0) {
    return failed();
  }
  return {};
}

}  // namespace linescope
