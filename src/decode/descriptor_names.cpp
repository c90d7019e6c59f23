#include "decode/descriptor_names.h"

#include <fcntl.h>
#include <net/if.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdio>
#include <fstream>
#include <optional>

#include "base/memory_map.h"
#include "base/unique_fd.h"
#include "decode/descriptor_text.h"
#include "decode/socket_text.h"
#include "spell/escape.h"

namespace tracer::decode {
namespace {

using PathBuffer = std::array<char, 64>;
using TargetBuffer = std::array<char, PATH_MAX + 1>;

/// `/proc/TID/WHAT`
const char* proc_path(PathBuffer& buffer, std::int32_t tid, const char* what) {
  std::snprintf(buffer.data(), buffer.size(), "/proc/%d/%s", tid, what);
  return buffer.data();
}

const char* fd_path(PathBuffer& buffer, std::int32_t tid, std::int32_t fd, const char* folder = "fd") {
  std::snprintf(buffer.data(), buffer.size(), "/proc/%d/%s/%d", tid, folder, fd);
  return buffer.data();
}

std::string_view read_link(const char* path, TargetBuffer& target) {
  const auto length = readlink(path, target.data(), target.size());
  return length > 0 ? std::string_view(target.data(), static_cast<std::size_t>(length)) : std::string_view{};
}

/// What the kernel knows of an open file without asking its file system: that may be a tracee, or far away. Nothing if
/// the file is gone.
std::optional<struct statx> known_status(const char* path, unsigned wanted) {
  struct statx status;
  if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, wanted, &status) != 0) {
    return std::nullopt;
  }
  return status;
}

/// The first bytes of a small file of /proc.
std::string_view read_file(const char* path, std::span<char> into) {
  const UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  const auto length = fd.valid() ? read(fd.get(), into.data(), into.size()) : 0;
  return length > 0 ? std::string_view(into.data(), static_cast<std::size_t>(length)) : std::string_view{};
}

/// What follows `label` up to the end of its line; empty if it is not there.
std::string_view line_of(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto value = text.substr(at + label.size());
  return value.substr(0, value.find('\n'));
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Where a thread has the beginning of a file of that name in its memory; 0 if nowhere.
RemoteAddr start_of_mapping(std::int32_t tid, std::string_view name) {
  RemoteAddr start;
  for_each_range(read_memory_map(tid), [&](const MappedRange& range) {
    if (start.is_null() && range.file_offset == 0 && range.path == name) {
      start = RemoteAddr(range.start);
    }
  });
  return start;
}

/// The type of the file system of a mount that a thread sees, by a line of /proc/TID/mountinfo
/// (`29 1 8:1 / / rw - ext4 /dev/sda1 rw`); empty if it is none of those: one of the kernel's own.
std::string mount_type(std::int32_t tid, std::string_view id) {
  PathBuffer path;
  std::ifstream mounts(proc_path(path, tid, "mountinfo"));
  std::string line;
  while (std::getline(mounts, line)) {
    static constexpr std::string_view separator = " - ";
    const auto type = line.find(separator);
    if (starts_with(line, std::string(id) + ' ') && type != std::string::npos) {
      line.erase(0, type + separator.size());
      return line.substr(0, line.find(' '));
    }
  }
  return {};
}

/// Whether a path that a thread can reach is that of the file of this number, where to ask is no risk: a look-up in
/// other file systems may have to wait for a tracee.
bool is_name_of(std::int32_t tid, std::string_view type, std::string_view name, std::uint64_t inode) {
  static constexpr std::array<std::string_view, 5> harmless = {"ext4", "tmpfs", "btrfs", "xfs", "overlay"};
  if (std::find(harmless.begin(), harmless.end(), type) == harmless.end()) {
    return true;
  }
  PathBuffer root;
  const auto status = known_status((proc_path(root, tid, "root") + std::string(name)).c_str(), STATX_INO);
  return status && status->stx_ino == inode;
}

std::string command_now(std::int32_t tid) {
  PathBuffer path;
  std::array<char, 64> buffer;
  const auto name = read_file(proc_path(path, tid, "comm"), buffer);
  constexpr std::size_t longest = 15;  // TASK_COMM_LEN of linux/sched.h; of kernel threads the file tells more
  return std::string(name.substr(0, std::min(name.find('\n'), longest)));
}

/// As the link in /proc had it.
void append_link(TextBuffer& text, const OpenFile& file) {
  text.append(file.link);
  text.append(file.deleted ? " (deleted)" : "");
}

/// From fdinfo. Older kernels tell less.
std::optional<EventCounter> counter_in(std::string_view information) {
  const auto number = [information](std::string_view name, int base) -> std::optional<std::uint64_t> {
    auto value = line_of(information, "\neventfd-" + std::string(name) + ':');
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    std::uint64_t found = 0;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), found, base);
    return end.ec == std::errc{} ? std::optional(found) : std::nullopt;
  };
  const auto count = number("count", 16);
  if (!count) {
    return std::nullopt;
  }
  EventCounter counter;
  counter.count = *count;
  if (const auto id = number("id", 10)) {
    counter.id = static_cast<std::uint32_t>(*id);
  }
  if (const auto semaphore = number("semaphore", 10)) {
    counter.is_semaphore = *semaphore != 0;
  }
  return counter;
}

