// -c of functions: uprobes count in the kernel what breakpoints count, and leave nothing behind.
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "skip.h"

#include "bpf_works.h"

namespace tracer::live {

namespace {

/// Where functions are not counted by uprobes, or not at all, the test is skipped.
void skip_without_uprobes() {
  if (::access("/sys/bus/event_source/devices/uprobe", F_OK) != 0) {
    SKIP("the kernel has no uprobes");
  }
  skip_without_bpf("-q -c -e trace=none -e symbol=nothing");
}

/// Where programs cannot count calls of functions themselves, the test is skipped.
void skip_without_recorder() {
  const Ran tried = run("$T --engine=inprocess -f -q -c -e trace=none -e library=nothing true");
  for (const std::string reason : {"inside a program on x86_64 alone", "time-stamp counter does not run evenly"}) {
    if (tried.mentions(reason)) {
      SKIP("programs count nothing themselves here: " << reason);
    }
  }
}

std::string memory_map(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

/// What is counted of a command, and how it ended.
std::pair<std::vector<std::string>, int> count(const std::string& engine, const std::string& command) {
  const Folder folder;
  const std::string out = folder.file("out");
  const Ran ran =
      run("exec $T --engine=" + engine + " -q -c -U calls,name -S name -o " + out + " " + command + " >/dev/null 2>&1");
  return {run("cat " + out).lines, ran.status};
}

/// Whether all code of the process is what its files have.
bool has_code_of_its_files(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream maps(folder + "/maps");
  std::ifstream memory(folder + "/mem", std::ios::binary);
  std::size_t compared = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    std::string offset;
    std::string device;
    std::string inode;
    std::string path;
    words >> range >> rights >> offset >> device >> inode >> path;
    if (rights.find('x') == std::string::npos || path.empty() || path[0] != '/') {
      continue;
    }
    const auto start = std::stoull(range, nullptr, 16);
    const auto size = static_cast<std::size_t>(std::stoull(range.substr(range.find('-') + 1), nullptr, 16) - start);
    std::string in_file(size, '\0');
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(std::stoull(offset, nullptr, 16)));
    file.read(in_file.data(), static_cast<std::streamsize>(size));
    const auto read = static_cast<std::size_t>(file.gcount());
    std::string in_memory(read, '\0');
    memory.seekg(static_cast<std::streamoff>(start));
    memory.read(in_memory.data(), static_cast<std::streamsize>(read));
    if (!memory || in_memory != in_file.substr(0, read)) {
      return false;
    }
    ++compared;
  }
  return compared != 0;
}

}  // namespace

TEST_CASE("uprobes count the calls of functions that breakpoints count") {
  skip_without_uprobes();
  for (const std::string command :
       {"-e trace=none -e library=@MAIN ls /", "-e trace=none -e 'library=*' ls /",
        "-e trace=none -e symbol=malloc+free+strlen+memcpy ls /", "-e trace=none -e symbol=@MAIN " TRACEE " hello",
        "-f -e trace=none -e 'library=*' sh -c 'ls / | wc -l; /bin/true; exit 3'",
        "-e trace=none -e 'library=*' sh -c 'ls / | wc -l; /bin/true; exit 3'",
        "-f -e trace=none -e 'symbol=str*+mem*+malloc' sh -c '/bin/true; ls /; exit 3'",
        "-f -e trace=none -e 'library=*' " TRACEE " vfork_exec", "-e trace=none -e 'library=*' sh -c 'kill -9 $$'",
        "-e trace=getpid,exit_group -e library=@MAIN sh -c 'exit 2'"}) {
    INFO(command);
    const auto by_uprobes = count("bpf", command);
    CHECK(by_uprobes.first.size() >= 4);
    CHECK(by_uprobes == count("ptrace", command));
  }
}

TEST_CASE("option -c counts functions by uprobes where only their number matters, and -d says why it does not") {
  skip_without_uprobes();
  const std::string in_kernel =
      TRACER ": functions: uprobes count their calls in the kernel, where nobody stops for it";
  const std::string what = " -e trace=none -e symbol=malloc true";
  CHECK(run("$T -d -c -U calls,name -S name" + what).has(in_kernel));
  CHECK(run("$T -d -c --engine=bpf" + what).has(in_kernel));
  CHECK(run("$T -d -c" + what).mentions("functions: breakpoints, not uprobes: times and errors are known only where"));
  CHECK(run("$T -d -c -U calls,name -S name --engine=ptrace" + what)
            .mentions("functions: breakpoints, not uprobes: --engine=ptrace"));
  const std::string recorded = kernel_is_at_least(6, 13)   ? "functions: uprobes record their calls"
                               : kernel_is_at_least(6, 10) ? "functions: breakpoints, as the kernel records calls since"
                                                           : "--engine=bpf: static probes are recorded in the kernel";
  for (const std::string options : {" -c -U total-time,name", ""}) {
    const Ran timed = run("$T -d --engine=bpf" + options + what);
    INFO((timed.lines.empty() ? "nothing" : timed.lines.front()));
    CHECK(timed.mentions(recorded));
  }
  const Folder folder;
  const std::string copy = folder.file("tracer");
  const Ran powerless = run("cp $T " + copy + " && chmod a+rx " + folder.path().string() +
                            " && setpriv --reuid 65534 --regid 65534 --clear-groups " + copy +
                            " -d -c -U calls,name -S name -e trace=none -e library=@MAIN ls /");
  CHECK(powerless.mentions("functions: breakpoints, not uprobes: BPF takes the capabilities CAP_BPF and CAP_PERFMON"));
  CHECK(powerless.mentions(" total"));
  CHECK(powerless.status == 0);
}

TEST_CASE("a tracer that counts without a stop leaves nothing behind, however it ends") {
  const std::string engine = GENERATE(as<std::string>{}, "bpf", "inprocess");
  if (engine == "bpf") {
    skip_without_uprobes();
  } else {
    skip_without_recorder();
  }
  for (const int signal : {SIGINT, SIGKILL}) {
    INFO(engine << ", " << signal);
    Process cat({"/bin/cat"});
    cat.say("one");
    REQUIRE(cat.line() == "one");
    const std::string pid = std::to_string(cat.pid());
    const std::string maps = memory_map(cat.pid());
    Process counter(
        {TRACER, "--engine=" + engine, "-f", "-c", "-e", "trace=none", "-e", "library=write@MAIN", "-p", pid}, true);
    REQUIRE(counter.reaches(TRACER ": Process " + pid + " attached"));
    // The first stop, at which the places are set, may come only now.
    REQUIRE(becomes_true([&] {
      cat.say("more");
      return cat.line() == "more" && !has_code_of_its_files(cat.pid());
    }));
    for (int i = 0; i < 100; ++i) {
      cat.say("more");
      REQUIRE(cat.line() == "more");
    }
    counter.signal(signal);
    if (signal == SIGINT) {
      CHECK(counter.reaches(TRACER ": Process " + pid + " detached"));
    }
    CHECK(counter.wait());
    CHECK(becomes_true([&] { return runs_untraced(cat.pid()) && has_code_of_its_files(cat.pid()); }));
    const bool has_its_own_memory = memory_map(cat.pid()) == maps;
    CHECK((has_its_own_memory || engine == "bpf"));  // uprobes have a page there for good
    cat.say("still here");
    CHECK(cat.line() == "still here");
  }
}

}  // namespace tracer::live
