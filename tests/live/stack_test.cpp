// Stack traces of the whole program, -k.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "catch.h"
#include "skip.h"

#include "bpf_works.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// The functions of the frames below the first line that begins with `call`: `inner`; `?` where none is known, and what
/// else stands there.
/// Takes away what the C library's own symbols, which are there with its debugging information alone, put before the
/// names that it exports.
std::string without_prefix_of_libc(const std::string& text) {
  return std::regex_replace(text, std::regex("__GI_"), "");
}

std::vector<std::string> functions_below(const Ran& ran, const std::string& call) {
  auto line = std::find_if(ran.lines.begin(), ran.lines.end(),
                           [&](const std::string& each) { return each.compare(0, call.size(), call) == 0; });
  std::vector<std::string> functions;
  const std::regex frame(R"( > (?:.*/([^/]+)\((?:(.*)\+0x[0-9a-f]+)?\) \[0x[0-9a-f]+\]|(.*)))");
  std::smatch match;
  while (line != ran.lines.end() && ++line != ran.lines.end() && std::regex_match(*line, match, frame)) {
    functions.push_back(match[3].matched         ? match[3].str()
                        : match[2].length() == 0 ? "?"
                                                 : without_prefix_of_libc(match[2].str()));
  }
  return functions;
}

using Functions = std::vector<std::string>;

/// The first ones; what is below main is the C library's.
Functions first(Functions functions, std::size_t count) {
  functions.resize(std::min(functions.size(), count));
  return functions;
}

}  // namespace

TEST_CASE("option -k shows who called, file and offset as well") {
  const Ran ran = run("exec $T -k -e getppid " STACKS " call");
  CHECK(first(functions_below(ran, "getppid()"), 5) == Functions{"getppid", "inner", "middle", "outer", "main"});
  CHECK(std::any_of(ran.lines.begin(), ran.lines.end(), [](const std::string& line) {
    return std::regex_match(line, std::regex(R"( > /.*/stacks\(middle\+0x[0-9a-f]+\) \[0x[0-9a-f]+\])"));
  }));
}

TEST_CASE("option -k shows who called in static programs and in 32-bit ones") {
  std::istringstream variants(STACKS_VARIANTS);  // as far as the compiler makes them
  for (std::string program; std::getline(variants, program, ' ');) {
    INFO(program);
    if (run(program + " call").status != run(STACKS " call").status) {
      WARN("skipped: this machine does not run " << program);
      continue;
    }
    const Functions functions = functions_below(run("exec $T -k -e getppid " + program + " call"), "getppid()");
    const Functions wanted{"inner", "middle", "outer", "main"};
    CHECK(std::search(functions.begin(), functions.end(), wanted.begin(), wanted.end()) != functions.end());
    REQUIRE(!functions.empty());
    CHECK(functions.back() == "_start");
  }
}

TEST_CASE("option -k shows no more frames than asked for") {
  const Ran ran = run("exec $T -k -e getppid " STACKS " deep 300");
  const auto frames = functions_below(ran, "getppid()");
  REQUIRE(frames.size() == 257);
  CHECK(frames[255] == "recurse");
  CHECK(frames[256] == "too many stack frames");
  const Ran two = run("exec $T --stack-trace --stack-trace-frame-limit=2 -e getppid " STACKS " call");
  CHECK(functions_below(two, "getppid()") == Functions{"getppid", "inner", "too many stack frames"});
}

TEST_CASE("option -k goes on below a signal handler") {
  const Ran ran = run("exec $T -k -e getppid " STACKS " signal");
  const auto frames = functions_below(ran, "getppid()");
  CHECK(std::find(frames.begin(), frames.end(), "raise_it") != frames.end());
  const auto at_signal = functions_below(ran, "--- SIGUSR1");
  CHECK(std::find(at_signal.begin(), at_signal.end(), "raise_it") != at_signal.end());
}

TEST_CASE("option -k shows the stack of an execve and of an exit as it was when they were called") {
  const Ran ran = run("exec $T -s 4096 -k -e execve,exit_group " STACKS " exec");
  const auto at_exec = functions_below(ran, "execve(\"" STACKS "\", [\"" STACKS "\", \"call\"]");
  CHECK(std::find(at_exec.begin(), at_exec.end(), "main") != at_exec.end());
  CHECK(functions_below(ran, "exit_group(0)").empty());
  CHECK(first(functions_below(ran, "+++ exited with 0"), 1) == Functions{"_exit"});
}

