#include "explain/prober.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/directory.h"
#include "base/near_miss.h"
#include "base/read_file.h"

namespace tracer::explain {

namespace {

constexpr unsigned filesystem_id = 3;  // column of Uid: and Gid: in /proc/PID/status
constexpr unsigned max_links = 40;     // MAXSYMLINKS of the kernel

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) {
    if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return parts;
}

/// Returns the access control list of a file as the kernel gives it; empty if it has none beyond its mode.
std::string access_list_of(const std::string& place) {
  constexpr std::size_t max_size = 4096;
  std::string list(max_size, '\0');
  const ssize_t size = ::lgetxattr(place.c_str(), "system.posix_acl_access", list.data(), list.size());
  list.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return list;
}

/// Resolves an absolute path one component at a time, as path_resolution(7) describes.
class Walker {
 public:
  Walker(const Prober& prober, const std::string& path) : prober_(prober), ends_in_slash_(path.back() == '/') {
    go_on_with(path);
  }

  Walk walk() {
    Component root{"/", {}, {}};
    if (::stat(prober_.tracer_path("/").c_str(), &root.info) == 0) {
      walk_.components.push_back(root);
    }
    while (!rest_.empty()) {
      const std::string part = rest_.back();
      rest_.pop_back();
      if (part == "..") {
        at_ = at_.substr(0, at_.rfind('/'));  // the parent of the root is the root
      } else if (!enter(part)) {
        return std::move(walk_);
      }
    }
    arrive();
    return std::move(walk_);
  }

 private:
  void go_on_with(const std::string& path) {
    const std::vector<std::string> parts = split(path);
    rest_.insert(rest_.end(), parts.rbegin(), parts.rend());
  }

  bool stop(int error, const std::string& where) {
    walk_.error = error;
    walk_.stopped = where;
    return false;
  }

  bool enter(const std::string& part) {
    if (!walk_.components.empty() && !S_ISDIR(walk_.info().st_mode) && walk_.components.back().target.empty()) {
      return stop(ENOTDIR, walk_.components.back().path);
    }
    Component component;
    component.path = at_ + '/' + part;
    if (::lstat(prober_.tracer_path(component.path).c_str(), &component.info) != 0) {
      const int error = errno;
      if (!link_.empty() && rest_.size() >= after_link_) {
        walk_.dangling = link_;
      }
      return stop(error, component.path);
    }
    if (S_ISLNK(component.info.st_mode)) {
      return follow(std::move(component));
    }
    component.info.access_list = access_list_of(prober_.tracer_path(component.path));
    at_ = component.path;
    walk_.components.push_back(std::move(component));
    return true;
  }

  bool follow(Component component) {
    component.target = read_link(prober_.tracer_path(component.path));
    walk_.components.push_back(component);
    if (++links_ > max_links) {
      return stop(ELOOP, component.path);
    }
    link_ = component.path;
    after_link_ = rest_.size();
    go_on_with(component.target);
    if (!component.target.empty() && component.target.front() == '/') {
      at_.clear();
    }
    return true;
  }

  void arrive() {
    walk_.real = at_.empty() ? "/" : at_;
    if (walk_.components.empty()) {
      walk_.error = ENOENT;
    } else if (ends_in_slash_ && !S_ISDIR(walk_.info().st_mode)) {
      stop(ENOTDIR, walk_.real);
    }
  }

  const Prober& prober_;
  const bool ends_in_slash_;
  Walk walk_;
  std::string at_;                 ///< the current directory of the resolution; empty: the root
  std::vector<std::string> rest_;  ///< the remaining names in reverse order
  unsigned links_ = 0;
  std::string link_;            ///< the last symbolic link that was followed
  std::size_t after_link_ = 0;  ///< number of names after it in the path
};

}  // namespace

std::string base_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::string trimmed = end == std::string::npos ? path : path.substr(0, end + 1);
  return trimmed.substr(trimmed.rfind('/') + 1);
}

std::string user_name(unsigned id) {
  const passwd* entry = ::getpwuid(id);
  return entry != nullptr ? entry->pw_name : std::to_string(id);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) {
    amount /= 1024;
  }
  const int decimals = unit == 0 || amount == static_cast<double>(static_cast<long>(amount)) ? 0 : 1;
  return fmt::format("{:.{}f} {}", amount, decimals, units[unit]);
}

std::string Prober::tracer_path(const std::string& path) const {
  const bool relative = path.empty() || path.front() != '/';
  return relative || !knows_root() ? std::string() : process_.root != nullptr ? process_.root->prefix + path : path;
}

