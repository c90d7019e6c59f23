// What the kernel has recorded of a process is read back unchanged, and damaged records do no harm.
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bpf/captured_memory.h"
#include "bpf/captured_state.h"
#include "bpf/task_state.h"
#include "catch.h"

namespace tracer::test {

namespace {

template <typename T>
void add_chunk(std::vector<std::byte>& area, std::uint64_t address, chunk_kind kind, const T* data, std::size_t size) {
  const trace_chunk head{address, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(kind)};
  const std::size_t at = area.size();
  area.resize(at + sizeof head + (size + 7) / 8 * 8);
  std::memcpy(area.data() + at, &head, sizeof head);
  std::memcpy(area.data() + at + sizeof head, data, size);
}

void add_path(std::vector<std::byte>& area, path_of which, const std::vector<std::string>& names, path_end end) {
  for (const std::string& name : names) {
    add_chunk(area, which, chunk_name, name.data(), name.size());
  }
  add_chunk(area, which, chunk_path_end, &end, sizeof end);
}

}  // namespace

TEST_CASE("paths are built from their last component, and only absolute ones count") {
  std::vector<std::byte> chunks;
  process_facts facts{};
  facts.root_device = 8 << 20 | 1;
  facts.root_inode = 77;
  facts.users[3] = 33;
  facts.more_groups = 2;
  facts.more_group[1] = 44;
  add_chunk(chunks, 0, chunk_process, &facts, sizeof facts);
  add_path(chunks, path_root, {"jail", "srv"}, {path_at_top, 0});
  add_path(chunks, path_working_directory, {"b", "a"}, {path_at_root, 1});
  add_path(chunks, path_first_argument, {"x"}, {path_unknown, 0});
  const trace::TaskState found = bpf::state_of(chunks, 0xffffffff00000005);
  REQUIRE(found.root);
  CHECK(found.root->path == "/srv/jail");
  CHECK(found.root->inode == 77);
  CHECK(found.root->device == 0x801);
  CHECK(found.working_directory == "/a/b (deleted)");
  CHECK(found.descriptor == 5);
  CHECK(found.descriptor_path.empty());
  REQUIRE(found.credentials);
  CHECK(found.credentials->users[3] == 33);
  CHECK(found.credentials->supplementary_groups == std::vector<std::uint32_t>{0, 44});
  for (std::size_t size = 0; size < chunks.size(); ++size) {
    (void)bpf::state_of(std::span(chunks).first(size), 5);
  }
}

TEST_CASE("a directory is the root itself, or is not below it") {
  std::vector<std::byte> chunks;
  add_path(chunks, path_working_directory, {}, {path_at_root, 0});
  CHECK(bpf::state_of(chunks, 0).working_directory == "/");
  chunks.clear();
  add_path(chunks, path_working_directory, {"outside"}, {path_at_top, 0});
  CHECK(bpf::state_of(chunks, 0).working_directory.empty());
}

TEST_CASE("credentials are left out if supplementary groups are missing") {
  std::vector<std::byte> chunks;
  process_facts facts{};
  facts.more_groups = most_groups + 1;
  add_chunk(chunks, 0, chunk_process, &facts, sizeof facts);
  CHECK_FALSE(bpf::state_of(chunks, 0).credentials);
}

TEST_CASE("a crash has mappings, registers and a stack, as far as its record goes") {
  auto record = std::make_unique<crash_record>();
  record->instruction_pointer = 0x401000;
  record->stack_pointer = 0x7ff000;
  record->stack_size = 4096;
  record->stack[8] = 9;
  record->registers[0] = 1;
  record->mapping_count = most_crash_mappings;  // more than there are
  captured_mapping& code = record->mappings[1];
  code.start = 0x401000;
  code.end = 0x402000;
  code.page = 1;
  code.flags = 5;
  code.inode = 3;
  code.end_of_path.ending = path_at_root;
  const char names[] = "program\0bin";
  std::memcpy(code.path, names, sizeof names);
  code.path_used = sizeof names;
  record->mappings[0].start = 0x7fe000;
  record->mappings[0].is_stack = 1;
  const std::size_t size = offsetof(crash_record, mappings) + 2 * sizeof record->mappings[0];
  const auto bytes = std::as_bytes(std::span(record.get(), 1)).first(size);
  const bpf::CapturedCrash crash = bpf::crash_of(bytes);
  CHECK(crash.instruction_pointer == 0x401000);
  REQUIRE(crash.state.mappings.size() == 2);
  const proc::MappedRange& first = crash.state.mappings[0];
  CHECK(first.path == "/bin/program");
  CHECK(first.protection == "r-xp");
  CHECK(first.file_offset == static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  CHECK(crash.state.mappings[1].path == "[stack]");
  std::byte found{};
  const bpf::CapturedMemory memory(crash.memory);
  CHECK(memory.read(RemoteAddr(0x7ff008), std::span(&found, 1)) == 1);
  CHECK(found == std::byte{9});
  CHECK(memory.read(RemoteAddr(0x7ff000 + 4096), std::span(&found, 1)) == 0);
  CHECK(memory.read(RemoteAddr(registers_address), std::span(&found, 1)) == 1);
  CHECK(found == std::byte{1});
  for (std::size_t cut = 0; cut < size; cut += 13) {
    CHECK(bpf::crash_of(bytes.first(cut)).state.mappings.size() <= 1);
  }
}

}  // namespace tracer::test