TEST_CASE("option -k knows the functions of a program that is deleted") {
  const Folder folder;
  const Ran ran =
      run("cp " STACKS " " + folder.file("gone") + "; exec $T -k -e getppid " + folder.file("gone") + " deleted");
  CHECK(first(functions_below(ran, "getppid()"), 5) == Functions{"getppid", "inner", "middle", "outer", "main"});
  CHECK(ran.mentions("/gone (deleted)(inner+"));
}

#if defined(__x86_64__)
TEST_CASE("option -k ends where a stack leads back into itself, and where there is no file") {
  const Ran ran = run("exec $T -k --stack-trace-frame-limit=1000000 -e getppid " STACKS " round");
  const auto frames = functions_below(ran, "getppid()");
  REQUIRE(frames.size() == 1);
  CHECK(std::regex_match(frames.front(), std::regex(R"(unexpected_backtracing_error \[0x[0-9a-f]+\])")));
}

TEST_CASE("option -k names code that a program has compiled and listed for perf") {
  const Ran told = run("exec $T -k -e getppid " STACKS " compiled told");
  CHECK(told.mentions(".map(Compiled::twice~1+0xb) [0x"));
  const auto frames = functions_below(told, "getppid()");
  REQUIRE(frames.size() > 2);
  CHECK(frames[1] == "run_compiled");
  if (::geteuid() == 0) {
    const Ran forged = run("exec $T -k -e getppid " STACKS " compiled told 65534");
    CHECK(functions_below(forged, "getppid()").size() == 1);
    CHECK_FALSE(forged.mentions("Compiled"));
  }
  const Ran silent = run("exec $T -k -e getppid " STACKS " compiled");
  const auto unknown = functions_below(silent, "getppid()");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown.front().find("unexpected_backtracing_error [0x") == 0);
}

TEST_CASE("libunwind sees what libdw sees") {
  if (run("$T --stack-unwinder=libunwind -k true").mentions("this build has no libunwind")) {
    SKIP("this build has no libunwind");
  }
  for (const std::string what : {"call", "deep 300", "signal"}) {
    const Ran libdw = run("exec $T -k -e getppid " STACKS " " + what);
    const Ran libunwind = run("exec $T -k --stack-unwinder=libunwind -e getppid " STACKS " " + what);
    CHECK(functions_below(libunwind, "getppid()") == functions_below(libdw, "getppid()"));
    CHECK(functions_below(libunwind, "getppid()").size() > 5);
  }
}
#endif

TEST_CASE("what is in memory is read again only where code is concerned") {
  const Folder folder;
  const Ran ran =
      run("strace -o " + folder.file("log") + " -e trace=openat $T -I1 -k -e getppid,munmap " STACKS " mapping");
  CHECK(std::count_if(ran.lines.begin(), ran.lines.end(),
                      [](const std::string& line) { return line.find("(inner+0x") != std::string::npos; }) == 100);
  const std::string log = contents(folder.file("log"));
  std::size_t readings = 0;
  for (auto at = log.find("/maps\""); at != std::string::npos; at = log.find("/maps\"", at + 1)) {
    ++readings;
  }
  CHECK(readings > 0);
  CHECK(readings < 30);
}

TEST_CASE("option --format=folded adds up the calls of each stack") {
  const Ran calls = run("$T --format=folded -o /dev/stdout -e getppid " INLINED);
  REQUIRE(calls.lines.size() == 1);
  CHECK(std::regex_match(without_prefix_of_libc(calls.lines[0]),
                         std::regex(R"(inlined;_start;.*;main;.*;app::process\(.*\);getppid;getppid 3)")));
  const Ran bytes = run("$T --format=folded --folded-weight=bytes -o /dev/stdout -e write sh -c 'echo four'");
  REQUIRE(bytes.lines.size() == 2);
  CHECK(std::any_of(bytes.lines.begin(), bytes.lines.end(),
                    [](const std::string& line) { return std::regex_match(line, std::regex("sh;.*;write 5")); }));
  const Ran none = run("$T --format=folded -ff -o x true");
  CHECK(none.mentions("--format=folded and -ff/--output-separately are mutually exclusive"));
}

