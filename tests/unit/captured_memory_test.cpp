// What the kernel has copied is read as memory: in pieces, from the right place, and no byte more.
#include <cstring>
#include <vector>

#include "bpf/captured_memory.h"
#include "bpf/tracing.h"
#include "catch.h"

namespace tracer::test {

namespace {

void add_chunk(std::vector<std::byte>& area, std::uint64_t address, const std::string& bytes,
               chunk_kind kind = chunk_memory) {
  const trace_chunk head{address, static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(kind)};
  const std::size_t at = area.size();
  area.resize(at + sizeof head + (bytes.size() + 7) / 8 * 8);
  std::memcpy(area.data() + at, &head, sizeof head);
  std::memcpy(area.data() + at + sizeof head, bytes.data(), bytes.size());
}

std::string read(const bpf::CapturedMemory& memory, std::uint64_t address, std::size_t size) {
  std::string into(size, '?');
  into.resize(memory.read(RemoteAddr(address), std::as_writable_bytes(std::span(into))));
  return into;
}

}  // namespace

TEST_CASE("chunks that touch read as one, and a gap ends the reading") {
  std::vector<std::byte> area;
  add_chunk(area, 0x1003, "defgh");
  add_chunk(area, 0x1000, "abc");
  add_chunk(area, 0x2000, "x");
  const bpf::CapturedMemory memory(area);
  CHECK(read(memory, 0x1000, 8) == "abcdefgh");
  CHECK(read(memory, 0x1002, 100) == "cdefgh");
  CHECK(read(memory, 0x2000, 2) == "x");
  CHECK(read(memory, 0x0fff, 4).empty());
  CHECK(read(memory, 0x1008, 1).empty());
  CHECK(read(memory, ~std::uint64_t{0}, 4).empty());
}

TEST_CASE("the second area stands in for what the first does not have") {
  std::vector<std::byte> exit;
  std::vector<std::byte> entry;
  add_chunk(exit, 0x1000, "new");
  add_chunk(entry, 0x1000, "old!");
  const bpf::CapturedMemory memory(exit, entry);
  CHECK(read(memory, 0x1000, 4) == "new!");
}

TEST_CASE("a chunk that claims more than there is ends where the area does") {
  std::vector<std::byte> area;
  add_chunk(area, 0x1000, "abcdefgh");
  const std::uint32_t claimed = 0xffffffff;
  std::memcpy(area.data() + offsetof(trace_chunk, size), &claimed, sizeof claimed);
  const bpf::CapturedMemory memory(area);
  CHECK(read(memory, 0x1000, 64) == "abcdefgh");
  CHECK(read(bpf::CapturedMemory(std::span(area).first(5)), 0x1000, 1).empty());
}

TEST_CASE("what is known of a descriptor is no memory") {
  std::vector<std::byte> area;
  add_chunk(area, 3, std::string("\x0f\0\0\0\0\0\0\0", 8), chunk_netlink);
  const bpf::CapturedMemory memory({}, area);
  CHECK(memory.snapshot()->netlink_protocol(3) == 15);
  CHECK(memory.snapshot()->netlink_protocol(4) == -1);
  CHECK(memory.snapshot()->netlink_protocol(-1) == -1);
  CHECK(read(memory, 3, 4).empty());
}

}  // namespace tracer::test
