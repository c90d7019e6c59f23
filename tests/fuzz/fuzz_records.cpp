// Hostile records of the kernel's programs: calls and crashes whose chunks have fields at an edge, decoded to text and
// to JSON with what they say of memory, descriptors and processes. Nothing may crash, every text must be printable, and
// every JSON valid.
//
//   fuzz_records SECONDS [SEED]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bpf/captured_memory.h"
#include "bpf/captured_state.h"
#include "bpf/names.h"
#include "bpf/record_front.h"
#include "capture/chunks.h"
#include "change_bytes.h"
#include "decoded_calls.h"

namespace {

using namespace tracer;
using Random = std::mt19937_64;

constexpr std::uint64_t places[] = {0x1000, 0x2000, 0x3000, 0x4000};

std::uint64_t any_address(Random& random) {
  const std::uint64_t others[] = {0, 1, 3, 7, descriptor_of_working_directory, ~std::uint64_t{0}, ~std::uint64_t{7}};
  switch (random() % 4) {
    case 0:
      return others[random() % std::size(others)];
    case 1:
      return random() % 8 + (random() % 2 == 0 ? names_of_descriptor : behind_pidfd);
    default:
      return places[random() % std::size(places)] + random() % 32;
  }
}

std::vector<char> any_bytes(Random& random, std::size_t size) {
  std::vector<char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(random() % 3 == 0 ? random() : random() % 8 * (i % 4 == 0 ? 1U : 0U));
  }
  return bytes;
}

/// A chunk as the programs make it, of any kind, with contents of the size that its kind has.
void add_chunk(std::vector<char>& record, Random& random) {
  static constexpr std::size_t sizes[] = {0,
                                          64,
                                          64,
                                          8,
                                          sizeof(process_facts),
                                          32,
                                          sizeof(path_end),
                                          sizeof(descriptor_facts),
                                          sizeof(socket_facts),
                                          sizeof(process_name)};
  trace_chunk chunk{};
  chunk.kind = static_cast<std::uint32_t>(random() % std::size(sizes));
  chunk.address = any_address(random);
  const std::size_t size = chunk.kind == chunk_memory ? random() % 256 : sizes[chunk.kind];
  chunk.size = static_cast<std::uint32_t>(size);
  std::vector<char> bytes = any_bytes(random, size);
  if (chunk.kind == chunk_socket) {
    static constexpr std::uint16_t families[] = {1, 2, 10, 16, 17, 40, 99};
    std::memcpy(bytes.data(), &families[random() % std::size(families)], sizeof families[0]);
  } else if (chunk.kind == chunk_name) {
    const std::string hostile = "x\x1b[2J\n\"\\/..\xff";
    std::copy_n(hostile.data(), std::min(hostile.size(), bytes.size()), bytes.data());
  }
  // The sizes that say more or less than there is.
  static constexpr std::uint32_t wrong[] = {0, 1, 7, 0x7fffffff, 0xffffffff, 0xfffffff8};
  if (random() % 16 == 0) {
    chunk.size = wrong[random() % std::size(wrong)];
  }
  const char* front = reinterpret_cast<const char*>(&chunk);
  record.insert(record.end(), front, front + sizeof chunk);
  record.insert(record.end(), bytes.begin(), bytes.end());
  record.resize((record.size() + 7) / 8 * 8);
}

/// What an engine may ask of a record, beside what the decoder does.
void ask(std::span<const std::byte> record, std::uint64_t seed) {
  const bpf::CapturedCrash crash = bpf::crash_of(record);
  std::array<std::byte, 300> registers;
  static_cast<void>(bpf::CapturedMemory(crash.memory).read(RemoteAddr(registers_address), registers));
  const trace::TaskState state = bpf::state_of(record, seed % 8);
  static_cast<void>(state.mappings.size());
  static_cast<void>(bpf::late_chunks(record));
  const bpf::CapturedSnapshot snapshot(record, {}, nullptr);
  for (const std::int32_t number : {0, 1, 3, 7, -100, -1}) {
    static_cast<void>(snapshot.descriptor_behind(number));
    static_cast<void>(snapshot.netlink_protocol(number));
  }
}

/// Decodes a call of any number with what records captured.
void decode_call(fuzz::DecodedCalls& calls, const trace::Memory& memory, Random& random, std::uint64_t seed) {
  decode::Entry entry;
  entry.tid = 1;
  entry.abi = Abi::x86_64;
  entry.number = calls.any_number(random);
  for (std::uint64_t& argument : entry.args) {
    argument = any_address(random);
  }
  const decode::Outcome outcome{
      .value = static_cast<std::int64_t>(random() % 64) - 8, .is_error = random() % 4 == 0, .known = random() % 8 != 0};
  calls.decode(entry, outcome, memory, seed);
}

/// Returns a record's chunks, or, in the place of a crash, its fixed part.
std::vector<char> any_record(Random& random) {
  std::vector<char> record;
  if (random() % 8 == 0) {
    record = any_bytes(random, sizeof(crash_record));
    if (random() % 2 == 0) {
      const std::uint32_t counts[] = {0, 1, most_crash_mappings, most_crash_mappings + 1, 0xffffffff};
      std::memcpy(record.data() + offsetof(crash_record, mapping_count), &counts[random() % std::size(counts)], 4);
    }
  }
  for (std::size_t left = random() % 12; left != 0; --left) {
    add_chunk(record, random);
  }
  if (!record.empty() && random() % 4 == 0) {
    fuzz::change_bytes(record, random, [size = record.size()](Random& dice) { return dice() % size; });
  }
  return record;
}

}  // namespace

int main(int argc, char** argv) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 5);
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  fuzz::DecodedCalls calls;
  bpf::KnownCommands commands;
  commands[1] = "a\x1b[1m\n\"name\xff";
  std::uint64_t rounds = 0;
  for (; rounds < 50 || std::chrono::steady_clock::now() < end; ++rounds, ++seed) {
    Random random(seed);
    const std::vector<char> first = any_record(random);
    const std::vector<char> second = any_record(random);
    ask(std::as_bytes(std::span(first)), seed);
    const trace::TaskState state = bpf::state_of(std::as_bytes(std::span(second)), 3);
    const bpf::CapturedMemory memory(std::as_bytes(std::span(first)), std::as_bytes(std::span(second)), &commands,
                                     &state);
    decode_call(calls, memory, random, seed);
  }
  std::printf("%llu records\n", static_cast<unsigned long long>(2 * rounds));
  return 0;
}