TEST_CASE("option -kk shows what gdb shows of a deep, inlined program") {
  if (run("command -v gdb").status != 0) {
    SKIP("there is no gdb");
  }
  // Function and line of each frame from the first below getppid to main.
  const Ran gdb =
      run("gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'catch syscall getppid' -ex run -ex bt " INLINED
          " 2>/dev/null | grep '^#' | sed -nE '2,/ main /p' | sed -E 's/^#[0-9]+ +(0x[0-9a-f]+ in )?//'");
  const Ran ours = run("$T -kk -o /dev/stdout -e getppid " INLINED " | sed -n '3,/(main+/p;/(main+/q'");
  REQUIRE(gdb.lines.size() > 20);
  REQUIRE(ours.lines.size() == gdb.lines.size());
  const std::regex their_form(R"((.*?) \(.*\) at .*?([^/]+:[0-9]+))");
  const std::regex our_form(R"( > .*?/inlined\((.*?)(?: inlined|\+0x[0-9a-f]+)\) \[0x[0-9a-f]+\] .*?([^/]+:[0-9]+))");
  for (std::size_t i = 0; i < gdb.lines.size(); ++i) {
    std::smatch theirs;
    std::smatch mine;
    CAPTURE(gdb.lines[i], ours.lines[i]);
    REQUIRE(std::regex_match(gdb.lines[i], theirs, their_form));
    REQUIRE(std::regex_match(ours.lines[i], mine, our_form));
    CHECK(mine[2] == theirs[2]);
    // Ours come with the types of their parameters.
    const auto function = [](const std::ssub_match& text) {  // gdb 16 writes int() for our int ()
      return std::regex_replace(text.str(), std::regex(R"((\w) \()"), "$1(");
    };
    CHECK(function(mine[1]).rfind(function(theirs[1]), 0) == 0);
  }
}

TEST_CASE("option -kk finds a separate file of debugging information by its link") {
  const Folder folder;
  const std::string program = folder.file("p");
  const Ran ran = run("cd " + folder.path().string() +
                      " && cp " INLINED " p && objcopy --only-keep-debug p p.debug && strip -s p && " +
                      "objcopy --add-gnu-debuglink=p.debug p && exec $T -kk -e getppid ./p");
  CHECK(ran.mentions("/p(app::leaf(int) inlined) ["));
  CHECK(ran.mentions("inlined.cpp:"));
}

TEST_CASE("symbols of a separate file are found") {
  const Folder folder;
  const Ran ran = run("cd " + folder.path().string() +
                      " && cp " STACKS
                      " p && objcopy --only-keep-debug p p.debug && strip -s p && "
                      "objcopy --add-gnu-debuglink=p.debug p && exec $T -k -e getppid ./p call");
  CHECK(ran.mentions("/p(inner+0x"));
}

TEST_CASE("a function without a symbol does not show under the name of the one before it") {
  const Ran ran = run("cp " STACKS " p && objcopy --strip-symbol=on_signal p && exec $T -k -e getppid ./p signal");
  CHECK(first(functions_below(ran, "getppid()"), 3) == Functions{"getppid", "inner", "?"});
}

TEST_CASE("symbols packed into a stripped file are found") {
  const Folder folder;
  const Ran ran = run("cd " + folder.path().string() +
                      " && cp " STACKS
                      " p && objcopy --only-keep-debug p d && "
                      "objcopy -S --keep-symbol=inner --keep-symbol=main d mini && xz mini && strip -s p && "
                      "objcopy --add-section .gnu_debugdata=mini.xz p && exec $T -k -e getppid ./p call");
  CHECK(ran.mentions("/p(inner+0x"));
}

TEST_CASE("option -k shows the same stack without stopping anybody") {
  skip_without_bpf();
  const Folder folder;
  // It calls until the trace, which is told of it later, has the names of the functions; then the program has lived
  // long enough for them to be looked up.
  const std::string program = "perl -e 'for (1 .. 300) { getppid; open F, q(" + folder.file("log") +
                              ") or next; exit 0 if grep /getppid[+]/, <F>; select undef, undef, undef, 0.05 } exit 1'";
  const Ran watched =
      run("$T --engine=bpf -k -e getppid -o " + folder.file("log") + " " + program + "; cat " + folder.file("log"));
  CHECK(watched.has("+++ exited with 0 +++"));
  const Ran stopped = run("exec $T --engine=ptrace -k -e getppid perl -e getppid");
  const auto named = std::find_if(watched.lines.begin(), watched.lines.end(),
                                  [](const std::string& line) { return line.find("getppid+0x") != std::string::npos; });
  REQUIRE(named != watched.lines.end());
  const Ran from_there{{named - 1, watched.lines.end()}, 0};
  const auto frames = functions_below(from_there, "getppid()");
  CHECK(frames == functions_below(stopped, "getppid()"));
  CHECK(frames.size() > 5);
  const Ran refused = run("exec $T --engine=bpf -k --stack-unwinder=libunwind true");
  CHECK((refused.mentions("a stopped thread") || refused.mentions("this build has no libunwind")));
}

TEST_CASE("option -k in JSON") {
  const Ran ran = run("exec $T -k --format=json -e getppid " STACKS " call");
  CHECK(ran.mentions(R"("symbol":"inner","symbol_offset":)"));
  CHECK(ran.mentions(R"("stack":[{"file":"/)"));
}

}  // namespace tracer::live