/// What this kernel's fdinfo tells of an eventfd, by one of our own.
EventCounter told_of_counters() {
  const UniqueFd counter(::eventfd(0, EFD_CLOEXEC));
  PathBuffer path;
  std::array<char, 1024> text;
  const auto told = counter_in(read_file(fd_path(path, ::getpid(), counter.get(), "fdinfo"), text));
  return told ? *told : EventCounter{};
}

}  // namespace

DescriptorName DescriptorNames::descriptor(std::int32_t tid, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  if (capture_ != nullptr) {
    const auto file = capture_->descriptor(fd);
    return file ? describe(*file) : DescriptorName{};
  }
  PathBuffer path;
  TargetBuffer buffer;
  auto target = read_link(fd_path(path, tid, fd), buffer);
  if (target.empty()) {
    return {};
  }
  if (detail(tid, fd, target)) {
    return {text_.view(), false};
  }
  if (!options_.paths) {
    return {};
  }
  // A file may be called "x (deleted)"; the number of its links tells, or whether there is a file of that name.
  static constexpr std::string_view mark = " (deleted)";
  bool deleted = false;
  if (target.size() > mark.size() && target.substr(target.size() - mark.size()) == mark) {
    const auto status = known_status(fd_path(path, tid, fd), STATX_NLINK | STATX_INO);
    const auto type = mount_type(tid, line_of(information(tid, fd), "\nmnt_id:\t"));
    deleted = status && (status->stx_nlink == 0 || type.empty() || !is_name_of(tid, type, target, status->stx_ino));
    target.remove_suffix(deleted ? mark.size() : 0);
  }
  append_escaped_name(text_, target);
  return {text_.view(), deleted};
}

std::string_view DescriptorNames::path(std::int32_t tid, std::int32_t fd) {
  PathBuffer path;
  TargetBuffer buffer;
  text_.clear();
  if (capture_ != nullptr) {
    const auto file = capture_->descriptor(fd);
    file ? append_link(text_, *file) : void();
    return text_.view();
  }
  text_.append(read_link(fd_path(path, tid, fd), buffer));
  return text_.view();
}

DescriptorName DescriptorNames::describe(const OpenFile& file) {
  if (detail(file)) {
    return {text_.view(), false};
  }
  if (!options_.paths) {
    return {};
  }
  append_escaped_name(text_, file.link);
  return {text_.view(), file.deleted};
}

