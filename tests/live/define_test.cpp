// --define and --tips, as a user sees them.
#include <sys/wait.h>

#include <fstream>

#include "catch.h"
#include "program_run.h"
#include "skip.h"

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

TEST_CASE("option --define takes structures from the kernel's own types") {
  if (!std::ifstream("/sys/kernel/btf/vmlinux").good()) {
    SKIP("the kernel does not tell its types: there is no /sys/kernel/btf/vmlinux");
  }
  const Folder folder;
  // struct winsize has four numbers of 16 bits, struct rlimit64 two of 64, struct itimerspec64 structures.
  std::ofstream(folder.file("driver.sys")) << "ioctls 0xF7 {\n"
                                              "  MY_SIZE  = _IOW(1, struct winsize from btf)\n"
                                              "  MY_TIMER = _IOW(2, struct itimerspec64 from btf)\n"
                                              "}\n";
  const std::string program =
      " -a1 -e signal=none -e ioctl /usr/bin/python3 -c 'import fcntl, struct\n"
      "for request, argument in ((0x4008f701, struct.pack(\"4H\", 24, 80, 0, 7)),\n"
      "                          (0x4020f702, struct.pack(\"4q\", 1, 2, -3, 4))):\n"
      "  try: fcntl.ioctl(1, request, argument)\n"
      "  except OSError: pass'";
  const std::string define = "exec $T --define=" + folder.file("driver.sys");
  const Ran taught = run(define + " --define=btf:vmlinux" + program);
  CHECK(taught.mentions("MY_SIZE, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=7}) = -1 ENOTTY"));
  CHECK(taught.mentions("MY_TIMER, {it_interval={tv_sec=1, tv_nsec=2}, it_value={tv_sec=-3, tv_nsec=4}}) = -1 ENOTTY"));
  CHECK(run(define + " true")
            .mentions("struct itimerspec64 is to come from the kernel's types: add --define=btf:MODULE"));
  CHECK(run(define + " --define=btf:no_such_module true").mentions("/sys/kernel/btf/no_such_module cannot be read"));
  std::ofstream(folder.file("driver.sys")) << "ioctls 0xF7 { MY_SIZE = _IOW(1, struct winsise from btf) }\n";
  const Ran missed = run(define + " --define=btf:vmlinux true");
  CHECK(missed.mentions("there is no structure winsise; did you mean winsize?"));
  CHECK(WEXITSTATUS(missed.status) == 1);
}

TEST_CASE("option --define replaces what the tracer knows of a call, a number or a function") {
  const Folder folder;
  std::ofstream(folder.file("own.sys")) << "flags my_modes : u32 \"MY_???\" { MY_EXCL=0x80 MY_CREAT=0x40 MY_WRITE=1 }\n"
                                           "openat(at: dirfd, file: path, wanted: my_modes) -> fd\n"
                                           "take_number(one: i32) -> i32\n"
                                           "library \"libc.so.6\" { strlen(word: path) -> u32 }\n";
  std::ofstream(folder.file("x86_64.nr")) << "39 take_number\n";
  std::ofstream(folder.file("aarch64.nr")) << "172 take_number\n";
  const std::string define = "exec $T -a1 --define=" + folder.path().string();
  const std::string makes = " sh -c 'set -C; echo $$ > /missing/x'";
  CHECK(run(define + " -N -e openat" + makes)
            .mentions("openat(at=AT_FDCWD, file=\"/missing/x\", wanted=MY_EXCL|MY_CREAT|MY_WRITE) = "));
  CHECK(run("exec $T -a1 -e getpid" + makes).mentions("getpid() = "));
  CHECK(run(define + " -e take_number" + makes).mentions("take_number("));
  CHECK_FALSE(run(define + " -e getpid" + makes).mentions("getpid("));
  // Only for the ABIs that it names.
  std::ofstream(folder.file("own.sys")) << "openat@i386(nothing: u8) -> i32\ntake_number(one: i32) -> i32\n";
  CHECK(run(define + " -N -e openat" + makes).mentions("pathname=\"/missing/x\""));
  // Twice in a file is a mistake still.
  std::ofstream(folder.file("own.sys")) << "openat(a: u8) -> i32\nopenat(b: u8) -> i32\ntake_number(one: i32) -> i32\n";
  CHECK(run(define + " true").mentions("own.sys:2:1: error: found a second description of openat"));
}

TEST_CASE("an error in a file of --define is reported with its line, and nothing runs") {
  const Folder folder;
  std::ofstream(folder.file("bad.sys")) << "\nstruct broken { speed: u23 }\n";
  const Ran ran = run("exec $T --define=" + folder.file("bad.sys") + " echo ran");
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.lines.front() == TRACER ": --define: the descriptions have errors:");
  CHECK(ran.mentions("bad.sys:2:24: error: "));
  CHECK_FALSE(ran.has("ran"));
  CHECK(run("exec $T --define=/nowhere echo ran")
            .has(TRACER ": --define: /nowhere: cannot be read: No such file or directory"));
  // Of a directory that is not meant, not all: here another file has what is built in.
  std::ofstream many(folder.file("many.sys"));
  for (int i = 0; i < 50; ++i) {
    many << "type again = u8\n";
  }
  many.close();
  const Ran flood = run("exec $T --define=" + folder.file("many.sys") + " true");
  CHECK(flood.lines.size() == 22);
  CHECK(flood.mentions("many.sys:2:6: error: found again, expected a new name: this one is declared in line 1"));
  CHECK(flood.lines.back() == "and 29 more");
  std::ofstream(folder.file("other.sys")) << "type again = u8\n";
  CHECK(run("exec $T --define=" + folder.file("other.sys") + " --define=" + folder.file("many.sys") + " true")
            .mentions("many.sys:1:6: error: found again, expected a new name: this one is declared in " +
                      folder.file("other.sys") + ":1"));
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
