// What descriptors and process ids stood for, as the BPF programs report it: whole, cut off and invented.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <vector>

#include "bpf/captured_snapshot.h"
#include "bpf/names.h"
#include "catch.h"

namespace tracer::test {

namespace {

using Area = std::vector<std::byte>;

void add_chunk(Area& area, std::uint64_t address, chunk_kind kind, const void* bytes, std::size_t size) {
  const trace_chunk head{address, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(kind)};
  const std::size_t at = area.size();
  area.resize(at + sizeof head + (size + 7) / 8 * 8);
  std::memcpy(area.data() + at, &head, sizeof head);
  std::memcpy(area.data() + at + sizeof head, bytes, size);
}

/// `names`: from the innermost on.
void add_file(Area& area, std::int32_t fd, const std::vector<std::string>& names, const descriptor_facts& facts) {
  for (const std::string& name : names) {
    add_chunk(area, names_of_descriptor | static_cast<std::uint32_t>(fd), chunk_name, name.data(), name.size());
  }
  add_chunk(area, static_cast<std::uint32_t>(fd), chunk_descriptor, &facts, sizeof facts);
}

descriptor_facts at_root() {
  descriptor_facts facts{};
  facts.mode = S_IFREG;
  facts.path.ending = path_at_root;
  return facts;
}

descriptor_facts made_up(std::uint32_t system, std::uint64_t inode) {
  descriptor_facts facts{};
  facts.made_up = 1;
  facts.system = system;
  facts.inode = inode;
  return facts;
}

std::string link_of(const Area& area, std::int32_t fd) {
  const auto file = bpf::CapturedSnapshot(area, {}, nullptr).descriptor(fd);
  return file ? file->link + (file->deleted ? "|deleted" : "") : "nothing";
}

}  // namespace

TEST_CASE("a path is put together from its names, and shows only as a whole") {
  Area area;
  add_file(area, 3, {"passwd", "etc"}, at_root());
  add_file(area, 4, {}, at_root());
  descriptor_facts facts = at_root();
  facts.path.deleted = 1;
  add_file(area, AT_FDCWD, {"gone"}, facts);
  facts.path = {path_unknown, 0};
  add_file(area, 5, {"too deep"}, facts);
  add_file(area, 6, std::vector<std::string>(40, std::string(120, 'x')), at_root());
  CHECK(link_of(area, 3) == "/etc/passwd");
  CHECK(link_of(area, 4) == "/");
  CHECK(link_of(area, AT_FDCWD) == "/gone|deleted");
  CHECK(bpf::CapturedSnapshot(area, {}, nullptr).working_directory()->deleted);
  CHECK(link_of(area, 5) == "nothing");
  CHECK(link_of(area, 6) == "nothing");  // as the kernel has no link that is so long
  CHECK(link_of(area, 7) == "nothing");
}

TEST_CASE("names that file systems make up are as in /proc") {
  Area area;
  add_file(area, 3, {""}, made_up(0x50495045, 17));
  add_file(area, 4, {"TCP"}, made_up(0x534f434b, 18));
  add_file(area, 5, {"[eventpoll]"}, made_up(0x09041934, 1));
  add_file(area, 6, {"net"}, made_up(0x6e736673, 19));
  add_file(area, 7, {"memfd:a b"}, made_up(0x01021994, 20));
  add_file(area, 8, {""}, made_up(0x50494446, 21));
  add_file(area, 9, {"heap"}, made_up(0x444d4142, 22));
  CHECK(link_of(area, 3) == "pipe:[17]");
  CHECK(link_of(area, 4) == "socket:[18]");
  CHECK(link_of(area, 5) == "anon_inode:[eventpoll]");
  CHECK(link_of(area, 6) == "net:[19]");
  CHECK(link_of(area, 7) == "/memfd:a b|deleted");
  CHECK(link_of(area, 8) == "anon_inode:[pidfd]");
  CHECK(link_of(area, 9) == "nothing");
}

TEST_CASE("sockets have the ends that they had") {
  Area area;
  socket_facts facts{};
  facts.family = AF_INET;
  facts.local_port = 80;
  facts.remote_port = 4711;
  facts.state = TCP_ESTABLISHED;
  add_file(area, 3, {"TCP"}, made_up(0x534f434b, 18));
  add_chunk(area, 3, chunk_socket, &facts, sizeof facts);
  facts.state = TCP_CLOSE;
  add_file(area, 4, {"TCP"}, made_up(0x534f434b, 19));
  add_chunk(area, 4, chunk_socket, &facts, sizeof facts);
  facts.family = AF_UNIX;
  facts.name_size = 1000;  // more than there is room for
  add_file(area, 5, {"UNIX"}, made_up(0x534f434b, 20));
  add_chunk(area, 5, chunk_socket, &facts, sizeof facts);
  const bpf::CapturedSnapshot names(area, {}, nullptr);
  const auto connected = names.descriptor(3)->socket;
  REQUIRE(connected);
  CHECK(connected->protocol == "TCP");
  CHECK(connected->local->port == 80);
  CHECK(connected->remote->port == 4711);
  CHECK_FALSE(names.descriptor(4)->socket->remote);
  CHECK(names.descriptor(5)->socket->name.size() == socket_name_size);
}

TEST_CASE("what stood for something at the exit counts before what did at the entry") {
  Area entry;
  Area exit;
  add_file(entry, 3, {"old"}, at_root());
  add_file(exit, 3, {"new"}, at_root());
  add_file(exit, 3, {"newest"}, at_root());
  process_name name{};
  name.here = 40;
  name.is_thread = 1;
  std::memcpy(name.comm, "cat", 4);
  add_chunk(entry, 4, chunk_named_process, &name, sizeof name);
  add_chunk(entry, 5, chunk_named_process, &name, sizeof name);
  name.is_thread = 0;
  add_chunk(exit, 5, chunk_named_process, &name, sizeof name);
  const bpf::CapturedSnapshot names(exit, entry, nullptr);
  CHECK(names.descriptor(3)->link == "/new");
  REQUIRE(names.process(4));
  CHECK(names.process(4)->id == 40);
  CHECK(names.process(4)->command == "cat");
  CHECK_FALSE(names.process(5));  // it has gone
  CHECK_FALSE(names.process(6));
}

TEST_CASE("records that are cut anywhere are read without harm") {
  Area area;
  add_file(area, 3, {"passwd", "etc"}, at_root());
  socket_facts facts{};
  add_chunk(area, 3, chunk_socket, &facts, sizeof facts);
  for (std::size_t size = 0; size <= area.size(); ++size) {
    const std::span<const std::byte> cut = std::span(area).first(size);
    const bpf::CapturedSnapshot names(cut, {}, nullptr);
    static_cast<void>(names.descriptor(3));
    static_cast<void>(names.process(3));
  }
  CHECK(link_of(area, 3) == "/etc/passwd");
}

}  // namespace tracer::test
