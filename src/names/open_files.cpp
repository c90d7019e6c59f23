#include "names/open_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/number_text.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "proc/mounts.h"
#include "proc/proc_text.h"
#include "proc/tracee_file.h"

namespace tracer::names {
namespace {

/// Reads the start of the fdinfo of a descriptor.
std::string information(std::int32_t tid, std::int32_t fd) {
  return read_file(proc::descriptor_path(tid, fd, "fdinfo"), 1024);
}

/// Returns the status of a file as the kernel has it cached. A request to the file system could block, as a tracee may
/// implement it (FUSE). Nothing if there is no such file.
std::optional<struct statx> known_status(const std::string& path, unsigned wanted) {
  struct statx status;
  if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, wanted, &status) != 0) {
    return std::nullopt;
  }
  return status;
}

/// A lookup on these never waits for a process or a server.
bool is_harmless(std::string_view type) {
  static constexpr std::array<std::string_view, 5> harmless = {"ext4", "tmpfs", "btrfs", "xfs", "overlay"};
  return std::find(harmless.begin(), harmless.end(), type) != harmless.end();
}

constexpr std::uint64_t resolve_cached = 0x20;  // RESOLVE_CACHED of linux/openat2.h, since Linux 5.12

/// Returns the inode number of what a path in the root directory of a thread leads to; 0 for nothing. With
/// `resolve_cached` no file system is asked: any directory of the path may be on one that hangs. Empty with errno if
/// that is unknown.
std::optional<std::uint64_t> inode_at(std::int32_t tid, const std::string& path, std::uint64_t resolve) {
  const UniqueFd found = proc::Root::of(tid).look_up(path, O_NOFOLLOW, RESOLVE_NO_MAGICLINKS | resolve);
  if (!found.valid()) {
    return errno == ENOENT || errno == ENOTDIR ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  const auto status = known_status(proc::descriptor_path(::getpid(), found.get()), STATX_INO);
  return status ? std::optional<std::uint64_t>(status->stx_ino) : std::nullopt;
}

/// Parses the fdinfo of an eventfd. Older kernels have fewer lines.
std::optional<trace::EventCounter> counter_in(std::string_view information) {
  const auto count = number_at<std::uint64_t>(proc::find_field(information, "eventfd-count"), 16);
  if (!count) {
    return std::nullopt;
  }
  trace::EventCounter counter;
  counter.count = *count;
  counter.id = number_at<std::uint32_t>(proc::find_field(information, "eventfd-id"));
  if (const auto semaphore = number_at<unsigned>(proc::find_field(information, "eventfd-semaphore"))) {
    counter.is_semaphore = *semaphore != 0;
  }
  return counter;
}

/// Returns the inode number in a link `socket:[8254817]`; nothing for any other link.
std::optional<std::string_view> inode_of_socket(std::string_view link) {
  static constexpr std::string_view prefix = "socket:[";
  return link.starts_with(prefix) ? std::optional(link.substr(prefix.size(), link.size() - prefix.size() - 1))
                                  : std::nullopt;
}

constexpr unsigned unique_mount_id = 0x4000;  // STATX_MNT_ID_UNIQUE of linux/stat.h, since Linux 6.8

}  // namespace

/// A file may have the name "x (deleted)": only its link count, or a lookup of the name, shows whether it is deleted.
bool OpenFiles::is_deleted(std::int32_t tid, std::int32_t fd, const std::string& link) {
  const auto status = known_status(proc::descriptor_path(tid, fd), STATX_NLINK | STATX_INO | unique_mount_id);
  if (!status || status->stx_nlink == 0) {
    return status.has_value();
  }
  // The name of an open file is known as long as it has it, where the file system is not asked each time.
  // A mount or a rename beside such a lookup, of anything, makes it fail.
  constexpr int most_tries = 4;
  auto inode = inode_at(tid, link, resolve_cached);
  for (int tries = 1; !inode && errno == EAGAIN && tries < most_tries; ++tries) {
    inode = inode_at(tid, link, resolve_cached);
  }
  const bool is_old_kernel = !inode && errno == EINVAL;
  if (!inode) {
    const std::string type = file_system(tid, fd, *status);
    if (!type.empty() && !is_harmless(type)) {
      return false;
    }
    inode = is_old_kernel && !type.empty() ? inode_at(tid, link, 0) : 0;
  }
  return inode != status->stx_ino;
}

