#pragma once
// Forks, execs and ends of all processes, as the kernel's process connector tells them over
// netlink. Nobody is traced, stopped or changed for it: what is watched behaves as it would
// unwatched.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

struct ProcessEvent {
  enum class Kind : uint8_t { kFork, kExec, kExit } kind = Kind::kFork;
  int pid = 0;
  int parent = 0;       // kFork only
  int64_t at_ns = 0;    // CLOCK_MONOTONIC
  int wait_status = 0;  // kExit only: as wait(2) gives it
};

// One datagram of the connector; nullopt: of another kind, of a thread that is not its process's
// first, or malformed. A kExit only says that the first thread has ended: others may go on.
std::optional<ProcessEvent> ParseProcessEvent(std::span<const std::byte> datagram);

// Subscribed while it lives. One thread.
class ProcessEvents {
 public:
  // kDenied: before Linux 6.6 without CAP_NET_ADMIN, or outside the first pid or user namespace.
  // kUnsupported: a kernel without the connector, or another network namespace than the first.
  static Result<ProcessEvents> Open();
  ProcessEvents(ProcessEvents&&) = default;
  ProcessEvents& operator=(ProcessEvents&&) = default;
  ~ProcessEvents();

  [[nodiscard]] int fd() const { return socket_.get(); }  // readable when there are events
  // Appends what has come, in order. False: the kernel had to throw some away.
  bool Take(std::vector<ProcessEvent>* events);

 private:
  explicit ProcessEvents(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace linescope
