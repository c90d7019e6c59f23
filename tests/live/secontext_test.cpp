// --secontext where there is no SELinux: a directory of its name and labels of files are all that the tracer asks for.
#include <algorithm>
#include <filesystem>

#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

namespace {

/// Runs `commands` in a mount namespace of its own, as root, where SELinux seems to be on and /mnt/file has a label.
Ran run_labelled(const std::string& commands) {
  return run(
      "unshare -m true || exit 77; exec unshare -m sh -c 'mount -t tmpfs none /sys/fs && mkdir /sys/fs/selinux && : > "
      "/sys/fs/selinux/enforce && "
      "mount -t tmpfs none /mnt && echo text > /mnt/file && "
      "/usr/bin/python3 -c \"import os; os.setxattr(\\\"/mnt/file\\\", \\\"security.selinux\\\", "
      "b\\\"staff_u:object_r:notes_t:s0\\\")\" || exit 77; T='$T'; " +
      commands + "'");
}

}  // namespace

TEST_CASE("option --secontext shows the labels of files, of descriptors and none where there is none") {
  const Ran type = run_labelled("exec $T -a1 --secontext -e openat cat /mnt/file /mnt/none");
  if (WEXITSTATUS(type.status) == 77 || type.mentions("cannot show SELinux") || type.mentions("cannot be loaded")) {
    SKIP((type.lines.empty() ? "no reason was given" : type.lines.front()));
  }
  for (const std::string& line : type.lines) {
    UNSCOPED_INFO(line);
  }
  // Which number a descriptor gets depends on what the test has inherited; and where another module tells of contexts,
  // as AppArmor does, the thread's stands in front.
  const auto opened = std::find_if(type.lines.begin(), type.lines.end(), [](const std::string& line) {
    return line.find("openat(AT_FDCWD, \"/mnt/file\" [notes_t], O_RDONLY) = ") != std::string::npos;
  });
  REQUIRE(opened != type.lines.end());
  CHECK(opened->ends_with(" [notes_t]"));
  CHECK(type.mentions("openat(AT_FDCWD, \"/mnt/none\", O_RDONLY) = -1 ENOENT (No such file or directory)"));
  const Ran full = run_labelled("exec $T -a1 -y --secontext=full,mismatch -e openat cat /mnt/file");
  CHECK(full.mentions("\"/mnt/file\" [staff_u:object_r:notes_t:s0], O_RDONLY) = "));
  CHECK(full.mentions("</mnt/file> [staff_u:object_r:notes_t:s0]"));
  const Ran json = run_labelled("exec $T -y --secontext --format=json -e openat cat /mnt/file");
  CHECK(json.mentions("\"name\":\"/mnt/file\",\"secontext\":\"notes_t\"}"));
  if (!std::filesystem::exists("/sys/fs/selinux/enforce")) {
    CHECK_FALSE(run("exec $T -a1 --secontext -e openat cat /dev/null").mentions("_t]"));
  }
}

}  // namespace tracer::live
