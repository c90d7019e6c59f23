// --secontext, with contexts that a test gives: few machines have SELinux.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "catch.h"
#include "skip.h"

#include "base/child.h"
#include "base/unique_fd.h"
#include "names/security_contexts.h"

namespace tracer::decode {
namespace {

/// Whether both lead to one file: under an emulator that has a root of its own, its name may be another.
bool is_same(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::optional<std::string> of_same_file(const std::map<std::string, std::string>& files, const std::string& path) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const auto& entry) { return is_same(entry.first, path); });
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

class FakeSource final : public names::ContextSource {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> database;
  std::string process;

  std::optional<std::string> of_file(const std::string& path) override { return of_same_file(files, path); }
  std::optional<std::string> of_process(pid_t) override { return process; }
  std::optional<std::string> recorded(const std::string& path, mode_t mode) override {
    return S_ISDIR(mode) ? of_same_file(database, path) : std::nullopt;
  }
};

FakeSource usual() {
  FakeSource source;
  source.files = {{"/", "system_u:object_r:root_t:s0"}, {"/proc", "system_u:object_r:proc_t:s0"}};
  source.process = "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023\n";
  return source;
}

/// An emulator of programs may not know the call by which paths are followed; then none has a context.
void skip_without_openat2() {
  if (::syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0) == -1 && errno == ENOSYS) {
    SKIP("there is no openat2 here");
  }
}

std::string path_context(names::ContextOptions options, FakeSource source, int directory, std::string_view path) {
  const names::SecurityContexts contexts(options, std::make_unique<FakeSource>(std::move(source)));
  TextBuffer text;
  contexts.of_path(text, ::getpid(), directory, path);
  return std::string(text.view());
}

}  // namespace

TEST_CASE("a context is its type, or all of it") {
  for (const bool full : {false, true}) {
    const names::SecurityContexts contexts({full, false}, std::make_unique<FakeSource>(usual()));
    TextBuffer text;
    contexts.of_process(text, ::getpid());
    CHECK(text.view() == (full ? "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023" : "unconfined_t"));
  }
}

TEST_CASE("the context of a descriptor is that of its file") {
  const names::SecurityContexts contexts({}, std::make_unique<FakeSource>(usual()));
  const UniqueFd proc(::open("/proc", O_PATH | O_CLOEXEC));
  TextBuffer text;
  contexts.of_descriptor(text, ::getpid(), proc.get());
  CHECK(text.view() == "proc_t");
}

TEST_CASE("the context of a path is that of the file that it leads to, from wherever it starts") {
  skip_without_openat2();
  const UniqueFd root(::open("/", O_PATH | O_CLOEXEC));
  CHECK(path_context({}, usual(), AT_FDCWD, "/proc") == "proc_t");
  CHECK(path_context({}, usual(), root.get(), "proc") == "proc_t");
  CHECK(path_context({}, usual(), root.get(), "proc/..") == "root_t");
  CHECK(path_context({}, usual(), AT_FDCWD, "/../proc") == "proc_t");
  CHECK(path_context({}, usual(), AT_FDCWD, "/no such file").empty());
  CHECK(path_context({}, usual(), 9999, "proc").empty());
  CHECK(path_context({}, usual(), AT_FDCWD, "").empty());
}

TEST_CASE("a link leads to no file outside the root directory of the thread, however its path starts") {
  skip_without_openat2();
  if (::geteuid() != 0) {
    SKIP("chroot(2) is for root");
  }
  std::string jail = "/tmp/contexts-XXXXXX";
  REQUIRE(::mkdtemp(jail.data()) != nullptr);
  REQUIRE(::symlink("/proc", (jail + "/outside").c_str()) == 0);
  REQUIRE(::symlink("/home", (jail + "/inside").c_str()) == 0);
  REQUIRE(::mkdir((jail + "/home").c_str(), 0700) == 0);
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  auto child = Child::fork();
  REQUIRE(child);
  if (!child.value().valid()) {
    constexpr unsigned patience = 60;  // seconds
    ::alarm(patience);
    const bool is_in = ::chroot(jail.c_str()) == 0 && ::chdir("/home") == 0 && ::write(ready[1], "", 1) == 1;
    is_in ? ::pause() : 0;
    ::_exit(1);
  }
  char none = 0;
  REQUIRE(::read(ready[0], &none, 1) == 1);
  FakeSource source = usual();
  source.files[jail + "/home"] = "user_u:object_r:inside_t:s0";
  const names::SecurityContexts contexts({}, std::make_unique<FakeSource>(source));
  const auto context = [&](std::string_view path) {
    TextBuffer text;
    contexts.of_path(text, child.value().pid(), AT_FDCWD, path);
    return std::string(text.view());
  };
  CHECK(context("../outside").empty());
  CHECK(context("../inside") == "inside_t");
  CHECK(context("../../../../../inside") == "inside_t");
  CHECK(context(".") == "inside_t");
  ::kill(child.value().pid(), SIGKILL);
  ::rmdir((jail + "/home").c_str());
  ::unlink((jail + "/outside").c_str());
  ::unlink((jail + "/inside").c_str());
  ::rmdir(jail.c_str());
}

TEST_CASE("what the database has shows where it differs in what is shown") {
  skip_without_openat2();
  FakeSource source = usual();
  source.database = {{"/", "system_u:object_r:root_t:s0"}, {"/proc", "system_u:object_r:other_t:s0"}};
  CHECK(path_context({false, true}, source, AT_FDCWD, "/proc") == "proc_t!!other_t");
  CHECK(path_context({true, true}, source, AT_FDCWD, "/proc") ==
        "system_u:object_r:proc_t:s0!!system_u:object_r:other_t:s0");
  CHECK(path_context({false, true}, source, AT_FDCWD, "/") == "root_t");
  CHECK(path_context({false, false}, source, AT_FDCWD, "/proc") == "proc_t");
  source.database = {{"/proc", "another_u:object_r:proc_t:s0"}};
  CHECK(path_context({false, true}, source, AT_FDCWD, "/proc") == "proc_t");
  source.database.clear();
  CHECK(path_context({false, true}, source, AT_FDCWD, "/proc") == "proc_t");
}

TEST_CASE("a context that somebody has made up does no harm") {
  skip_without_openat2();
  FakeSource source = usual();
  source.files["/proc"] = "a:b:] = 0\n\x1b[2J:d";
  CHECK(path_context({}, source, AT_FDCWD, "/proc") == "\\135 = 0\\n\\33\\1332J");
  source.files["/proc"] = "none";
  CHECK(path_context({}, source, AT_FDCWD, "/proc") == "none");
  source.files["/proc"] = "::";
  CHECK(path_context({}, source, AT_FDCWD, "/proc").empty());
  source.files["/proc"] = std::string(100'000, 'x');
  CHECK(path_context({true, false}, source, AT_FDCWD, "/proc").size() == 4096);
}

TEST_CASE("without SELinux there are no contexts") {
  const names::SecurityContexts contexts({true, true}, nullptr);
  TextBuffer text;
  contexts.of_process(text, ::getpid());
  contexts.of_descriptor(text, ::getpid(), 0);
  contexts.of_path(text, ::getpid(), AT_FDCWD, "/");
  CHECK(text.empty());
}

}  // namespace tracer::decode
