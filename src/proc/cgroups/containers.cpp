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

constexpr std::size_t largest_file = std::size_t{8} << 20;
constexpr std::size_t most_entries = 4096;  // of one directory, and containers in one file
constexpr std::size_t longest_name = 1024;

struct Release {
  void operator()(json_t* json) const { json_decref(json); }
};
using Document = std::unique_ptr<json_t, Release>;

/// Returns null for what is no regular file, is too large or holds no JSON.
Document read_document(const std::string& path) {
  const proc::TraceeFile file = proc::open_regular(path);
  if (!file.descriptor.valid()) {
    return nullptr;
  }
  const std::string text = read_file("/proc/self/fd/" + std::to_string(file.descriptor.get()), largest_file);
  return Document(json_loadb(text.data(), text.size(), 0, nullptr));
}

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
void read_bundle(const std::string& directory, Container& container) {
  if (const Document status = read_document(directory + "/status")) {
    container.group = below_mount(member(status.get(), "cgroup-path"));
  }
  if (const Document state = read_document(directory + "/state.json")) {
    container.group = below_mount(member(json_object_get(state.get(), "cgroup_paths"), ""));
    if (container.group.empty()) {
      container.group = below_mount(member(state.get(), "cgroupPath"));
    }
  }
  const Document config = read_document(directory + "/config.json");
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

void for_each_container(const std::string& directory,
                        const std::function<void(const std::string& path, const std::string& id)>& visit) {
  std::size_t seen = 0;
  for_each_entry(directory, [&](const char* name) {
    visit(directory + '/' + name, name);
    return ++seen < most_entries;
  });
}

/// A directory with one directory for each container, which its id names.
void read_bundles(const std::string& directory, std::vector<Container>& found) {
  for_each_container(directory, [&found](const std::string& path, const std::string& id) {
    Container container;
    container.id = id;
    read_bundle(path, container);
    found.push_back(std::move(container));
  });
}

void read_docker(const std::string& directory, std::vector<Container>& found) {
  for_each_container(directory, [&found](const std::string& path, const std::string& id) {
    if (const Document config = read_document(path + "/config.v2.json")) {
      Container container;
      container.id = id;
      add_name(container, member(config.get(), "Name"));
      found.push_back(std::move(container));
    }
  });
}

/// containers/storage, of podman and CRI-O: a list of containers with their names, for each driver.
void read_storage(const std::string& directory, std::vector<Container>& found) {
  for_each_container(directory, [&found](const std::string& path, const std::string& name) {
    constexpr std::string_view ending = "-containers";
    if (name.size() <= ending.size() || name.compare(name.size() - ending.size(), ending.size(), ending) != 0) {
      return;
    }
    for (const char* list : {"/containers.json", "/volatile-containers.json"}) {
      const Document document = read_document(path + list);
      const std::size_t count = std::min(json_array_size(document.get()), most_entries);
      for (std::size_t i = 0; i < count; ++i) {
        const json_t* one = json_array_get(document.get(), i);
        Container container;
        container.id = member(one, "id");
        const json_t* names = json_object_get(one, "names");
        for (std::size_t k = 0; k < std::min(json_array_size(names), most_entries); ++k) {
          add_name(container, text_of(json_array_get(names, k)));
        }
        if (!container.id.empty()) {
          found.push_back(std::move(container));
        }
      }
    }
  });
}

void read_runtimes(const std::string& directory, std::vector<Container>& found) {
  for (const char* runtime : {"/crun", "/runc", "/youki"}) {
    read_bundles(directory + runtime, found);
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
  read_runtimes(root + "/run", found);
  read_docker(root + "/var/lib/docker/containers", found);
  read_bundles(root + "/run/docker/runtime-runc/moby", found);
  for (const char* tasks : {"/run/containerd/io.containerd.runtime.v2.task", "/run/containerd/runc"}) {
    for_each_container(root + tasks,
                       [&found](const std::string& path, const std::string&) { read_bundles(path, found); });
  }
  read_storage(root + "/var/lib/containers/storage", found);
  read_storage(root + "/run/containers/storage", found);
  // Users that are logged in may have containers of their own.
  const std::string users = read_file(root + "/etc/passwd");
  for_each_container(root + "/run/user", [&](const std::string& path, const std::string& uid) {
    const std::size_t of_others = found.size();
    read_runtimes(path, found);
    read_storage(path + "/containers", found);
    if (const std::string home = home_of(users, uid); !home.empty()) {
      read_storage(root + home + "/.local/share/containers/storage", found);
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
