#include "pipeline/snapshot_view.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>

#include "base/read_file.h"
#include "proc/proc_text.h"

namespace tracer::pipeline {

namespace {

/// Returns the inode number in "mnt:[4026531841]"; 0 if the link has none.
std::uint64_t namespace_number(const std::string& link) {
  const std::size_t bracket = link.find('[');
  return bracket == std::string::npos ? 0 : std::strtoull(link.c_str() + bracket + 1, nullptr, 10);
}

/// Formats credentials as /proc/PID/status does.
std::string status_of(const trace::TaskState::Credentials& credentials) {
  std::string text;
  const auto line = [&text](const char* key, const auto& numbers) {
    text += key;
    for (const std::uint32_t number : numbers) {
      text += fmt::format("\t{}", number);
    }
    text += '\n';
  };
  line("Uid:", credentials.users);
  line("Gid:", credentials.groups);
  line("Groups:", credentials.supplementary_groups);
  line("Seccomp:", std::array{credentials.seccomp_mode});
  line("Seccomp_filters:", std::array{credentials.seccomp_filters});
  return text + fmt::format("CapEff:\t{:016x}\n", credentials.capabilities);
}

/// Formats soft limits as /proc/PID/limits does.
std::string limits_of(const std::vector<std::uint64_t>& limits) {
  constexpr std::pair<std::size_t, const char*> names[] = {
      {RLIMIT_CPU, "Max cpu time"},     {RLIMIT_FSIZE, "Max file size"},      {RLIMIT_DATA, "Max data size"},
      {RLIMIT_STACK, "Max stack size"}, {RLIMIT_NPROC, "Max processes"},      {RLIMIT_NOFILE, "Max open files"},
      {RLIMIT_AS, "Max address space"}, {RLIMIT_MEMLOCK, "Max locked memory"}};
  std::string text;
  for (const auto& [number, name] : names) {
    if (number < limits.size()) {
      const std::uint64_t limit = limits[number];
      text += std::string(name) + ' ' + (limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit)) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string SnapshotView::current_directory(pid_t tid) {
  return then_ == nullptr ? live_.current_directory(tid) : then_->working_directory;
}

std::optional<std::string> SnapshotView::descriptor(pid_t tid, std::int64_t fd) {
  if (then_ == nullptr) {
    return live_.descriptor(tid, fd);
  }
  return then_->descriptor == fd ? std::optional(then_->descriptor_path) : std::nullopt;
}

std::optional<explain::Snapshot> SnapshotView::snapshot(pid_t tid) {
  if (then_ == nullptr || !then_->credentials) {
    return then_ == nullptr ? live_.snapshot(tid) : std::nullopt;
  }
  // The rest hardly ever changes: the live process, if it still exists, shows it.
  explain::Snapshot result = live_.snapshot(tid).value_or(explain::Snapshot{});
  result.status = status_of(*then_->credentials);
  result.limits = limits_of(then_->limits);
  result.descriptors.reset();
  return result;
}

std::vector<proc::MappedRange> SnapshotView::mappings(pid_t tid) {
  return then_ == nullptr ? live_.mappings(tid) : then_->mappings;
}

std::uint64_t SnapshotView::stack_pointer(pid_t tid) {
  return then_ == nullptr ? live_.stack_pointer(tid) : then_->stack_pointer;
}

std::optional<std::shared_ptr<explain::Root>> SnapshotView::root(pid_t tid) {
  if (then_ == nullptr) {
    return live_.root(tid);
  }
  return then_->root ? std::optional(roots_.find(tid, *then_->root)) : std::nullopt;
}

// ---------------------------------------------------------------------------------------------- roots

SnapshotRoots::SnapshotRoots() {
  struct stat root;
  if (::stat("/", &root) == 0) {
    own_.device = root.st_dev;
    own_.inode = root.st_ino;
  }
  own_.mount_namespace = namespace_number(read_link("/proc/self/ns/mnt"));
}

bool SnapshotRoots::is_own(const trace::TaskState::Root& root) const {
  // On some file systems stat(2) reports another device number than the one in the superblock.
  return root.mount_namespace == own_.mount_namespace && root.inode == own_.inode &&
         (root.device == own_.device || root.path == "/");
}

std::shared_ptr<explain::Root> SnapshotRoots::open(pid_t tid, const trace::TaskState::Root& root) const {
  auto result = std::make_shared<explain::Root>();
  const auto open_if_it = [&](const std::string& place) {
    UniqueFd directory(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info;
    if (directory.valid() && ::fstat(directory.get(), &info) == 0 && info.st_ino == root.inode) {
      result->directory = std::move(directory);
    }
    return result->directory.valid();
  };
  result->known = false;
  if (!root.path.empty() && read_link(proc::proc_path(tid, "root")) == root.path) {
    result->mounts.reset(::open(proc::proc_path(tid, "ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
    // The process may have entered another mount namespace since the event.
    result->known = open_if_it(proc::proc_path(tid, "root")) &&
                    namespace_number(read_link(proc::proc_path(tid, "ns/mnt"))) == root.mount_namespace;
  }
  if (!result->known && root.mount_namespace == own_.mount_namespace && !root.path.empty()) {
    result->known = open_if_it(root.path);
  }
  if (result->known) {
    result->prefix = fmt::format("/proc/self/fd/{}", result->directory.get());
  }
  return result;
}

std::shared_ptr<explain::Root> SnapshotRoots::find(pid_t tid, const trace::TaskState::Root& root) {
  if (is_own(root)) {
    return nullptr;
  }
  const RootName name{root.mount_namespace, root.path, root.inode};
  if (const auto kept = roots_.find(name); kept != roots_.end()) {
    return kept->second;
  }
  std::shared_ptr<explain::Root> found = open(tid, root);
  if (found->known && roots_.size() < most_roots) {
    roots_[name] = found;
  }
  return found;
}

}  // namespace tracer::pipeline
