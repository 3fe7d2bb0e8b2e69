#include "process/process_events.h"

#include <arpa/inet.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace linescope {
namespace {

// struct proc_event of linux/cn_proc.h, whose enumerations differ between versions of that header.
// It follows a netlink and a connector header.
constexpr uint32_t kNone = 0, kFork = 1, kExec = 2, kExit = 0x80000000;
constexpr size_t kWhatAt = sizeof(nlmsghdr) + sizeof(cn_msg);
constexpr size_t kTimeAt = kWhatAt + 8;
constexpr size_t kDataAt = kWhatAt + 16;
// Fork: the parent's thread and process, the child's thread and process.
constexpr size_t kParentAt = kDataAt + 4, kChildThreadAt = kDataAt + 8, kChildAt = kDataAt + 12;
// Exec and exit: thread and process; exit: the status as well.
constexpr size_t kThreadAt = kDataAt, kProcessAt = kDataAt + 4, kStatusAt = kDataAt + 8;
constexpr size_t kBytes = kDataAt + 16;

// enum proc_cn_mcast_op.
constexpr uint32_t kListen = 1, kIgnore = 2;

// For bursts while nobody looks: some five thousand events.
constexpr int kReceiveBytes = 4 << 20;

// Lets pass what concerns whole processes: most of what begins and ends on a machine are threads.
Status FilterThreads(int socket) {
  constexpr uint8_t kExitCheck = 9, kAccept = 13, kDrop = 14;
  // Jumps count from the next instruction; words are loaded in network order.
  auto jump_if = [](uint8_t at, uint32_t value, uint8_t then, uint8_t otherwise) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(then - at - 1),
                       static_cast<uint8_t>(otherwise - at - 1), htonl(value)};
  };
  auto jump_if_equal = [](uint8_t at) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_X, static_cast<uint8_t>(kAccept - at - 1),
                       static_cast<uint8_t>(kDrop - at - 1), 0};
  };
  auto load = [](size_t at) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(at));
  };
  const sock_filter keep = BPF_STMT(BPF_MISC | BPF_TAX, 0);
  std::array<sock_filter, 15> code = {
      load(kWhatAt),
      jump_if(1, kNone, kAccept, 2),
      jump_if(2, kExec, kAccept, 3),
      jump_if(3, kExit, kExitCheck, 4),
      jump_if(4, kFork, 5, kDrop),
      load(kChildThreadAt),
      keep,
      load(kChildAt),
      jump_if_equal(8),
      load(kThreadAt),  // kExitCheck
      keep,
      load(kProcessAt),
      jump_if_equal(12),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),  // kAccept
      BPF_STMT(BPF_RET | BPF_K, 0),           // kDrop
  };
  const sock_fprog program{code.size(), code.data()};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return Fail(ErrorCode::kUnsupported, "cannot filter the events of processes: {}", ErrnoText());
  }
  return {};
}

Status Send(int socket, uint32_t operation) {
  nlmsghdr netlink{};
  cn_msg connector{};
  std::array<std::byte, kWhatAt + sizeof operation> message;
  netlink.nlmsg_len = message.size();
  netlink.nlmsg_type = NLMSG_DONE;
  connector.id = {CN_IDX_PROC, CN_VAL_PROC};
  connector.len = sizeof operation;
  std::memcpy(message.data(), &netlink, sizeof netlink);
  std::memcpy(message.data() + sizeof netlink, &connector, sizeof connector);
  std::memcpy(message.data() + kWhatAt, &operation, sizeof operation);
  if (::send(socket, message.data(), message.size(), 0) < 0) {
    return Fail(ErrorCode::kDenied, "cannot ask for the events of processes: {}", ErrnoText());
  }
  return {};
}

// The size of the next datagram, -1 when there is none (errno says why). Others than the kernel may
// send to the group's sockets, too: theirs come as empty.
ssize_t Receive(int socket, std::span<std::byte> buffer) {
  sockaddr_nl from{};
  socklen_t length = sizeof from;
  const ssize_t n = ::recvfrom(socket, buffer.data(), buffer.size(), MSG_DONTWAIT,
                               reinterpret_cast<sockaddr*>(&from), &length);
  return n >= 0 && from.nl_pid != 0 ? 0 : n;
}