/// The same as below of what was captured.
bool DescriptorNames::detail(const OpenFile& file) {
  if (options_.sockets && file.socket) {
    append_socket(text_, *file.socket) ? void() : text_.append(file.link);
    return true;
  }
  if (options_.pidfds && file.process) {
    return append_process(text_, {file.process->id, options_.commands ? file.process->command : std::string{}});
  }
  if (options_.eventfds && file.counter) {
    auto counter = *file.counter;
    if (!fdinfo_) {
      fdinfo_ = told_of_counters();
    }
    counter.id = fdinfo_->id ? counter.id : std::nullopt;
    counter.is_semaphore = fdinfo_->is_semaphore ? counter.is_semaphore : std::nullopt;
    append_counter(text_, counter);
    return true;
  }
  if (options_.signalfds && file.signals) {
    append_signals(text_, *file.signals);
    return true;
  }
  if (options_.devices && file.device) {
    append_device(text_, file.link, *file.device);
    return true;
  }
  return false;
}

/// What -yy tells beyond the path; false if there is nothing.
bool DescriptorNames::detail(std::int32_t tid, std::int32_t fd, std::string_view target) {
  static constexpr std::string_view socket_prefix = "socket:[";
  if (options_.sockets && starts_with(target, socket_prefix)) {
    auto inode = target.substr(socket_prefix.size());
    inode.remove_suffix(1);
    if (!sockets_.append(text_, tid, fd, inode)) {
      text_.append(target);
    }
    return true;
  }
  if (options_.pidfds && target == "anon_inode:[pidfd]") {
    return append_process(text_, pidfd(tid, fd));
  }
  if (options_.eventfds && target == "anon_inode:[eventfd]") {
    const auto counter = counter_in(information(tid, fd));
    counter ? append_counter(text_, *counter) : void();
    return counter.has_value();
  }
  if (options_.signalfds && target == "anon_inode:[signalfd]") {
    return signalfd(tid, fd);
  }
  if (options_.devices && starts_with(target, "/")) {
    PathBuffer path;
    const auto status = known_status(fd_path(path, tid, fd), STATX_TYPE);
    if (!status || (!S_ISCHR(status->stx_mode) && !S_ISBLK(status->stx_mode))) {
      return false;
    }
    append_device(text_, target, {S_ISBLK(status->stx_mode), status->stx_rdev_major, status->stx_rdev_minor});
    return true;
  }
  return false;
}

std::int32_t DescriptorNames::netlink_protocol(std::int32_t tid, std::int32_t fd) {
  if (capture_ != nullptr) {
    return capture_->netlink_protocol(fd);
  }
  static constexpr std::string_view socket_prefix = "socket:[";
  PathBuffer path;
  TargetBuffer buffer;
  auto target = read_link(fd_path(path, tid, fd), buffer);
  if (!starts_with(target, socket_prefix)) {
    return -1;
  }
  target.remove_prefix(socket_prefix.size());
  target.remove_suffix(1);
  return sockets_.netlink_protocol(tid, fd, target);
}

/// What fdinfo says of a descriptor, its lines each after a line end; valid until the next question.
std::string_view DescriptorNames::information(std::int32_t tid, std::int32_t fd) {
  PathBuffer path;
  return read_file(fd_path(path, tid, fd, "fdinfo"), information_);
}

PidfdProcess DescriptorNames::pidfd(std::int32_t tid, std::int32_t fd) {
  PidfdProcess process{-1, {}};
  const auto pid = line_of(information(tid, fd), "\nPid:\t");
  std::from_chars(pid.data(), pid.data() + pid.size(), process.id);
  if (options_.commands && process.id > 0) {
    process.command = command_now(process.id);
  }
  return process;
}

bool DescriptorNames::signalfd(std::int32_t tid, std::int32_t fd) {
  const auto mask = line_of(information(tid, fd), "\nsigmask:\t");
  std::uint64_t set = 0;
  if (std::from_chars(mask.data(), mask.data() + mask.size(), set, 16).ec != std::errc{}) {
    return false;
  }
  append_signals(text_, set);
  return true;
}

std::string_view DescriptorNames::process(std::int32_t tid, std::int32_t pid) {
  text_.clear();
  if (!options_.commands || pid <= 0) {
    return {};
  }
  if (capture_ != nullptr) {
    const auto process = capture_->process(pid);
    process ? append_escaped_name(text_, process->command) : void();
  } else if (const std::int32_t here = pids_.here(tid, pid, PidKind::process); here != 0) {
    append_escaped_name(text_, command_now(here));
  }
  return text_.view();
}

