// Options that change how the whole program's lines look.
#include <regex>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

std::string without_colors(const std::string& line) {
  static const std::regex sequence("\033\\[[0-9;]*m");
  return std::regex_replace(line, sequence, "");
}

}  // namespace

TEST_CASE("colours change nothing but the colours") {
  const Folder folder;
  const std::string rest = " -o " + folder.file("trace") + " -P /nowhere cat /nowhere; cat " + folder.file("trace");
  const Ran plain = run("$T" + rest);
  const Ran colored = run("unset STRACE_COLORS; $T --color=always" + rest);
  REQUIRE(colored.lines.size() == plain.lines.size());
  for (std::size_t i = 0; i < plain.lines.size(); ++i) {
    CHECK(without_colors(colored.lines[i]) == plain.lines[i]);
    CHECK(plain.lines[i].find('\033') == std::string::npos);
  }
  CHECK(
      colored.has("\033[01mopenat\033[0m(AT_FDCWD, \"/nowhere\", \033[33mO_RDONLY\033[0m)  = "
                  "\033[31m-1 ENOENT (No such file or directory)\033[0m"));
}

TEST_CASE("STRACE_COLORS chooses colours, and says what it does not understand") {
  const Ran ran =
      run("exec env STRACE_COLORS=$(printf 'syscall=:argval=34:punct=02:retval=01;32:comment=\033c:x=1') $T -a1 "
          "--color=always -e exit_group sh -c 'exit 3'");
  CHECK(ran.has("exit_group\033[02m(\033[0m\033[34m3\033[0m\033[02m)\033[0m \033[02m=\033[0m \033[01;32m?\033[0m"));
  CHECK(ran.mentions("STRACE_COLORS: 'comment="));
  CHECK(ran.mentions("STRACE_COLORS: 'x=1' is not of the form"));
}

TEST_CASE("by default there are colours on a terminal that has them") {
  const std::string traced = " -e getppid sh -c :";
  const std::string on_terminal = " script -qec '\"$T\"" + traced + "' /dev/null </dev/null";
  CHECK(run("exec env -u NO_COLOR T=$T TERM=xterm" + on_terminal).mentions("\033["));
  CHECK_FALSE(run("exec env -u NO_COLOR T=$T TERM=vt100" + on_terminal).mentions("\033["));
  CHECK_FALSE(run("exec env -u NO_COLOR T=$T TERM=dumb" + on_terminal).mentions("\033["));
  CHECK_FALSE(run("exec env NO_COLOR=1 T=$T TERM=xterm" + on_terminal).mentions("\033["));
  CHECK(run("exec env NO_COLOR= T=$T TERM=xterm" + on_terminal).mentions("\033["));
  CHECK_FALSE(run("exec env -u NO_COLOR TERM=xterm $T" + traced).mentions("\033["));
}

TEST_CASE("records of JSON have the name of the program that runs then") {
  const Ran ran = run("exec $T --format=json -e signal=none -e trace=exit_group sh -c 'exec cat /dev/null'");
  const std::regex names("\"type\":\"([a-z]+)\".*\"comm\":\"([a-z]+)\"");
  std::vector<std::string> records;
  for (const std::string& line : ran.lines) {
    if (std::smatch found; std::regex_search(line, found, names)) {
      records.push_back(found[1].str() + ' ' + found[2].str());
    }
  }
  CHECK(records == std::vector<std::string>{"exec sh", "exec cat", "syscall cat", "exit cat"});
}

TEST_CASE("with -Y the process id in front of a line has the name of its program") {
  const Folder folder;
  const std::string file = folder.file("trace");
  run("exec $T -f -Y -o " + file + " -e exit_group sh -c 'sleep 0; exit 3'");
  const std::regex shape(
      "\\d+<sleep> exit_group\\(0\\) += \\?\n"
      "\\d+<sleep> \\+\\+\\+ exited with 0 \\+\\+\\+\n"
      "\\d+<sh> --- SIGCHLD .*\n"
      "\\d+<sh> exit_group\\(3\\) += \\?\n"
      "\\d+<sh> \\+\\+\\+ exited with 3 \\+\\+\\+\n");
  CHECK(std::regex_match(contents(file), shape));
}

}  // namespace tracer::live
