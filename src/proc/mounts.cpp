#include "proc/mounts.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/read_file.h"
#include "proc/proc_text.h"

namespace tracer::proc {

namespace {

constexpr std::size_t max_list_bytes = std::size_t{1} << 22;

/// Decodes the octal escapes that mountinfo (proc(5)) uses for blanks, tabs, newlines and backslashes, such as `\040`.
std::string unescape(std::string_view name) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 3 < name.size() && is_octal(name[i + 1]) && is_octal(name[i + 2]) &&
        is_octal(name[i + 3])) {
      plain += static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 + (name[i + 3] - '0'));
      i += 3;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

/// Calls `found(id, mount)` for each line, such as `29 1 8:1 / /mnt rw - ext4 /dev/sda1 rw`.
template <typename Found>
void for_each_mount(pid_t pid, const Found& found) {
  std::istringstream lines(read_file(proc_path(pid, "mountinfo"), max_list_bytes));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id;
    std::string skipped;
    std::string point;
    words >> id >> skipped >> skipped >> skipped >> point;
    constexpr std::string_view separator = " - ";
    if (const std::size_t end = line.find(separator); end != std::string::npos) {
      const std::string type = line.substr(end + separator.size());
      found(id, Mount{unescape(point), type.substr(0, type.find(' '))});
    }
  }
}

}  // namespace

std::optional<Mount> mount_of_descriptor(pid_t pid, std::int64_t fd) {
  const std::string info = read_file(descriptor_path(pid, fd, "fdinfo"), 4096);
  const std::string_view wanted = find_field(info, "mnt_id");
  std::optional<Mount> found;
  for_each_mount(pid, [&](const std::string& id, const Mount& mount) {
    if (id == wanted) {
      found = mount;
    }
  });
  return found;
}

std::optional<Mount> mount_of_path(pid_t pid, const std::string& path) {
  std::optional<Mount> found;
  for_each_mount(pid, [&](const std::string&, const Mount& mount) {
    const std::string& point = mount.point;
    const bool contains = point == "/" || path == point || path.starts_with(point + '/');
    if (contains && (!found || point.size() >= found->point.size())) {  // a later mount hides one at the same point
      found = mount;
    }
  });
  return found;
}

bool may_block(const Mount& mount) {
  constexpr std::array<std::string_view, 14> kinds = {"fuse",     "nfs",  "cifs",   "smb",     "9p",
                                                      "ceph",     "afs",  "coda",   "autofs",  "ocfs2",
                                                      "orangefs", "gfs2", "lustre", "virtiofs"};
  return mount.type != "fusectl" &&
         std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return mount.type.starts_with(kind); });
}

}  // namespace tracer::proc
