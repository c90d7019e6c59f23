// What an engine that stops nobody has captured beside memory: when the event is handled, /proc tells of a later time,
// if of anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tracer::trace {

struct SocketEndpoint {
  std::array<std::byte, 16> address{};  ///< as the network has it; of IPv4 the first four
  bool is_v6 = false;
  std::uint16_t port = 0;
};

struct SocketFacts {
  std::string protocol;  ///< the kernel's word for it: `TCP`, `UNIX-STREAM`
  std::uint64_t inode = 0;
  std::optional<SocketEndpoint> local;   ///< of a TCP or UDP socket that has an address
  std::optional<SocketEndpoint> remote;  ///< of one that is connected
  std::uint64_t peer = 0;                ///< AF_UNIX: inode of the other end; 0: none
  std::string name;                      ///< AF_UNIX: sun_path, from its NUL on if that is abstract
  std::uint32_t netlink_family = 0;
  std::uint32_t port_id = 0;  ///< of a netlink socket with an address
};

struct DeviceNumber {
  bool is_block = false;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

/// Of a pidfd.
struct PidfdProcess {
  std::int32_t id = 0;  ///< as the tracer sees it; 0: not at all, -1: it has gone
  std::string command;
};

/// Of an eventfd.
struct EventCounter {
  std::uint64_t count = 0;
  std::optional<std::uint32_t> id;  ///< these where the kernel's fdinfo tells them
  std::optional<bool> is_semaphore;
};

/// What a descriptor stood for.
struct OpenFile {
  std::string link;      ///< what /proc/PID/fd/N would have said to the tracer, without ` (deleted)` at the end
  bool deleted = false;  ///< which would have stood there
  std::optional<DeviceNumber> device;
  // These only as far as they were asked for.
  std::optional<PidfdProcess> process;
  std::optional<EventCounter> counter;
  std::optional<std::uint64_t> signals;  ///< of a signalfd: those that it takes, the first in the lowest bit
  std::optional<SocketFacts> socket;
};

class Capture {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual ~Capture() = default;

  /// Nothing: there was no such descriptor, or its name could not be told.
  [[nodiscard]] virtual std::optional<OpenFile> descriptor(std::int32_t fd) const = 0;
  /// The same of a descriptor of the process that a pidfd of the call stands for.
  [[nodiscard]] virtual std::optional<OpenFile> descriptor_behind(std::int32_t fd) const = 0;
  [[nodiscard]] virtual std::optional<OpenFile> working_directory() const = 0;
  /// The protocol (NETLINK_ROUTE, …) of a descriptor that was a netlink socket; -1: it was none.
  [[nodiscard]] virtual std::int32_t netlink_protocol(std::int32_t fd) const = 0;

  struct Process {
    std::int32_t id = 0;  ///< as the tracer sees it; 0: not at all
    bool is_thread = false;
    bool is_group = false;  ///< or a session
    std::string command;    ///< of the thread
  };
  /// What the thread of the event called `id`: a thread, a process or a group. Nothing: none was called so, or it was
  /// not captured.
  [[nodiscard]] virtual std::optional<Process> process(std::int32_t id) const = 0;
  /// Name of the program of a thread that is traced, by the tracer's number; nothing: not known yet, and /proc may
  /// tell.
  [[nodiscard]] virtual std::optional<std::string> command(std::int32_t tid) const = 0;
};

}  // namespace tracer::trace
