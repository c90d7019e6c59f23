// Where the names in a stack trace come from when the file itself does not hold them, or is no longer where it was.
#include <unistd.h>

#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

namespace {

/// A shell command that makes `separate` of the program INLINED, with its debugging information apart: ./p and
/// ./p.debug.
const std::string separated = "cp " INLINED " p && objcopy --only-keep-debug p p.debug && strip -s p";

/// Sets `id` to the build id of ./p.
const std::string ask_build_id = "id=$(readelf -n p.debug | sed -n 's/.*Build ID: //p')";

bool may_mount() {
  return ::geteuid() == 0 && run("unshare -m true").status == 0;
}

}  // namespace

TEST_CASE("option -k knows the functions of a library that is deleted or replaced while it is in use") {
  if (run("command -v gcc >/dev/null").status != 0) {
    SKIP("there is no gcc");
  }
  const Folder folder;
  const Ran made = run("cd " + folder.path().string() +
                       " && echo '#include <unistd.h>\nint in_library(void) { return getppid() + 1; }' > l.c"
                       " && echo 'int another_name(void) { return 0; }' > other.c"
                       " && echo '#include <stdio.h>\nint in_library(void);"
                       "int main(int n, char** v) { if (n > 1) rename(v[1], \"l.so\"); else remove(\"l.so\");"
                       "  return in_library() == 0; }' > p.c"
                       " && gcc -shared -fPIC -O1 -o l.so l.c && gcc -shared -fPIC -o other.so other.c"
                       " && gcc -O1 -o p p.c ./l.so && cp l.so kept");
  REQUIRE(made.lines.empty());
  const Ran deleted = run("cd " + folder.path().string() + " && exec $T -k -e getppid ./p");
  CHECK(deleted.mentions("/l.so (deleted)(in_library+0x"));
  CHECK(deleted.mentions("/p(main+0x"));
  const Ran replaced = run("cd " + folder.path().string() + " && cp kept l.so && exec $T -k -e getppid ./p other.so");
  CHECK(replaced.mentions("/l.so (deleted)(in_library+0x"));
  CHECK(!replaced.mentions("another_name"));
}

TEST_CASE("option -k finds files that only the tracee's mount namespace has") {
  if (!may_mount()) {
    SKIP("no mount namespace can be made");
  }
  const Folder folder;
  const Ran ran =
      run("mkdir " + folder.file("hidden") + " && exec $T -f -k -e getppid unshare -m sh -c 'mount -t tmpfs none " +
          folder.file("hidden") + " && cp " STACKS " " + folder.file("hidden/p") + " && exec " +
          folder.file("hidden/p") + " call'");
  CHECK(ran.mentions("/hidden/p(inner+0x"));
  CHECK(ran.mentions("/hidden/p(main+0x"));
}

TEST_CASE("option -kk finds a separate file of debugging information by the build id") {
  if (!may_mount() || ::access("/usr/lib/debug", F_OK) != 0) {
    SKIP("no file can be put below /usr/lib/debug");
  }
  const Folder folder;
  // The tracer looks where it runs, so it runs where the directory is the test's.
  const Ran ran = run("cd " + folder.path().string() + " && " + separated + " && " + ask_build_id +
                      " && export id T && exec unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && "
                      "place=/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $place && "
                      "mv p.debug $place/$(echo $id | cut -c3-).debug && exec $T -kk -e getppid ./p'");
  CHECK(ran.mentions("/p(app::leaf(int) inlined) ["));
  CHECK(ran.mentions("inlined.cpp:"));
}

TEST_CASE("option -kk asks the servers of DEBUGINFOD_URLS, and nobody where there are none") {
  const Folder folder;
  const std::string traced = "DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=20 $T -kk -e getppid ./p";
  const Ran ran = run("cd " + folder.path().string() + " && " + separated + " && " + ask_build_id +
                      " && mkdir -p www/buildid/$id && mv p.debug www/buildid/$id/debuginfo"
                      " && { python3 -u -m http.server 0 --bind 127.0.0.1 --directory www > server 2>&1 & server=$!; }"
                      "; for i in $(seq 100); do grep -q 'port [0-9]' server && break; sleep 0.1; done"
                      "; port=$(sed -n 's/.* port \\([0-9]*\\) .*/\\1/p' server)"
                      "; env -u DEBUGINFOD_URLS " +
                      traced + " 2>&1 | sed 's/^/without: /'" + "; DEBUGINFOD_URLS=http://127.0.0.1:$port/ " + traced +
                      "; kill $server; grep GET server");
  CHECK(!ran.mentions("without:  > " + folder.file("p") + "(app::leaf"));
  if (run("ldconfig -p | grep -q libdebuginfod.so.1").status != 0) {
    SKIP("there is no libdebuginfod");
  }
  CHECK(ran.mentions("/p(app::leaf(int) inlined) ["));
  CHECK(ran.mentions("inlined.cpp:"));
  CHECK(ran.mentions("GET /buildid/"));
}

}  // namespace tracer::live
