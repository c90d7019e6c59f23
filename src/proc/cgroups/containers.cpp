#include "proc/cgroups/containers.h"

#include <jansson.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "base/directory.h"
#include "base/read_file.h"
#include "proc/tracee_file.h"

namespace tracer::proc::cgroups {
namespace {

// Of what one owner has, who is root or a user.
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_entries = 16384;
constexpr std::size_t largest_file = std::size_t{2} << 20;
constexpr std::size_t longest_name = 1024;

struct Release {
  void operator()(json_t* json) const { json_decref(json); }
};
using Document = std::unique_ptr<json_t, Release>;

/// Reads the files of one owner, who may have made them to keep us busy.
class Reading {
 public:
  /// Returns null for what is no regular file, is too large or holds no JSON.
  Document document(const std::string& path) {
    const proc::TraceeFile file = proc::open_regular(path);
    if (!file.descriptor.valid()) {
      return nullptr;
    }
    const std::string text =
        read_file("/proc/self/fd/" + std::to_string(file.descriptor.get()), std::min(largest_file, bytes_left_));
    bytes_left_ -= text.size();
    return Document(json_loadb(text.data(), text.size(), 0, nullptr));
  }

  void for_each_container(const std::string& directory,
                          const std::function<void(const std::string& path, const std::string& id)>& visit) {
    for_each_entry(directory, [&](const char* name) {
      if (!take_entry()) {
        return false;
      }
      visit(directory + '/' + name, name);
      return true;
    });
  }

  /// Whether there may be one more, of a directory or a list.
  bool take_entry() {
    entries_left_ -= entries_left_ == 0 ? 0 : 1;
    return entries_left_ != 0;
  }

