#include "process/thread_rest.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <span>
#include <string_view>

namespace linescope {
namespace {

UniqueFd OpenTaskFile(int pid, int tid, const char* name) {
  return UniqueFd(
      ::open(fmt::format("/proc/{}/task/{}/{}", pid, tid, name).c_str(), O_RDONLY | O_CLOEXEC));
}

std::string_view ReadAll(const UniqueFd& file, std::span<char> buffer) {
  const ssize_t n = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : -1;
  return n > 0 ? std::string_view(buffer.data(), static_cast<size_t>(n)) : std::string_view();
}

}  // namespace

ThreadRest ThreadRest::Open(int pid, int tid) {
  ThreadRest rest;
  rest.syscall_ = OpenTaskFile(pid, tid, "syscall");
  rest.schedstat_ = OpenTaskFile(pid, tid, "schedstat");
  return rest;
}

ThreadRest::Mark ThreadRest::Read() const {
  // The state letter of `stat` says "sleeping" a little early: a thread that is about to sleep may
  // yet go on. For this file the kernel waits until the thread has left its CPU
  // (task_current_syscall), and says "running" when it does not. The CPU time is read after it: of
  // a run that had ended by then, it holds all.
  char buffer[256];
  const std::string_view syscall = ReadAll(syscall_, buffer);
  if (syscall.empty() || syscall.starts_with("running")) return {};
  const std::string_view schedstat = ReadAll(schedstat_, buffer);
  Mark mark;
  const auto [end, error] =
      std::from_chars(schedstat.data(), schedstat.data() + schedstat.size(), mark.on_cpu_ns);
  mark.off_cpu = error == std::errc() && end != schedstat.data();
  return mark;
}

}  // namespace linescope
