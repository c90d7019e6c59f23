#include "decode/descriptor_names.h"

#include <fcntl.h>
#include <net/if.h>
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
#include "spec/signal_names.h"
#include "spell/escape.h"
#include "spell/signal_sets.h"

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

void append_escaped(TextBuffer& text, std::string_view name) {
  spell::append_escaped(text, std::as_bytes(std::span(name)), "<>");
}

}  // namespace

DescriptorName DescriptorNames::descriptor(std::int32_t tid, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
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
  append_escaped(text_, target);
  return {text_.view(), deleted};
}

std::string_view DescriptorNames::path(std::int32_t tid, std::int32_t fd) {
  PathBuffer path;
  TargetBuffer buffer;
  text_.clear();
  text_.append(read_link(fd_path(path, tid, fd), buffer));
  return text_.view();
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
    return pidfd(tid, fd);
  }
  if (options_.eventfds && target == "anon_inode:[eventfd]") {
    return eventfd(tid, fd);
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
    append_escaped(text_, target);
    text_.append(S_ISCHR(status->stx_mode) ? "<char " : "<block ");
    text_.decimal(std::uint64_t{status->stx_rdev_major});
    text_.append(':');
    text_.decimal(std::uint64_t{status->stx_rdev_minor});
    text_.append('>');
    return true;
  }
  return false;
}

std::int32_t DescriptorNames::netlink_protocol(std::int32_t tid, std::int32_t fd) {
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

bool DescriptorNames::pidfd(std::int32_t tid, std::int32_t fd) {
  const auto pid = line_of(information(tid, fd), "\nPid:\t");
  std::int32_t number = -1;  // as of a process that is no more
  std::from_chars(pid.data(), pid.data() + pid.size(), number);
  if (number < 0) {
    return false;
  }
  text_.append("pid:");
  text_.append(pid);
  if (options_.commands && number > 0) {
    text_.append('<');
    append_command(number);
    text_.append('>');
  }
  return true;
}

/// Under the kernel's own names: `{eventfd-count=1, eventfd-id=7, eventfd-semaphore=0}`. Older kernels have fewer.
bool DescriptorNames::eventfd(std::int32_t tid, std::int32_t fd) {
  const auto info = information(tid, fd);
  static constexpr std::array<std::pair<std::string_view, int>, 3> facts = {
      {{"eventfd-count", 16}, {"eventfd-id", 10}, {"eventfd-semaphore", 10}}};
  for (const auto& [name, base] : facts) {
    auto value = line_of(info, '\n' + std::string(name) + ':');
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    std::uint64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number, base).ec != std::errc{}) {
      continue;
    }
    text_.append(text_.empty() ? "{" : ", ");
    text_.append(name);
    text_.append('=');
    text_.decimal(number);
  }
  if (text_.empty()) {
    return false;
  }
  text_.append('}');
  return true;
}

/// `signalfd:[INT TERM]`
bool DescriptorNames::signalfd(std::int32_t tid, std::int32_t fd) {
  const auto mask = line_of(information(tid, fd), "\nsigmask:\t");
  std::uint64_t set = 0;
  if (std::from_chars(mask.data(), mask.data() + mask.size(), set, 16).ec != std::errc{}) {
    return false;
  }
  text_.append("signalfd:");
  spell::append_signal_set(text_, set, spec::max_signal, spell::ConstantForm::abbreviate);
  return true;
}

std::string_view DescriptorNames::process(std::int32_t tid, std::int32_t pid) {
  const bool named = options_.commands && pid > 0;
  const std::int32_t here = named ? pids_.here(tid, pid, PidKind::process) : 0;
  return here == 0 ? std::string_view{} : command(here);
}

std::string_view DescriptorNames::command(std::int32_t tid) {
  text_.clear();
  append_command(tid);
  return text_.view();
}

void DescriptorNames::append_command(std::int32_t tid) {
  PathBuffer path;
  std::array<char, 64> buffer;
  const auto name = read_file(proc_path(path, tid, "comm"), buffer);
  append_escaped(text_, name.substr(0, name.find('\n')));
}

DescriptorName DescriptorNames::descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  const auto pid = line_of(information(tid, pidfd), "\nPid:\t");
  std::int32_t number = 0;
  std::from_chars(pid.data(), pid.data() + pid.size(), number);
  return number > 0 ? descriptor(number, fd) : DescriptorName{};
}

std::int32_t DescriptorNames::process_here(std::int32_t tid, std::int32_t pid, bool group) {
  if (!options_.pids_here || pid <= 0) {
    return 0;
  }
  const std::int32_t here = pids_.here(tid, pid, group ? PidKind::group : PidKind::process);
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
  append_escaped(text_, read_link(proc_path(path, tid, "cwd"), buffer));
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