 private:
  std::size_t bytes_left_ = most_bytes;
  std::size_t entries_left_ = most_entries;
};

std::string text_of(const json_t* json) {
  const bool usable = json_is_string(json) && json_string_length(json) <= longest_name;
  return usable ? std::string(json_string_value(json), json_string_length(json)) : std::string{};
}

std::string member(const json_t* object, const char* name) {
  return text_of(json_object_get(object, name));
}

void add_name(Container& container, std::string name) {
  if (!name.empty() && name.front() == '/') {  // docker's
    name.erase(0, 1);
  }
  if (!name.empty()) {
    container.names.push_back(std::move(name));
  }
}

/// Paths of the runtime's view begin at the mount point, or at the root of the tree.
std::string below_mount(const std::string& group) {
  for (const std::string_view mount : {"/sys/fs/cgroup/unified/", "/sys/fs/cgroup/"}) {
    if (group.compare(0, mount.size(), mount) == 0) {
      return group.substr(mount.size() - 1);
    }
  }
  return group;
}

/// linux.cgroupsPath of the OCI specification: a path, or SLICE:PREFIX:NAME where systemd makes the group, whose
/// directory is then found by its name.
std::string path_of_specification(const std::string& path) {
  return !path.empty() && path.front() == '/' ? path : std::string{};
}

/// `directory` is the one that a runtime has for a container: crun's `status`, runc's and youki's `state.json`, and
/// `config.json`, the OCI specification.
void read_bundle(Reading& reading, const std::string& directory, Container& container) {
  if (const Document status = reading.document(directory + "/status")) {
    container.group = below_mount(member(status.get(), "cgroup-path"));
  }
  if (const Document state = reading.document(directory + "/state.json")) {
    container.group = below_mount(member(json_object_get(state.get(), "cgroup_paths"), ""));
    if (container.group.empty()) {
      container.group = below_mount(member(state.get(), "cgroupPath"));
    }
  }
  const Document config = reading.document(directory + "/config.json");
  if (config == nullptr) {
    return;
  }
  if (container.group.empty()) {
    container.group = path_of_specification(member(json_object_get(config.get(), "linux"), "cgroupsPath"));
  }
  const json_t* annotations = json_object_get(config.get(), "annotations");
  for (const char* name : {"io.kubernetes.cri.container-name", "io.kubernetes.container.name", "nerdctl/name"}) {
    add_name(container, member(annotations, name));
  }
}

/// A directory with one directory for each container, which its id names.
void read_bundles(Reading& reading, const std::string& directory, std::vector<Container>& found) {
  reading.for_each_container(directory, [&](const std::string& path, const std::string& id) {
    Container container;
    container.id = id;
    read_bundle(reading, path, container);
    found.push_back(std::move(container));
  });
}

void read_docker(Reading& reading, const std::string& directory, std::vector<Container>& found) {
  reading.for_each_container(directory, [&](const std::string& path, const std::string& id) {
    if (const Document config = reading.document(path + "/config.v2.json")) {
      Container container;
      container.id = id;
      add_name(container, member(config.get(), "Name"));
      found.push_back(std::move(container));
    }
  });
}

/// containers/storage, of podman and CRI-O: a list of containers with their names, for each driver.
void read_storage(Reading& reading, const std::string& directory, std::vector<Container>& found) {
  reading.for_each_container(directory, [&](const std::string& path, const std::string& name) {
    constexpr std::string_view ending = "-containers";
    if (name.size() <= ending.size() || name.compare(name.size() - ending.size(), ending.size(), ending) != 0) {
      return;
    }
    for (const char* list : {"/containers.json", "/volatile-containers.json"}) {
      const Document document = reading.document(path + list);
      for (std::size_t i = 0; i < json_array_size(document.get()) && reading.take_entry(); ++i) {
        const json_t* one = json_array_get(document.get(), i);
        Container container;
        container.id = member(one, "id");
        const json_t* names = json_object_get(one, "names");
        for (std::size_t k = 0; k < json_array_size(names) && reading.take_entry(); ++k) {
          add_name(container, text_of(json_array_get(names, k)));
        }
        if (!container.id.empty()) {
          found.push_back(std::move(container));
        }
      }
    }
  });
}

void read_runtimes(Reading& reading, const std::string& directory, std::vector<Container>& found) {
  for (const char* runtime : {"/crun", "/runc", "/youki"}) {
    read_bundles(reading, directory + runtime, found);
  }
}

/// Returns the home directory of a user from passwd(5); empty if it does not say.
std::string home_of(const std::string& users, std::string_view uid) {
  for (std::size_t at = 0; at < users.size();) {
    const std::size_t end = std::min(users.find('\n', at), users.size());
    std::array<std::string_view, 6> fields;  // up to the home directory
    std::string_view line = std::string_view(users).substr(at, end - at);
    for (std::string_view& field : fields) {
      const std::size_t colon = std::min(line.find(':'), line.size());
      field = line.substr(0, colon);
      line.remove_prefix(std::min(colon + 1, line.size()));
    }
    if (fields[2] == uid) {
      return std::string(fields[5]);
    }
    at = end + 1;
  }
  return {};
}

}  // namespace

std::vector<Container> noted_containers(const std::string& root) {
  std::vector<Container> found;
  Reading system;
  read_runtimes(system, root + "/run", found);
  read_docker(system, root + "/var/lib/docker/containers", found);
  read_bundles(system, root + "/run/docker/runtime-runc/moby", found);
  for (const char* tasks : {"/run/containerd/io.containerd.runtime.v2.task", "/run/containerd/runc"}) {
    system.for_each_container(root + tasks,
                              [&](const std::string& path, const std::string&) { read_bundles(system, path, found); });
  }
  read_storage(system, root + "/var/lib/containers/storage", found);
  read_storage(system, root + "/run/containers/storage", found);
  // Users that are logged in may have containers of their own.
  const std::string users = read_file(root + "/etc/passwd");
  system.for_each_container(root + "/run/user", [&](const std::string& path, const std::string& uid) {
    const std::size_t of_others = found.size();
    Reading own;
    read_runtimes(own, path, found);
    read_storage(own, path + "/containers", found);
    if (const std::string home = home_of(users, uid); !home.empty()) {
      read_storage(own, root + home + "/.local/share/containers/storage", found);
    }
    for (std::size_t i = of_others; i < found.size(); ++i) {
      found[i].slice = "user-" + uid + ".slice";
    }
  });
  return found;
}

std::string_view id_in_group_name(std::string_view group) {
  constexpr std::string_view scope = ".scope";
  constexpr std::size_t id_size = 64;
  if (group.size() > scope.size() && group.substr(group.size() - scope.size()) == scope) {
    group.remove_suffix(scope.size());
  }
  for (const std::string_view prefix :
       {"docker-", "libpod-", "crio-", "cri-containerd-", "nerdctl-", "crun-", "runc-", "youki-"}) {
    if (group.size() > prefix.size() && group.substr(0, prefix.size()) == prefix) {
      const std::string_view id = group.substr(prefix.size());
      // conmon watches a container, and is not in it.
      return id.substr(0, 7) == "conmon-" ? std::string_view{} : id;
    }
  }
  const bool is_id = group.size() == id_size && group.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_id ? group : std::string_view{};
}

}  // namespace tracer::proc::cgroups
