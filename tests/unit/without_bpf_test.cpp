// A build without clang or libbpf has all but the BPF engine, and says so.

#include "bpf/engine.h"
#include "catch.h"

namespace tracer::test {

TEST_CASE("a build without the BPF engine says what was missing") {
  const std::string reason = "this build was made without the BPF engine, for which clang and libbpf have to be there";
  const auto ignore = [](const std::string&) {};
  const auto counts = bpf::make_counting_engine({}, ignore);
  REQUIRE_FALSE(counts);
  CHECK(counts.error().message == reason);
  const auto traces = bpf::make_tracing_engine({}, spec::Tables{}, {}, ignore);
  REQUIRE_FALSE(traces);
  CHECK(traces.error().message == reason);
}

}  // namespace tracer::test