std::string OpenFiles::file_system(std::int32_t tid, std::int32_t fd, const struct statx& status) {
  // A mount that the thread does not see has no type for it, but may have one for another thread.
  const bool is_unique = (status.stx_mask & unique_mount_id) != 0;
  if (const auto known = file_systems_.find(status.stx_mnt_id); is_unique && known != file_systems_.end()) {
    return known->second;
  }
  const auto mount = proc::mount_of_descriptor(tid, fd);
  if (!mount) {
    return {};
  }
  if (is_unique) {
    constexpr std::size_t most_known = 4096;
    if (file_systems_.size() == most_known) {
      file_systems_.clear();
    }
    file_systems_.emplace(status.stx_mnt_id, mount->type);
  }
  return mount->type;
}

std::optional<trace::OpenFile> OpenFiles::file(std::int32_t tid, std::int32_t fd) {
  trace::OpenFile file;
  file.link = read_link(proc::descriptor_path(tid, fd));
  if (file.link.empty()) {
    return std::nullopt;
  }
  static constexpr std::string_view mark = " (deleted)";
  if (file.link.ends_with(mark) && is_deleted(tid, fd, file.link)) {
    file.deleted = true;
    file.link.resize(file.link.size() - mark.size());
  }
  if (wanted_.devices && file.link.front() == '/') {
    file.device = device(tid, fd);
    if (file.device && file.device->is_terminal_multiplexer()) {
      file.terminal = number_at<std::uint32_t>(proc::find_field(information(tid, fd), "tty-index"));
    }
  } else if (const auto inode = inode_of_socket(file.link)) {
    file.socket = wanted_.sockets ? std::optional(sockets_.facts(tid, fd, *inode)) : std::nullopt;
  } else if (wanted_.pidfds && file.link == "anon_inode:[pidfd]") {
    file.process = process(tid, fd);
  } else if (wanted_.eventfds && file.link == "anon_inode:[eventfd]") {
    file.counter = counter_in(information(tid, fd));
  } else if (wanted_.signalfds && file.link == "anon_inode:[signalfd]") {
    file.signals = number_at<std::uint64_t>(proc::find_field(information(tid, fd), "sigmask"), 16);
  }
  return file;
}

trace::PidfdProcess OpenFiles::process(std::int32_t tid, std::int32_t fd) const {
  trace::PidfdProcess process;
  process.id = number_at<std::int32_t>(proc::find_field(information(tid, fd), "Pid")).value_or(-1);
  if (wanted_.commands && process.id > 0) {
    process.command = proc::command_name(process.id);
  }
  return process;
}

std::optional<trace::DeviceNumber> OpenFiles::device(std::int32_t tid, std::int32_t fd) {
  const auto status = known_status(proc::descriptor_path(tid, fd), STATX_TYPE);
  if (!status || !(S_ISCHR(status->stx_mode) || S_ISBLK(status->stx_mode))) {
    return std::nullopt;
  }
  return trace::DeviceNumber{S_ISBLK(status->stx_mode), status->stx_rdev_major, status->stx_rdev_minor};
}

trace::FileKind OpenFiles::kind(std::int32_t tid, std::int32_t fd) {
  trace::FileKind kind;
  const auto status = known_status(proc::descriptor_path(tid, fd), STATX_TYPE);
  if (!status) {
    return kind;
  }
  if (S_ISCHR(status->stx_mode) || S_ISBLK(status->stx_mode)) {
    kind.device = trace::DeviceNumber{S_ISBLK(status->stx_mode), status->stx_rdev_major, status->stx_rdev_minor};
  } else if (S_ISREG(status->stx_mode) || S_ISDIR(status->stx_mode)) {
    const auto mount = proc::mount_of_descriptor(tid, fd);
    kind.system = mount ? mount->type : std::string{};
  } else if (S_ISSOCK(status->stx_mode)) {
    kind.protocol = SocketNames::protocol(tid, fd);
  }
  return kind;
}

std::int32_t OpenFiles::netlink_protocol(std::int32_t tid, std::int32_t fd) {
  const std::string link = read_link(proc::descriptor_path(tid, fd));
  const auto inode = inode_of_socket(link);
  return inode ? sockets_.netlink_protocol(tid, fd, *inode) : -1;
}

trace::EventCounter OpenFiles::as_fdinfo_has_it(trace::EventCounter counter) {
  if (!fdinfo_) {
    const UniqueFd own(::eventfd(0, EFD_CLOEXEC));
    fdinfo_ = counter_in(information(::getpid(), own.get())).value_or(trace::EventCounter{});
  }
  counter.id = fdinfo_->id ? counter.id : std::nullopt;
  counter.is_semaphore = fdinfo_->is_semaphore ? counter.is_semaphore : std::nullopt;
  return counter;
}

}  // namespace tracer::names
