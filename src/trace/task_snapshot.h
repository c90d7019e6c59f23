// A task as it was at an event, from an engine that did not stop it: when the event is handled, /proc reports a later
// state, if the task still exists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proc/memory_map.h"

namespace tracer::trace {

struct SocketEndpoint {
  std::array<std::byte, 16> address{};  ///< in network byte order; IPv4 uses the first four bytes
  bool is_v6 = false;
  std::uint16_t port = 0;
};

struct SocketFacts {
  std::string protocol;  ///< the kernel's name of it: `TCP`, `UNIX-STREAM`
  std::uint64_t inode = 0;
  std::optional<SocketEndpoint> local;   ///< TCP and UDP: the address that the socket is bound to
  std::optional<SocketEndpoint> remote;  ///< TCP and UDP: the address that it is connected to
  std::uint64_t peer = 0;                ///< AF_UNIX: inode of the other end; 0: none
  std::string name;                      ///< AF_UNIX: sun_path; an abstract name starts with its NUL
  std::uint32_t netlink_family = 0;
  std::uint32_t port_id = 0;  ///< AF_NETLINK: 0 if the socket has no address
};

struct DeviceNumber {
  bool is_block = false;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;

  /// Whether it is /dev/ptmx: whoever opens it has the other end of a terminal of its own.
  [[nodiscard]] bool is_terminal_multiplexer() const { return !is_block && major == 5 && minor == 2; }
};

/// The process that a pidfd refers to.
struct PidfdProcess {
  std::int32_t id = 0;  ///< in the tracer's PID namespace; 0: it has no id there, -1: it has been reaped
  std::string command;
};

/// The state of an eventfd.
struct EventCounter {
  std::uint64_t count = 0;
  std::optional<std::uint32_t> id;  ///< this and the next are empty where the kernel's fdinfo has no such line
  std::optional<bool> is_semaphore;
};

/// What kind of file a descriptor stands for: whose ioctls it has.
struct FileKind {
  std::optional<DeviceNumber> device;
  std::string system;    ///< of a file or a directory: the type of its file system
  std::string protocol;  ///< of a socket: the kernel's name of its protocol
  std::string drivers;   ///< from a recording, which was made where the devices are: all that was found
};

/// The file that a descriptor referred to.
struct OpenFile {
  std::string link;      ///< the link /proc/PID/fd/N as the tracer sees it, without ` (deleted)` at the end
  bool deleted = false;  ///< the link ended with ` (deleted)`
  std::optional<DeviceNumber> device;
  // These are filled in only as far as they were asked for.
  std::optional<PidfdProcess> process;
  std::optional<EventCounter> counter;
  std::optional<std::uint64_t> signals;  ///< the mask of a signalfd; signal 1 is the lowest bit
  std::optional<SocketFacts> socket;
  std::optional<std::uint32_t> terminal;  ///< N of the /dev/pts/N that this /dev/ptmx drives
};

/// Credentials, root directory and mappings of a task. What is empty is unknown.
struct TaskState {
  /// Ids and capabilities (credentials(7), capabilities(7)) and seccomp(2).
  struct Credentials {
    std::array<std::uint32_t, 4> users{};   ///< real, effective, saved, file system
    std::array<std::uint32_t, 4> groups{};  ///< the same
    std::vector<std::uint32_t> supplementary_groups;
    std::uint64_t capabilities = 0;  ///< the effective ones
    unsigned seccomp_mode = 0;
    unsigned seccomp_filters = 0;
  };
  /// The root directory of the process.
  struct Root {
    std::string path;  ///< from the root of its mount namespace
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t mount_namespace = 0;  ///< inode number of /proc/PID/ns/mnt
  };
  std::optional<Credentials> credentials;
  std::vector<std::uint64_t> limits;  ///< the soft limits of getrlimit(2), by RLIMIT_*; known with the credentials
  std::optional<Root> root;
  std::string working_directory;  ///< as the process sees it, with " (deleted)" at the end
  std::string descriptor_path;    ///< the file behind `descriptor`, in the same form
  std::int64_t descriptor = -1;   ///< the descriptor that is the first argument of the call
  // After a signal that killed the task: the mappings that its instruction pointer and its stack need.
  std::vector<proc::MappedRange> mappings;
  std::uint64_t stack_pointer = 0;
};

/// What an engine captured beside memory at an event. Valid while the event is handled.
class TaskSnapshot {
 public:
  TaskSnapshot() = default;
  TaskSnapshot(const TaskSnapshot&) = delete;
  TaskSnapshot& operator=(const TaskSnapshot&) = delete;
  virtual ~TaskSnapshot() = default;

  /// Returns the file of a descriptor; nothing if there was no such descriptor or its name is unknown.
  [[nodiscard]] virtual std::optional<OpenFile> descriptor(std::int32_t fd) const = 0;
  /// Returns the file of a descriptor of the process that the pidfd among the call's arguments refers to.
  [[nodiscard]] virtual std::optional<OpenFile> descriptor_behind(std::int32_t fd) const = 0;
  /// Returns the file of a descriptor of the process that had the id `pid` in the PID namespace of the task.
  [[nodiscard]] virtual std::optional<OpenFile> descriptor_of(std::int32_t /*pid*/, std::int32_t /*fd*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual std::optional<OpenFile> working_directory() const = 0;
  /// Returns the protocol (NETLINK_ROUTE, …) of a descriptor that was a netlink socket; -1 for any other.
  [[nodiscard]] virtual std::int32_t netlink_protocol(std::int32_t fd) const = 0;
  /// Returns the kind of a descriptor's file, which is empty if it is unknown; nothing if that is never captured.
  [[nodiscard]] virtual std::optional<FileKind> file_kind(std::int32_t /*fd*/) const { return std::nullopt; }

  struct Process {
    std::int32_t id = 0;  ///< in the tracer's PID namespace; 0: it has no id there
    bool is_thread = false;
    bool is_group = false;  ///< the id of a process group or a session
    std::string command;    ///< of the thread
  };
  /// Returns the thread, process or group that had the id `id` in the PID namespace of the task; nothing if there was
  /// none or it was not captured.
  [[nodiscard]] virtual std::optional<Process> process(std::int32_t id) const = 0;
  /// Returns the command name of a traced thread by its id in the tracer's PID namespace; nothing if it is not known
  /// yet, in which case /proc may have it.
  [[nodiscard]] virtual std::optional<std::string> command(std::int32_t tid) const = 0;
  /// Returns the credentials, directories and mappings, as far as they were captured.
  [[nodiscard]] virtual const TaskState& state() const = 0;
};

}  // namespace tracer::trace
