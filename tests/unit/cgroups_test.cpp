// Units and containers are found in a tree of directories and in what runtimes note.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "proc/cgroups/containers.h"
#include "proc/cgroups/finder.h"

namespace tracer::proc::cgroups {
namespace {

/// A machine of directories: `tree` is where its groups are, the rest its files.
class Machine {
 public:
  Machine() {
    std::string name = (std::filesystem::temp_directory_path() / "tracer-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    group("system.slice/cron.service");
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void group(const std::string& path) const { std::filesystem::create_directories(root_ / "tree" / path); }
  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return root_ / name; }

  /// The group; `none` and what the user is told, or the error.
  [[nodiscard]] std::string find(TargetKind kind, const std::string& name) const {
    const auto found = cgroups::find({kind, name}, {root_ / "tree", root_});
    return !found ? found.error().message : found.value().group.value_or("none" + found.value().hint);
  }
  [[nodiscard]] std::string unit(const std::string& name) const { return find(TargetKind::unit, name); }
  [[nodiscard]] std::string container(const std::string& name) const { return find(TargetKind::container, name); }

 private:
  std::filesystem::path root_;
};

std::string id(char digit) {
  return "ab" + std::string(62, digit);
}

}  // namespace

TEST_CASE("a unit is found wherever systemd has put it") {
  const Machine machine;
  machine.group("system.slice/system-getty.slice/getty@tty1.service");
  machine.group("user.slice/user-1000.slice/session-2.scope");
  CHECK(machine.unit("cron") == "/system.slice/cron.service");
  CHECK(machine.unit("cron.service") == "/system.slice/cron.service");
  CHECK(machine.unit("getty@tty1") == "/system.slice/system-getty.slice/getty@tty1.service");
  CHECK(machine.unit("session-2.scope") == "/user.slice/user-1000.slice/session-2.scope");
  CHECK(machine.unit("user-1000.slice") == "/user.slice/user-1000.slice");
  CHECK(machine.unit("corn") == "none; did you mean cron.service?");
  CHECK(machine.unit("nothing-like-it") == "none");
}

TEST_CASE("a unit of several users is ambiguous, one of the system is not") {
  const Machine machine;
  machine.group("user.slice/user-1.slice/user@1.service/app.slice/cron.service");
  CHECK(machine.unit("cron") == "/system.slice/cron.service");
  machine.group("user.slice/user-1.slice/user@1.service/app.slice/own.service");
  CHECK(machine.unit("own") == "/user.slice/user-1.slice/user@1.service/app.slice/own.service");
  machine.group("user.slice/user-2.slice/user@2.service/app.slice/own.service");
  const std::string said = machine.unit("own");
  CHECK(said.starts_with("--unit=own: 2 units are called that: /user.slice/user-"));
  CHECK(said.ends_with("; choose one of them with --cgroup="));
}

TEST_CASE("the id of a container is in the name of its group") {
  for (const char* prefix : {"docker-", "libpod-", "crio-", "cri-containerd-", "crun-", "runc-"}) {
    CHECK(id_in_group_name(prefix + id('0') + ".scope") == id('0'));
    CHECK(id_in_group_name(prefix + id('0')) == id('0'));
  }
  CHECK(id_in_group_name(id('1')) == id('1'));
  CHECK(id_in_group_name("libpod-conmon-" + id('1') + ".scope").empty());
  CHECK(id_in_group_name("system.slice").empty());
  CHECK(id_in_group_name("").empty());
}

TEST_CASE("a container is found by its id and by the beginning of it") {
  const Machine machine;
  machine.group("machine.slice/libpod-" + id('0') + ".scope/container");
  machine.group("docker/" + id('1'));
  CHECK(machine.container(id('0')) == "/machine.slice/libpod-" + id('0') + ".scope");
  CHECK(machine.container("ab0") == "/machine.slice/libpod-" + id('0') + ".scope");
  CHECK(machine.container("ab1111") == "/docker/" + id('1'));
  CHECK(machine.container("ab") == "none");  // too short to mean one
  machine.group("docker/ab1" + std::string(61, '2'));
  CHECK(machine.container("ab1") ==
        "--container=ab1: 2 containers are called that; choose one by its id: ab1111111111, ab1222222222");
}

TEST_CASE("a container is found by the name that its runtime has noted") {
  const Machine machine;
  machine.group("system.slice/docker-" + id('0') + ".scope");
  machine.group("machine.slice/libpod-" + id('1') + ".scope");
  machine.group("system.slice/crun-box.scope");
  machine.group("where/ever");
  machine.group("kubepods.slice/cri-containerd-" + id('2') + ".scope");
  machine.file("var/lib/docker/containers/" + id('0') + "/config.v2.json", R"({"ID": "x", "Name": "/web"})");
  machine.file(
      "var/lib/containers/storage/overlay-containers/containers.json",
      R"([{"id": ")" + id('1') + R"(", "names": ["db", "base"]}, {"id": ")" + id('3') + R"(", "names": ["off"]}])");
  machine.file("run/crun/box/status", R"({"pid": 1, "cgroup-path": "/system.slice/crun-box.scope"})");
  machine.file("run/runc/other/state.json", R"({"cgroup_paths": {"": "/sys/fs/cgroup/where/ever"}})");
  machine.file("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id('2') + "/config.json",
               R"({"annotations": {"io.kubernetes.cri.container-name": "nginx"}})");
  CHECK(machine.container("web") == "/system.slice/docker-" + id('0') + ".scope");
  CHECK(machine.container("db") == "/machine.slice/libpod-" + id('1') + ".scope");
  CHECK(machine.container("base") == "/machine.slice/libpod-" + id('1') + ".scope");
  CHECK(machine.container("box") == "/system.slice/crun-box.scope");
  CHECK(machine.container("other") == "/where/ever");
  CHECK(machine.container("nginx") == "/kubepods.slice/cri-containerd-" + id('2') + ".scope");
  machine.group("just-made");
  machine.file("run/crun/just-made/config.json", "{}");
  CHECK(machine.container("just-made") == "/just-made");
  CHECK(machine.container("off") == "none");  // known, and not running
  CHECK(machine.container("ngimx") == "none; did you mean nginx?");
}

TEST_CASE("of several containers of a name, the one that runs is meant") {
  const Machine machine;
  for (const char digit : {'0', '1'}) {
    machine.file(std::string("run/crun/") + id(digit) + "/config.json",
                 R"({"annotations": {"io.kubernetes.container.name": "web"}})");
  }
  machine.group("crio-" + id('1') + ".scope");
  CHECK(machine.container("web") == "/crio-" + id('1') + ".scope");
  machine.group("crio-" + id('0') + ".scope");
  CHECK(machine.container("web").starts_with("--container=web: 2 containers are called that"));
}

TEST_CASE("what one user has noted is read in part, however much it is, and what others have noted all the same") {
  const Machine machine;
  const std::string much(std::size_t{1} << 20, ' ');
  for (int i = 0; i < 40; ++i) {
    machine.file("run/user/1000/crun/box" + std::to_string(i) + "/config.json",
                 R"({"annotations": {"nerdctl/name": "name"}})" + much);
  }
  machine.file("run/user/1001/crun/own/config.json", R"({"annotations": {"nerdctl/name": "web"}})");
  const auto noted = noted_containers(machine.path(""));
  const auto named = [&](const std::string& name) {
    return std::count_if(noted.begin(), noted.end(),
                         [&](const Container& one) { return one.names == std::vector<std::string>{name}; });
  };
  CHECK(named("name") > 10);
  CHECK(named("name") < 20);
  CHECK(named("web") == 1);
}

TEST_CASE("what a user notes counts for that user's groups alone") {
  const Machine machine;
  machine.file("run/user/1000/crun/web/status", R"({"cgroup-path": "/system.slice/cron.service"})");
  CHECK(machine.container("web") == "none");
  machine.group("user.slice/user-1000.slice/libpod-" + id('4') + ".scope");
  machine.file("etc/passwd", "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n");
  machine.file("home/me/.local/share/containers/storage/overlay-containers/containers.json",
               R"([{"id": ")" + id('4') + R"(", "names": ["mine"]}])");
  CHECK(machine.container("mine") == "/user.slice/user-1000.slice/libpod-" + id('4') + ".scope");
}

TEST_CASE("files of runtimes that are none are survived") {
  const Machine machine;
  const std::string list = "var/lib/containers/storage/overlay-containers/containers.json";
  for (const std::string& text :
       {std::string("{"), std::string("[[[[1]]]]"), std::string(R"([{"names": "x"}, {"id": 7}, null])"),
        std::string(100000, '['), R"([{"id": ")" + std::string(5000, 'x') + R"(", "names": ["web"]}])"}) {
    machine.file(list, text);
    CHECK(noted_containers(machine.path("").string()).empty());
  }
  std::filesystem::create_directories(machine.path("run/crun/pipe"));
  REQUIRE(::mkfifo(machine.path("run/crun/pipe/status").c_str(), 0600) == 0);
  CHECK(machine.container("pipe") == "none");
  machine.file("run/crun/bell/config.json", R"({"annotations": {"nerdctl/name": "web\u001b[1m"}})");
  CHECK(machine.container("web[1m").find('\033') == std::string::npos);
}

}  // namespace tracer::proc::cgroups
