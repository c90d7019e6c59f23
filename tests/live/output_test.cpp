// Where the lines go: large files, slow readers, and what other people's programs make of them.
#include <algorithm>
#include <filesystem>

#include "catch.h"
#include "program_run.h"
#include "skip.h"

namespace tracer::live {

namespace fs = std::filesystem;

namespace {

std::ptrdiff_t count(const std::vector<std::string>& lines, const std::string& text) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a file of output may be larger than four gigabytes") {
  const Folder folder;
  const std::string file = folder.file("large");
  constexpr std::uintmax_t before = std::uintmax_t{5} << 30;
  const Ran ran = run("truncate -s " + std::to_string(before) + " " + file + "; $T -A -o " + file +
                      " -e exit_group true; tail -c +" + std::to_string(before + 1) + " " + file);
  CHECK(ran.lines == std::vector<std::string>{"exit_group(0)                           = ?", "+++ exited with 0 +++"});
}

TEST_CASE("a reader that is slow gets every line") {
  const std::string program = " sh -c 'i=0; while [ $i -lt 5000 ]; do kill -0 $$; i=$((i+1)); done'";
  const Ran command = run("exec $T -e kill -o '|sleep 0.5; cat'" + program);
  CHECK(count(command.lines, ", 0) ") == 5000);
  CHECK(command.lines.size() == 5000 + 1);
  // Through a pipe that refuses to take more for now.
  const Ran pipe = run("$T -e kill" + program +
                       " 2>&1 >/dev/null | /usr/bin/python3 -c 'import os, sys, time, fcntl\n"
                       "fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK); time.sleep(0.5); os.set_blocking(0, True)\n"
                       "sys.stdout.write(sys.stdin.read())'");
  CHECK(count(pipe.lines, ", 0) ") == 5000);
}

TEST_CASE("an output that takes no more for now gets every line") {
  // Standard error is often shared with a program that has set O_NONBLOCK on it.
  const Ran ran =
      run("exec /usr/bin/python3 -c 'import os, subprocess, sys, time\n"
          "reading, writing = os.pipe(); os.set_blocking(writing, False)\n"
          "run = subprocess.Popen(sys.argv[1:], stderr=writing); os.close(writing); time.sleep(0.3)\n"
          "sys.stdout.write(os.fdopen(reading).read())' "
          "$T -e kill sh -c 'i=0; while [ $i -lt 3000 ]; do kill -0 $$; i=$((i+1)); done'");
  CHECK(count(ran.lines, ", 0) ") == 3000);
  CHECK(ran.lines.size() == 3000 + 1);
}

TEST_CASE("a command that is not there leaves an empty output, not that of an earlier run") {
  const Folder folder;
  const std::string file = folder.file("out");
  CHECK(run("echo old > " + file + "; exec $T -o " + file + " /nonexistent/program").status != 0);
  CHECK(fs::exists(file));
  CHECK(contents(file).empty());
  CHECK(run("exec $T -ff -o " + file + "/x true").has(TRACER ": Can't fopen '" + file + "/x.PID': Not a directory"));
}

TEST_CASE("a tracer that ends with the first process of its PID namespace has written what came before") {
  if (WEXITSTATUS(run("exec unshare -Urpf true").status) != 0) {
    SKIP("no user namespaces here");
  }
  const Folder folder;
  const std::string file = folder.file("out");
  // The kernel kills the detached tracer when the program, the namespace's first process, ends.
  CHECK(run("exec unshare -Urpf $T -D -o " + file + " -e exit_group sh -c 'exit 3'").status == 3 << 8);
  CHECK(contents(file) == "exit_group(3)                           = ?\n");
}

TEST_CASE("a process that is gone gives the lines of a file no ids") {
  const Ran ran = run("$T -o /dev/stdout -e trace=none -p 4194303 sh -c 'exit 3'");
  CHECK(ran.has("+++ exited with 3 +++"));
}

TEST_CASE("a process and a program give the lines of a file ids") {
  const Ran ran = run("sleep 60 & $T -o /dev/stdout -e trace=none -p $! sh -c \"kill $!; exit 3\"");
  CHECK(!ran.has("+++ exited with 3 +++"));
  CHECK(ran.mentions(" +++ exited with 3 +++"));
}

TEST_CASE("strace-log-merge puts the files of -ff together") {
  const Folder folder;
  const Ran ran = run("cd " + folder.path().string() +
                      "; $T -ff -ttt -o log -e execve,exit_group sh -c 'sleep 0.01; true | sleep 0; exit 2'; "
                      "strace-log-merge log; rm -rf t");
  std::ptrdiff_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    files += entry.path().filename().string().starts_with("log.") ? 1 : 0;
  }
  CHECK(files == 4);  // sh, the two that sleep, and the one that is true by itself
  CHECK(count(ran.lines, "execve(") == 3);
  CHECK(count(ran.lines, "+++ exited with") == files);
  CHECK(ran.lines.front().find(" execve(\"") != std::string::npos);
  CHECK(ran.lines.back().find(" +++ exited with 2 +++") != std::string::npos);
}

}  // namespace tracer::live