Walk Prober::walk(const std::string& path) const {
  if (path.empty() || path.front() != '/' || !knows_root()) {
    Walk walk;
    walk.unknown = true;
    walk.error = ENOENT;
    walk.stopped = path;
    return walk;
  }
  return Walker(*this, path).walk();
}

bool Prober::has_capability(unsigned number) const {
  if (!snapshot()) {
    return false;
  }
  const std::uint64_t effective = std::strtoull(snapshot()->field("CapEff").c_str(), nullptr, 16);
  return (effective >> number & 1) != 0;
}

bool Prober::is_in_other_user_namespace() const {
  const std::string own = read_link("/proc/self/ns/user");
  return snapshot() && !snapshot()->user_namespace.empty() && !own.empty() && snapshot()->user_namespace != own;
}

bool Prober::may(const FileInfo& info, Access access) const {
  if (!snapshot()) {
    return true;
  }
  const bool directory = S_ISDIR(info.st_mode);
  if (has_capability(CAP_DAC_OVERRIDE) && (access != Access::execute || directory || (info.st_mode & 0111) != 0)) {
    return true;
  }
  if (has_capability(CAP_DAC_READ_SEARCH) && (access == Access::read || (directory && access == Access::execute))) {
    return true;
  }
  return has_right(info, access);
}

/// True if the process has the access without a capability.
bool Prober::has_right(const FileInfo& info, Access access) const {
  const auto bit = static_cast<mode_t>(access);
  if (snapshot()->id("Uid", filesystem_id).value_or(0) == info.st_uid) {
    return (info.st_mode >> 6 & bit) != 0;
  }
  return info.access_list.empty() ? (info.st_mode >> (is_member(info.st_gid) ? 3 : 0) & bit) != 0
                                  : listed_access(info, bit);
}

proc::TraceeFile Prober::open_readable(const Walk& walk) const {
  const bool is_known = snapshot() && snapshot()->id("Uid", filesystem_id) && snapshot()->id("Gid", filesystem_id);
  const std::string own = read_link("/proc/self/ns/user");
  const bool has_capabilities = is_known && !own.empty() && snapshot()->user_namespace == own;
  const auto allows = [&](const FileInfo& info, Access access) {
    return has_capabilities ? may(info, access)
           : is_known       ? has_right(info, access)
                            : (info.st_mode & static_cast<mode_t>(access)) != 0;
  };
  if (!walk.exists() || !S_ISREG(walk.info().st_mode) || !allows(walk.info(), Access::read) ||
      std::any_of(walk.components.begin(), walk.components.end(), [&](const Component& one) {
        return S_ISDIR(one.info.st_mode) && !allows(one.info, Access::execute);
      })) {
    return {};
  }
  // Whoever made the file may have put a link in its place.
  proc::TraceeFile file =
      proc::open_without_links(process_.root != nullptr ? process_.root->directory.get() : -1, walk.real);
  const bool is_same =
      file.descriptor.valid() && file.status.st_dev == walk.info().st_dev && file.status.st_ino == walk.info().st_ino;
  return is_same ? std::move(file) : proc::TraceeFile{};
}

bool Prober::is_member(std::uint64_t wanted) const {
  bool member = snapshot()->id("Gid", filesystem_id).value_or(0) == wanted;
  std::istringstream groups(snapshot()->field("Groups"));
  for (std::uint64_t group = 0; groups >> group;) {
    member = member || group == wanted;
  }
  return member;
}

/// Evaluates the access control list of a file that the process does not own, as acl(5) describes.
bool Prober::listed_access(const FileInfo& info, mode_t bit) const {
  const std::uint64_t user = snapshot()->id("Uid", filesystem_id).value_or(0);
  std::optional<unsigned> of_user;
  unsigned of_groups = 0;
  unsigned of_others = 0;
  unsigned mask = ACL_READ | ACL_WRITE | ACL_EXECUTE;
  bool in_group = false;
  for (std::size_t at = sizeof(posix_acl_xattr_header); at + sizeof(posix_acl_xattr_entry) <= info.access_list.size();
       at += sizeof(posix_acl_xattr_entry)) {
    posix_acl_xattr_entry entry{};
    std::memcpy(&entry, info.access_list.data() + at, sizeof entry);
    const unsigned rights = entry.e_perm;
    if (entry.e_tag == ACL_USER && entry.e_id == user) {
      of_user = rights;
    } else if ((entry.e_tag == ACL_GROUP && is_member(entry.e_id)) ||
               (entry.e_tag == ACL_GROUP_OBJ && is_member(info.st_gid))) {
      in_group = true;
      of_groups |= rights;
    } else if (entry.e_tag == ACL_MASK) {
      mask = rights;
    } else if (entry.e_tag == ACL_OTHER) {
      of_others = rights;
    }
  }
  const unsigned granted = of_user ? *of_user & mask : in_group ? of_groups & mask : of_others;
  return (granted & bit) != 0;
}

