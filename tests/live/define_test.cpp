// --define and --tips, as a user sees them.
#include <sys/wait.h>

#include <fstream>

#include <catch2/catch.hpp>

#include "program_run.h"

namespace tracer::live {

TEST_CASE("option --define teaches the ioctls of a driver while the program runs") {
  const Folder folder;
  std::ofstream(folder.file("driver.sys")) << "flags my_flags : u32 \"MY_???\" { MY_FAST=1 MY_LOUD=2 }\n"
                                              "struct my_setting { speed: u32  flags: my_flags }\n"
                                              "ioctls 0xF7 {\n"
                                              "  MY_RESET = _IO(1)\n"
                                              "  MY_SET   = _IOW(2, my_setting) (argp: *my_setting)\n"
                                              "}\n";
  const std::string program =
      " -a1 -e signal=none -e ioctl /usr/bin/python3 -c 'import fcntl, struct\n"
      "for request, argument in ((0xf701, 0), (0x4008f702, struct.pack(\"II\", 9600, 7))):\n"
      "  try: fcntl.ioctl(1, request, argument)\n"
      "  except OSError: pass'";
  const Ran taught = run("exec $T --define=" + folder.file("driver.sys") + program);
  CHECK(taught.has("ioctl(1, MY_RESET, 0) = -1 ENOTTY (Inappropriate ioctl for device)"));
  CHECK(
      taught.has("ioctl(1, MY_SET, {speed=9600, flags=MY_FAST|MY_LOUD|0x4}) = -1 ENOTTY (Inappropriate ioctl for "
                 "device)"));
  CHECK_FALSE(run("exec $T" + program).mentions("MY_"));
}

TEST_CASE("what is wrong with a file of --define is told with its line, and nothing runs") {
  const Folder folder;
  std::ofstream(folder.file("bad.sys")) << "\nstruct broken { speed: u23 }\n";
  const Ran ran = run("exec $T --define=" + folder.file("bad.sys") + " echo ran");
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.lines.front() == TRACER ": --define: the descriptions have errors:");
  CHECK(ran.mentions("bad.sys:2:24: error: "));
  CHECK_FALSE(ran.has("ran"));
  CHECK(run("exec $T --define=/nowhere echo ran").has(TRACER ": --define: /nowhere: cannot be read"));
}

TEST_CASE("a tip is shown alone, or when the program has ended") {
  const Ran alone = run("exec $T --tips=id:2");
  CHECK(alone.status == 0);
  CHECK(alone.lines.front().starts_with("Tip: --errno="));
  const Ran after = run("exec $T --tips=id:3,format:full -o /dev/null sh -c 'echo ran; exit 5'");
  CHECK(WEXITSTATUS(after.status) == 5);
  REQUIRE(after.lines.size() == 4);
  CHECK(after.lines.front() == "ran");
  CHECK(after.lines[2].starts_with(" | -f follows children"));
  CHECK(run("exec $T --tips=none true").lines.back() == "+++ exited with 0 +++");
}

}  // namespace tracer::live
