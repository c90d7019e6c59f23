// Counting in the kernel where calls are so many that not each is timed: what the sums say all the same.
#include <map>
#include <sstream>

#include "bpf_works.h"
#include "catch.h"
#include "process.h"

namespace tracer::live {

namespace {

struct Counted {
  double seconds = 0;
  double calls = 0;
};

/// The rows of a table of seconds, calls and names.
std::map<std::string, Counted> count(const std::string& options, const std::string& scene) {
  const Folder folder;
  const std::string table = folder.file("table");
  REQUIRE(run("exec $T --engine=bpf -c -e trace=/read -U total-time,calls,name -o " + table + " " + options +
              " " OFTEN_CALLED " " + scene)
              .status == 0);
  std::map<std::string, Counted> result;
  for (const std::string& line : run("cat " + table).lines) {
    std::istringstream words(line);
    Counted counted;
    std::string name;
    if (words >> counted.seconds >> counted.calls >> name) {
      result[name] = counted;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("long calls among many short ones that are not timed count once, each") {
  skip_without_bpf();
  const Folder folder;
  const std::string own = folder.file("own");
  auto counted = count("", "long >" + own);
  const auto own_times = run("cat " + own).lines;
  const std::vector<std::string> names{"readv", "preadv", "preadv2"};
  REQUIRE(own_times.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const double as_seen_by_itself = std::stod(own_times[i]);
    INFO(name << ": " << counted[name].seconds << " s, by its own clock " << as_seen_by_itself);
    CHECK(counted[name].calls == 4004);
    CHECK(counted[name].seconds > 0.6 * as_seen_by_itself);
    CHECK(counted[name].seconds < 1.5 * as_seen_by_itself);
  }
}

TEST_CASE("the calls that are timed are chosen by chance, and stand for as many as were made") {
  skip_without_bpf();
  for (const std::string options : {"", "--summary-exact"}) {
    auto counted = count(options, "uneven");
    const Counted often = counted["read"];
    const Counted seldom = counted["pread64"];
    CHECK(often.calls >= 20000);
    REQUIRE(seldom.calls >= 200);
    const double ratio = often.seconds / often.calls / (seldom.seconds / seldom.calls);
    INFO(options << ": " << often.seconds << " s of " << often.calls << ", " << seldom.seconds << " s of "
                 << seldom.calls);
    // In an emulator one of them costs twice the other. Chosen in step with the program, it would be eight times.
    CHECK(ratio > 0.25);
    CHECK(ratio < 4);
  }
}

}  // namespace tracer::live