std::string_view DescriptorNames::command(std::int32_t tid) {
  text_.clear();
  const auto known = capture_ == nullptr ? std::nullopt : capture_->command(tid);
  append_escaped_name(text_, known ? *known : command_now(tid));
  return text_.view();
}

DescriptorName DescriptorNames::descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  const std::int32_t process = capture_ == nullptr ? this->pidfd(tid, pidfd).id : 0;
  return process > 0 ? descriptor(process, fd) : DescriptorName{};
}

std::int32_t DescriptorNames::process_here(std::int32_t tid, std::int32_t pid, bool group) {
  if (!options_.pids_here || pid <= 0) {
    return 0;
  }
  const auto captured = capture_ == nullptr ? std::nullopt : capture_->process(pid);
  std::int32_t here = 0;
  if (capture_ == nullptr) {
    here = pids_.here(tid, pid, group ? PidKind::group : PidKind::process);
  } else if (captured && (group ? captured->is_group : captured->is_thread)) {
    here = captured->id;
  }
  return here == pid ? 0 : here;
}

std::string_view DescriptorNames::function(std::int32_t tid, RemoteAddr address) {
  text_.clear();
  if (functions_) {
    const std::string name = functions_(tid, address.value());
    spell::append_escaped(text_, std::as_bytes(std::span(name)), {});
  }
  return text_.view();
}

std::string_view DescriptorNames::interface(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  text_.clear();
  if (index != 0 && if_indextoname(index, name.data()) != nullptr) {
    text_.append(std::string_view(name.data()));
  }
  return text_.view();
}

std::string_view DescriptorNames::current_directory(std::int32_t tid) {
  if (!options_.paths) {
    return {};
  }
  PathBuffer path;
  TargetBuffer buffer;
  text_.clear();
  if (capture_ != nullptr) {
    const auto folder = capture_->working_directory();
    TextBuffer link;
    folder ? append_link(link, *folder) : void();
    append_escaped_name(text_, link.view());
    return text_.view();
  }
  append_escaped_name(text_, read_link(proc_path(path, tid, "cwd"), buffer));
  return text_.view();
}

RemoteAddr DescriptorNames::vcpu_area(std::int32_t tid, std::int32_t fd) {
  PathBuffer path;
  TargetBuffer buffer;
  const auto target = options_.vcpus ? read_link(fd_path(path, tid, fd), buffer) : std::string_view{};
  return starts_with(target, "anon_inode:kvm-vcpu:") ? start_of_mapping(tid, target) : RemoteAddr{};
}

std::string_view DescriptorNames::name_space(std::int32_t tid, std::int32_t pid, std::string_view link) {
  const std::int32_t whose = !options_.namespaces ? 0 : pid == 0 ? tid : pids_.here(tid, pid, PidKind::process);
  text_.clear();
  if (whose > 0) {
    PathBuffer path;
    TargetBuffer buffer;
    text_.append(read_link(proc_path(path, whose, ("ns/" + std::string(link)).c_str()), buffer));
  }
  return text_.view();
}

std::string_view DescriptorNames::descriptor_context(std::int32_t tid, std::int32_t fd) {
  text_.clear();
  contexts_.of_descriptor(text_, tid, fd);
  return text_.view();
}

std::string_view DescriptorNames::process_context(std::int32_t tid, std::int32_t pid) {
  text_.clear();
  if (contexts_.shown()) {
    const std::int32_t here = pid == 0 ? tid : pids_.here(tid, pid, PidKind::process);
    here > 0 ? contexts_.of_process(text_, here) : void();
  }
  return text_.view();
}

std::string_view DescriptorNames::path_context(std::int32_t tid, std::int32_t directory, std::string_view path) {
  text_.clear();
  contexts_.of_path(text_, tid, directory, path);
  return text_.view();
}

}  // namespace tracer::decode
