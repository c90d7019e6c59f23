// What /proc says of processes that say much.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <vector>

#include "catch.h"
#include "skip.h"

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "proc/mounts.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"

namespace tracer {

TEST_CASE("a file is read as far as asked, and nobody is waited for") {
  const auto folder = std::filesystem::temp_directory_path() / ("read_file." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "file";
  const std::string text(40000, 'x');
  UniqueFd file(::creat(path.c_str(), 0600));
  REQUIRE(write_all(file.get(), text) == 0);
  CHECK(read_file(path) == text);
  CHECK(read_file(path, 20000) == text.substr(0, 20000));
  CHECK(read_file(folder / "missing").empty());
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(read_file(fifo).empty());
  std::filesystem::remove_all(folder);
}

TEST_CASE("a process that is in many groups has fields behind them") {
  if (::geteuid() != 0) {
    SKIP("only root can be in so many groups");
  }
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  UniqueFd inner(ends[1]);
  const UniqueFd outer(ends[0]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<gid_t> groups(5000);
    std::iota(groups.begin(), groups.end(), gid_t{1'000'000});
    const char done = ::setgroups(groups.size(), groups.data()) == 0 ? 'y' : 'n';
    static_cast<void>(write_all(inner.get(), {&done, 1}));
    ::pause();
    ::_exit(0);
  }
  inner.reset();
  char done = 0;
  CHECK(::read(outer.get(), &done, 1) == 1);
  if (done == 'y') {
    CHECK(proc::status_field(child, "Groups").size() > 4096);
    CHECK(proc::status_field(child, "Seccomp").size() == 1);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("a label is looked for at the begins of lines, whole") {
  const std::string_view text = "Name:\tPid: 3\nNSpid:\t7\t1\nPid:\t  42\nEmpty:\nPidLast:\tx";
  CHECK(proc::find_field(text, "Name") == "Pid: 3");
  CHECK(proc::find_field(text, "NSpid") == "7\t1");
  CHECK(proc::find_field(text, "Pid") == "42");
  CHECK(proc::find_field(text, "Empty").empty());
  CHECK(proc::find_field(text, "PidLast") == "x");
  CHECK(proc::find_field(text, "pid").empty());
  CHECK(proc::find_field("Pid", "Pid").empty());
  CHECK(proc::find_field("", "Pid").empty());
}

TEST_CASE("mounts are found by a descriptor and by a path") {
  const UniqueFd proc(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  const auto of_descriptor = proc::mount_of_descriptor(::getpid(), proc.get());
  REQUIRE(of_descriptor);
  CHECK(of_descriptor->type == "proc");
  CHECK(of_descriptor->point == "/proc");
  const auto of_path = proc::mount_of_path(::getpid(), "/proc/self");
  REQUIRE(of_path);
  CHECK(of_path->type == "proc");
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  CHECK_FALSE(proc::mount_of_descriptor(::getpid(), reading.get()));
}

}  // namespace tracer
