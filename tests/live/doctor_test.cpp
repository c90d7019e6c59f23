// --doctor, as root and as somebody who may do little.
#include <unistd.h>

#include <algorithm>

#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

namespace {

/// The line about something, without what is found: `works`, `limited` or `missing`.
std::string state_of(const Ran& ran, const std::string& what) {
  for (const std::string& line : ran.lines) {
    if (line.find(' ' + what + "  ") == line.find(' ') || line.substr(8).starts_with(what + "  ")) {
      return line.substr(0, line.find(' '));
    }
  }
  return "not told";
}

}  // namespace

TEST_CASE("the doctor reports what works, on standard output and on one screen") {
  const Ran ran = run("exec $T --doctor 2>&-");
  CHECK(ran.status == 0);
  CHECK(ran.lines.size() < 25);
  CHECK(ran.lines.front().starts_with("Linux "));
  CHECK(state_of(ran, "ptrace") == "works");
  CHECK(state_of(ran, "memory") == "works");
  CHECK(state_of(ran, "-p") != "not told");
}

TEST_CASE("the doctor names a remedy for what is missing") {
  if (::geteuid() != 0) {
    SKIP("only root can become another user");
  }
  const Ran ran =
      run("cp $T /tmp/tracer-of-nobody && exec setpriv --reuid=65534 --regid=65534 --clear-groups "
          "/tmp/tracer-of-nobody --doctor; rm -f /tmp/tracer-of-nobody");
  CHECK(state_of(ran, "ptrace") == "works");
  CHECK(state_of(ran, "-p") == "limited");
  CHECK(state_of(ran, "bpf engine") == "missing");
  CHECK(ran.mentions("CAP_BPF"));
  CHECK(ran.mentions("remedy: run as root"));
}

}  // namespace tracer::live
