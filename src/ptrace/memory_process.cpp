#include "ptrace/memory_process.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/detached_process.h"

namespace tracer::ptrace {

namespace {

constexpr std::chrono::seconds longest_answer(2);
constexpr unsigned most_abandoned = 16;
constexpr auto fusectl = 0x65735543;  // FUSE_CTL_SUPER_MAGIC of the kernel
constexpr std::size_t most_at_once = std::size_t{1} << 15U;

struct Request {
  std::uint64_t address = 0;
  std::size_t size = 0;
  pid_t tid = 0;
};

struct Answer {
  std::size_t size = 0;
  bool works = false;
};

/// Waits for something to read. Signals that arrive meanwhile, such as those of a timer, neither end nor prolong it.
bool is_answered(int socket) {
  const auto end = std::chrono::steady_clock::now() + longest_answer;
  pollfd wanted{socket, POLLIN, 0};
  int ready = -1;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    ready = ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Returns the root directory of fusectl, which has a subdirectory for each server of the machine, whatever namespace
/// it is in. It need not be mounted. Invalid if it cannot be had.
UniqueFd open_fuse_connections() {
  UniqueFd mounted(::open("/sys/fs/fuse/connections", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct statfs system {};
  if (mounted.valid() && ::fstatfs(mounted.get(), &system) == 0 && system.f_type == fusectl) {
    return mounted;
  }
  const UniqueFd context(static_cast<int>(::syscall(SYS_fsopen, "fusectl", FSOPEN_CLOEXEC)));
  if (!context.valid() || ::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return {};
  }
  return UniqueFd(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
}

/// Whether the kernel knows no FUSE yet; it learns it when somebody needs it.
bool has_no_fuse() {
  struct statfs system {};
  return ::access("/sys/fs/fuse", F_OK) != 0 && errno == ENOENT && ::statfs("/sys/fs", &system) == 0 &&
         system.f_type == SYSFS_MAGIC;
}

/// Answers until the tracer is gone.
void serve(int socket) {
  std::array<std::byte, most_at_once> bytes;
  Request request;
  while (::recv(socket, &request, sizeof request, 0) == sizeof request) {
    const auto count = read_remote(request.tid, request.address, std::span(bytes).first(request.size));
    Answer answer{count.value_or(0), count.has_value()};
    iovec parts[] = {{&answer, sizeof answer}, {bytes.data(), answer.size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = std::size(parts);
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
      return;
    }
  }
}

}  // namespace

std::optional<std::size_t> read_remote(pid_t tid, std::uint64_t address, std::span<std::byte> into) {
  const iovec local{into.data(), into.size()};
  // The address goes to the kernel as a number; nothing here follows it.
  const iovec remote{reinterpret_cast<void*>(address), into.size()};
  const ssize_t count = ::process_vm_readv(tid, &local, 1, &remote, 1, 0);
  if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

bool MemoryProcess::is_needed() {
  if (!connections_.valid() && !is_unknown_) {
    if (has_no_fuse()) {
      return false;
    }
    connections_ = open_fuse_connections();
    is_unknown_ = !connections_.valid();
  }
  constexpr nlink_t without_subdirectories = 2;
  struct stat status {};
  return is_unknown_ || ::fstat(connections_.get(), &status) != 0 || status.st_nlink > without_subdirectories;
}

bool MemoryProcess::start() {
  auto process = start_detached(SOCK_SEQPACKET, serve);
  if (process) {
    socket_ = std::move(process->socket);
  }
  return process.has_value();
}

std::optional<std::size_t> MemoryProcess::read(pid_t tid, std::uint64_t address, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (!socket_.valid()) {
      if (abandoned_ == most_abandoned) {
        return hangs;
      }
      if (!start()) {
        return std::nullopt;
      }
    }
    const Request request{address + done, std::min(into.size() - done, most_at_once), tid};
    Answer answer;
    iovec parts[] = {{&answer, sizeof answer}, {into.data() + done, request.size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = std::size(parts);
    if (::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
        !is_answered(socket_.get()) ||
        ::recvmsg(socket_.get(), &message, MSG_DONTWAIT) < static_cast<ssize_t>(sizeof answer)) {
      socket_.reset();  // the process ends as soon as the kernel lets it
      ++abandoned_;
      return hangs;
    }
    if (!answer.works) {
      return std::nullopt;
    }
    done += answer.size;
    if (answer.size < request.size) {
      break;
    }
  }
  return done;
}

}  // namespace tracer::ptrace
