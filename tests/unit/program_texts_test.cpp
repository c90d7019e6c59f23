// What an execve's entry could not read is found in what its new program was given, or left out: never another text.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "arch/syscall_abi.h"
#include "bpf/captured_memory.h"
#include "bpf/program_texts.h"
#include "bpf/tracing.h"
#include "catch.h"

namespace tracer::test {
namespace {

using Record = std::vector<std::byte>;

constexpr std::uint64_t path = 0x1000;
constexpr std::uint64_t array = 0x2000;

void add(Record& record, const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  record.insert(record.end(), first, first + size);
  record.resize((record.size() + 7) / 8 * 8);
}

void add_chunk(Record& record, chunk_kind kind, std::uint64_t address, const void* bytes, std::size_t size) {
  const trace_chunk chunk{address, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(kind)};
  add(record, &chunk, sizeof chunk);
  add(record, bytes, size);
}

/// Of an execve whose array of arguments could be read, if it has one.
Record entry_of(const std::vector<std::uint64_t>& pointers) {
  std::uint32_t number = 0;
  while (!arch::is_execve(arch::native_abi(), number) || arch::is_execveat(arch::native_abi(), number)) {
    ++number;
  }
  enter_record front{};
  front.head.abi = static_cast<std::uint8_t>(arch::native_abi());
  front.head.arguments = most_arguments;
  front.head.number = number;
  front.args[0] = path;
  front.args[1] = array;
  Record record;
  add(record, &front, sizeof front);
  if (!pointers.empty()) {
    add_chunk(record, chunk_memory, array, pointers.data(), pointers.size() * sizeof pointers[0]);
  }
  return record;
}

Record exec_of(const std::string& arguments, bool of_interpreter = false, const std::string& program = "/bin/a") {
  const lifecycle_record front{};
  Record record;
  add(record, &front, sizeof front);
  add_chunk(record, chunk_program, 0, program.c_str(), program.size() + 1);
  add_chunk(record, chunk_arguments, of_interpreter ? 1 : 0, arguments.data(), arguments.size());
  return record;
}

/// What stands at an address then, up to its NUL.
std::string text(const Record& chunks, std::uint64_t address) {
  std::string bytes(16, '?');
  bytes.resize(bpf::CapturedMemory(chunks).read(RemoteAddr(address), std::as_writable_bytes(std::span(bytes))));
  return bytes.substr(0, bytes.find('\0'));
}

const std::string one_two{"one\0two\0", 8};

}  // namespace

TEST_CASE("path and arguments come from the new program") {
  const Record chunks = bpf::texts_of_program(entry_of({0x3000, 0x4000, 0}), exec_of(one_two));
  CHECK(text(chunks, path) == "/bin/a");
  CHECK(text(chunks, 0x3000) == "one");
  CHECK(text(chunks, 0x4000) == "two");
}

TEST_CASE("of a script's arguments the first one is unknown") {
  const Record chunks =
      bpf::texts_of_program(entry_of({0x3000, 0x4000, 0}), exec_of({"/bin/sh\0-e\0/bin/a\0two\0", 22}, true));
  CHECK(text(chunks, path) == "/bin/a");
  CHECK(text(chunks, 0x3000).empty());
  CHECK(text(chunks, 0x4000) == "two");
}

TEST_CASE("arguments without their array, or of another number, are no argument's") {
  CHECK(text(bpf::texts_of_program(entry_of({}), exec_of(one_two)), 0x3000).empty());
  CHECK(text(bpf::texts_of_program(entry_of({0x3000, 0x4000}), exec_of(one_two)), 0x3000).empty());
  CHECK(text(bpf::texts_of_program(entry_of({0x3000, 0x4000, 0x5000, 0}), exec_of(one_two)), 0x3000).empty());
  CHECK(text(bpf::texts_of_program(entry_of({0x3000, 0}), exec_of(one_two)), 0x3000).empty());
  CHECK(text(bpf::texts_of_program(entry_of({0x3000, 0x4000, 0}), exec_of(one_two, true)), 0x4000).empty());
}

TEST_CASE("a path that the kernel made of a descriptor is not the call's") {
  CHECK(text(bpf::texts_of_program(entry_of({}), exec_of(one_two, false, "/dev/fd/3")), path).empty());
}

TEST_CASE("records that are too short have nothing") {
  const Record entry = entry_of({0x3000, 0x4000, 0});
  const Record exec = exec_of(one_two);
  for (std::size_t size = 0; size < entry.size(); ++size) {
    CHECK(bpf::texts_of_program(std::span(entry).first(size),
                                std::span(exec).first(std::min(size, sizeof(lifecycle_record))))
              .empty());
    static_cast<void>(bpf::texts_of_program(std::span(entry).first(size), exec));
  }
}

}  // namespace tracer::test
