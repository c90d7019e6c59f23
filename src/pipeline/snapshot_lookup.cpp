#include "pipeline/snapshot_lookup.h"

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

/// "mnt:[4026531841]"; 0 if it is not that.
std::uint64_t namespace_number(const std::string& link) {
  const std::size_t bracket = link.find('[');
  return bracket == std::string::npos ? 0 : std::strtoull(link.c_str() + bracket + 1, nullptr, 10);
}

/// As /proc/PID/status has it.
std::string status_of(const trace::Circumstances::Rights& rights) {
  std::string text;
  const auto line = [&text](const char* key, const auto& numbers) {
    text += key;
    for (const std::uint32_t number : numbers) {
      text += fmt::format("\t{}", number);
    }
    text += '\n';
  };
  line("Uid:", rights.users);
  line("Gid:", rights.groups);
  line("Groups:", rights.more_groups);
  line("Seccomp:", std::array{rights.seccomp_mode});
  line("Seccomp_filters:", std::array{rights.seccomp_filters});
  return text + fmt::format("CapEff:\t{:016x}\n", rights.capabilities);
}

/// As /proc/PID/limits has them: soft ones.
std::string limits_of(const trace::Circumstances::Rights& rights) {
  constexpr std::pair<std::size_t, const char*> names[] = {
      {RLIMIT_CPU, "Max cpu time"},     {RLIMIT_FSIZE, "Max file size"},      {RLIMIT_DATA, "Max data size"},
      {RLIMIT_STACK, "Max stack size"}, {RLIMIT_NPROC, "Max processes"},      {RLIMIT_NOFILE, "Max open files"},
      {RLIMIT_AS, "Max address space"}, {RLIMIT_MEMLOCK, "Max locked memory"}};
  std::string text;
  for (const auto& [number, name] : names) {
    if (number < rights.limits.size()) {
      const std::uint64_t limit = rights.limits[number];
      text += std::string(name) + ' ' + (limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit)) + '\n';
    }
  }
  return text;
}

}  // namespace

PastSurroundings::PastSurroundings(explain::Surroundings& live) : live_(live) {
  struct stat root;
  if (::stat("/", &root) == 0) {
    own_.device = root.st_dev;
    own_.inode = root.st_ino;
  }
  own_.mount_namespace = namespace_number(read_link("/proc/self/ns/mnt"));
}

std::string PastSurroundings::current_directory(pid_t tid) {
  return then_ == nullptr ? live_.current_directory(tid) : then_->working_directory;
}

std::optional<std::string> PastSurroundings::descriptor(pid_t tid, std::int64_t fd) {
  if (then_ == nullptr) {
    return live_.descriptor(tid, fd);
  }
  return then_->descriptor == fd ? std::optional(then_->descriptor_path) : std::nullopt;
}

std::optional<explain::Snapshot> PastSurroundings::snapshot(pid_t tid) {
  if (then_ == nullptr || !then_->rights) {
    return then_ == nullptr ? live_.snapshot(tid) : std::nullopt;
  }
  // What hardly ever changes may be told by the process as it is now, if it is.
  explain::Snapshot result = live_.snapshot(tid).value_or(explain::Snapshot{});
  result.status = status_of(*then_->rights);
  result.limits = limits_of(*then_->rights);
  result.descriptors.reset();
  return result;
}

std::vector<proc::MappedRange> PastSurroundings::mappings(pid_t tid) {
  return then_ == nullptr ? live_.mappings(tid) : then_->mappings;
}

std::uint64_t PastSurroundings::stack_pointer(pid_t tid) {
  return then_ == nullptr ? live_.stack_pointer(tid) : then_->stack_pointer;
}

// ---------------------------------------------------------------------------------------------- roots

bool PastSurroundings::is_ours(const trace::Circumstances::Root& root) const {
  // A device number is not the same everywhere on some file systems.
  return root.mount_namespace == own_.mount_namespace && root.inode == own_.inode &&
         (root.device == own_.device || root.path == "/");
}

std::shared_ptr<explain::Root> PastSurroundings::open_root(pid_t tid, const trace::Circumstances::Root& root) const {
  auto result = std::make_shared<explain::Root>();
  const auto open_if_it = [&](const std::string& place) {
    UniqueFd folder(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info;
    if (folder.valid() && ::fstat(folder.get(), &info) == 0 && info.st_ino == root.inode) {
      result->folder = std::move(folder);
    }
    return result->folder.valid();
  };
  result->known = false;
  if (!root.path.empty() && read_link(proc::proc_path(tid, "root")) == root.path) {
    result->mounts.reset(::open(proc::proc_path(tid, "ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
    // Of the time before that: the process may have gone on to another namespace.
    result->known = open_if_it(proc::proc_path(tid, "root")) &&
                    namespace_number(read_link(proc::proc_path(tid, "ns/mnt"))) == root.mount_namespace;
  }
  if (!result->known && root.mount_namespace == own_.mount_namespace && !root.path.empty()) {
    result->known = open_if_it(root.path);
  }
  if (result->known) {
    result->prefix = fmt::format("/proc/self/fd/{}", result->folder.get());
  }
  return result;
}

std::optional<std::shared_ptr<explain::Root>> PastSurroundings::root(pid_t tid) {
  if (then_ == nullptr) {
    return live_.root(tid);
  }
  if (!then_->root) {
    return std::nullopt;
  }
  const trace::Circumstances::Root& root = *then_->root;
  if (is_ours(root)) {
    return nullptr;
  }
  const RootName name{root.mount_namespace, root.path, root.inode};
  if (const auto kept = roots_.find(name); kept != roots_.end()) {
    return kept->second;
  }
  std::shared_ptr<explain::Root> found = open_root(tid, root);
  if (found->known && roots_.size() < most_roots) {
    roots_[name] = found;
  }
  return found;
}

}  // namespace tracer::pipeline
