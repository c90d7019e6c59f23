// Records that wait come out as they went in, however large, and leave their room.
#include <cstring>
#include <string>
#include <vector>

#include "bpf/backlog.h"
#include "catch.h"

namespace tracer::test {

namespace {

/// Of a size that no two neighbours share.
std::string record(std::size_t i) {
  return std::string(1 + i * 7919 % 40000, static_cast<char>('a' + i % 26));
}

void add(bpf::Backlog& backlog, const std::string& bytes) {
  backlog.add(std::as_bytes(std::span(bytes)));
}

std::vector<std::string> take(bpf::Backlog& backlog, std::size_t most) {
  std::vector<std::string> taken;
  backlog.consume(most, [&taken](std::span<const std::byte> bytes) {
    taken.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return taken;
}

}  // namespace

TEST_CASE("a backlog gives its records back in order, over all its pieces") {
  bpf::Backlog backlog(std::size_t{1} << 30);
  constexpr std::size_t count = 1000;  // 20 MB
  for (std::size_t i = 0; i < count; ++i) {
    add(backlog, record(i));
  }
  std::size_t next = 0;
  while (!backlog.empty()) {
    for (const std::string& bytes : take(backlog, 3)) {
      REQUIRE(bytes == record(next++));
    }
  }
  CHECK(next == count);
  CHECK(take(backlog, 1).empty());
}

TEST_CASE("a backlog is full at its size, and has room again when it has been emptied") {
  CHECK(bpf::Backlog(0).full());
  bpf::Backlog backlog(std::size_t{8} << 20);
  std::size_t count = 0;
  while (!backlog.full() && count < 10000) {
    add(backlog, std::string(1000, 'x'));
    ++count;
  }
  CHECK(count > 4000);
  CHECK(count < 9000);
  CHECK(take(backlog, count).size() == count);
  CHECK(backlog.empty());
  CHECK_FALSE(backlog.full());
}

}  // namespace tracer::test