std::string Prober::user() const {
  const auto id = snapshot() ? snapshot()->id("Uid", 3) : std::nullopt;
  return id ? fmt::format("user {} ({})", user_name(static_cast<unsigned>(*id)), *id) : "its user";
}

const Component* Prober::unsearchable_directory(const Walk& walk) const {
  for (const Component& component : walk.components) {
    if (S_ISDIR(component.info.st_mode) && &component != &walk.components.back() &&
        !may(component.info, Access::execute)) {
      return &component;
    }
  }
  if (!walk.exists() && !walk.components.empty() && S_ISDIR(walk.info().st_mode) &&
      !may(walk.info(), Access::execute)) {
    return &walk.components.back();
  }
  return nullptr;
}

std::string Prober::describe(const FileInfo& info) {
  return fmt::format("mode {:04o}, owner {}{}", info.st_mode & 07777, user_name(info.st_uid),
                     info.access_list.empty() ? "" : ", with an access control list (getfacl)");
}

Prober::Mount Prober::mount(const std::string& path) const {
  Mount mount;
  struct statvfs facts;
  if (::statvfs(tracer_path(path).c_str(), &facts) == 0) {
    mount.read_only = (facts.f_flag & ST_RDONLY) != 0;
    mount.no_execute = (facts.f_flag & ST_NOEXEC) != 0;
    mount.no_suid = (facts.f_flag & ST_NOSUID) != 0;
  }
  struct stat wanted;
  struct stat parent;
  std::string at = walk(path).real;
  if (at.empty() || ::stat(tracer_path(at).c_str(), &wanted) != 0) {
    return mount;
  }
  while (at != "/" && ::stat(tracer_path(directory_of(at)).c_str(), &parent) == 0 && parent.st_dev == wanted.st_dev) {
    at = directory_of(at);
  }
  mount.point = at;
  return mount;
}

bool Prober::is_immutable(const std::string& path) const {
  struct statx facts;
  return ::statx(AT_FDCWD, tracer_path(path).c_str(), 0, STATX_BASIC_STATS, &facts) == 0 &&
         (facts.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
}

bool Prober::is_on_kernel_file_system(const std::string& path) const {
  constexpr std::array<long, 8> kinds = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC, TRACEFS_MAGIC,
                                         SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, BPF_FS_MAGIC,  CGROUP2_SUPER_MAGIC};
  struct statfs facts;
  return ::statfs(tracer_path(path).c_str(), &facts) == 0 &&
         std::find(kinds.begin(), kinds.end(), static_cast<long>(facts.f_type)) != kinds.end();
}

std::vector<std::string> Prober::similar(const std::string& directory, const std::string& wanted) const {
  std::vector<std::string> found;
  if (wanted.empty()) {
    return found;
  }
  constexpr unsigned max_entries = 20000;
  const std::string stem = wanted.substr(0, wanted.find('.', 1));
  NearMiss near(wanted);
  unsigned count = 0;
  for_each_entry(tracer_path(directory), [&](const std::string& name) {
    if (name != wanted && name.starts_with(stem) && stem.size() > 1 && found.size() < 3) {
      found.push_back(name);
    }
    near.consider(name);
    return ++count < max_entries;
  });
  if (found.empty() && !near.best().empty()) {
    found.emplace_back(near.best());
  }
  return found;
}

std::string Prober::describe_path(const Walk& walk) const {
  if (walk.unknown) {
    return knows_root() ? "in which directory " + walk.stopped + " was looked for is not known"
                        : "the root directory or the mounts that " + walk.stopped + " was looked for under are gone";
  }
  std::string text;
  const std::size_t from = walk.components.size() > 3 ? walk.components.size() - 3 : 0;
  for (std::size_t i = from; i < walk.components.size(); ++i) {
    const Component& component = walk.components[i];
    text += text.empty() ? "" : "; ";
    if (!component.target.empty()) {
      text += component.path + " is a link to " + component.target;
    } else {
      text += component.path + " exists, " + describe(component.info);
    }
  }
  if (!walk.exists()) {
    text +=
        (text.empty() ? "" : "; ") + walk.stopped + (walk.error == ENOTDIR ? " is no directory" : " does not exist");
  }
  return text;
}

}  // namespace tracer::explain