uint32_t Word(std::span<const std::byte> datagram, size_t at) {
  uint32_t word;
  std::memcpy(&word, datagram.data() + at, sizeof word);
  return word;
}

int Id(std::span<const std::byte> datagram, size_t at) {
  return static_cast<int>(Word(datagram, at));
}

bool IsEvent(std::span<const std::byte> datagram) { return datagram.size() >= kBytes; }

}  // namespace

std::optional<ProcessEvent> ParseProcessEvent(std::span<const std::byte> datagram) {
  if (!IsEvent(datagram)) return std::nullopt;
  ProcessEvent event;
  std::memcpy(&event.at_ns, datagram.data() + kTimeAt, sizeof event.at_ns);
  size_t thread_at = kThreadAt, process_at = kProcessAt;
  switch (Word(datagram, kWhatAt)) {
    case kFork:
      event.kind = ProcessEvent::Kind::kFork;
      event.parent = Id(datagram, kParentAt);
      thread_at = kChildThreadAt;
      process_at = kChildAt;
      break;
    case kExec:
      event.kind = ProcessEvent::Kind::kExec;
      break;
    case kExit:
      event.kind = ProcessEvent::Kind::kExit;
      event.wait_status = Id(datagram, kStatusAt);
      break;
    default:
      return std::nullopt;
  }
  event.pid = Id(datagram, process_at);
  if (event.pid != Id(datagram, thread_at)) return std::nullopt;
  return event;
}

Result<ProcessEvents> ProcessEvents::Open() {
  UniqueFd socket(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!socket) {
    return Fail(ErrorCode::kUnsupported, "the kernel tells no events of processes: {}",
                ErrnoText());
  }
  // More than the usual limit needs a capability.
  for (const int option : {SO_RCVBUFFORCE, SO_RCVBUF}) {
    if (::setsockopt(socket.get(), SOL_SOCKET, option, &kReceiveBytes, sizeof kReceiveBytes) == 0)
      break;
  }
  LS_CHECK_OK(FilterThreads(socket.get()));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return Fail(ErrorCode::kDenied, "events of processes are refused: {}", ErrnoText());
  }
  LS_CHECK_OK(Send(socket.get(), kListen));
  ProcessEvents events(std::move(socket));
  // Outside the first namespaces the kernel does not answer; inside, the answer, an event of kind
  // kNone with an error number, is there when send returns.
  std::array<std::byte, 256> buffer;
  for (;;) {
    const ssize_t n = Receive(events.fd(), buffer);
    if (n < 0 && errno != EINTR) break;
    const std::span datagram(buffer.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (!IsEvent(datagram) || Word(datagram, kWhatAt) != kNone) continue;
    if (const auto error = static_cast<int>(Word(datagram, kDataAt)); error != 0) {
      return Fail(ErrorCode::kDenied, "events of processes are refused: {}", ErrnoText(error));
    }
    return events;
  }
  return Fail(ErrorCode::kDenied,
              "the kernel tells events of processes in its first pid namespace only");
}

ProcessEvents::~ProcessEvents() {
  // Older kernels go on making events when the socket is closed without it.
  if (socket_) (void)Send(socket_.get(), kIgnore);
}

bool ProcessEvents::Take(std::vector<ProcessEvent>* events) {
  bool complete = true;
  std::array<std::byte, 256> buffer;
  for (;;) {
    const ssize_t n = Receive(socket_.get(), buffer);
    if (n >= 0) {
      const std::span datagram(buffer.data(), static_cast<size_t>(n));
      if (const auto event = ParseProcessEvent(datagram)) events->push_back(*event);
    } else if (errno == ENOBUFS) {
      complete = false;
    } else if (errno != EINTR) {
      return complete;
    }
  }
}

}  // namespace linescope
