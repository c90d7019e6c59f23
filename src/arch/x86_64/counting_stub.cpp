#include "arch/counting_stub.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "arch/x86_64/code.h"

namespace tracer::arch {
namespace {

/// Stacks of threads are mostly 8 MiB apart.
constexpr unsigned stack_bits = 23;
constexpr unsigned shard_bits = 19;
static_assert(std::size_t{1} << shard_bits == counter_shard_size);

// The stub needs a register. Some linkers' entries (mold's) leave a number in r11 for their resolver, so it is kept
// below the stack pointer, where signal handlers write nothing, and neither has the caller anything nor the function.
constexpr std::size_t scratch = 11;
constexpr std::size_t stack_pointer = 4;
constexpr std::uint64_t below_stack_pointer = 8;
constexpr std::size_t behind_keeping = 5;
constexpr std::size_t behind_counting = 30;

bool starts_with(std::span<const std::byte> code, std::initializer_list<unsigned> bytes) {
  return code.size() >= bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), code.begin(),
                    [](unsigned wanted, std::byte there) { return std::byte(wanted) == there; });
}

void append_bytes(std::vector<std::byte>& code, std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) {
    code.push_back(std::byte(byte));
  }
}

/// Empty if it is too far.
std::optional<std::int32_t> distance(std::uint64_t from, std::uint64_t to) {
  const auto all = static_cast<std::int64_t>(to - from);
  const auto low = static_cast<std::int32_t>(all);
  return low == all ? std::optional(low) : std::nullopt;
}

constexpr std::size_t short_jump = 5;

/// What takes the place of a jump through a slot: a jump over this distance, from behind itself.
std::array<std::byte, SlotJump::size> jump_by(std::int32_t there) {
  std::vector<std::byte> code;
  append_bytes(code, {0xe9});
  append(code, there);
  append_bytes(code, {0xcc});
  std::array<std::byte, SlotJump::size> jump{};
  std::copy(code.begin(), code.end(), jump.begin());
  return jump;
}

}  // namespace

std::optional<SlotJump> find_slot_jump(Abi abi, std::span<const std::byte> code, std::uint64_t address) {
  if (abi != Abi::x86_64) {
    return std::nullopt;
  }
  constexpr std::size_t endbr_size = 4;
  std::size_t offset = starts_with(code, {0xf3, 0x0f, 0x1e, 0xfa}) ? endbr_size : 0;
  // A jump of ours can have the prefix bnd as well.
  offset += starts_with(code.subspan(offset), {0xf2}) ? 1 : 0;
  const auto jump = code.subspan(offset);
  if (!starts_with(jump, {0xff, 0x25}) || jump.size() < SlotJump::size) {  // jmp *disp(%rip)
    return std::nullopt;
  }
  std::int32_t displacement = 0;
  std::memcpy(&displacement, jump.data() + 2, sizeof displacement);
  const std::uint64_t start = address + offset;
  return SlotJump{offset, start, start + SlotJump::size + static_cast<std::uint64_t>(std::int64_t{displacement})};
}

std::optional<CountingStub> make_counting_stub(const SlotJump& jump, std::uint64_t counter, std::uint64_t to) {
  constexpr std::uint64_t counter_offset = 48;
  constexpr std::uint64_t behind_add = 26;
  constexpr std::uint64_t behind_code = 41;
  const auto there = distance(jump.address + short_jump, to);
  const auto slot = distance(to + behind_code, jump.slot);
  if (!there || !slot) {
    return std::nullopt;
  }
  CountingStub stub;
  std::vector<std::byte>& code = stub.code;
  append_bytes(code, {0x4c, 0x89, 0x5c, 0x24, 0xf8});               // mov %r11,-8(%rsp)
  append_bytes(code, {0x49, 0x89, 0xe3});                           // mov %rsp,%r11
  append_bytes(code, {0x49, 0xc1, 0xeb, stack_bits - shard_bits});  // shr $…,%r11
  append_bytes(code, {0x41, 0x81, 0xe3});                           // and $…,%r11d
  append(code, static_cast<std::uint32_t>((counter_shards - 1) << shard_bits));
  append_bytes(code, {0x4c, 0x03, 0x1d});  // add counter(%rip),%r11
  append(code, static_cast<std::uint32_t>(counter_offset - behind_add));
  append_bytes(code, {0xf0, 0x49, 0xff, 0x03});  // lock incq (%r11)
  stub.counted = behind_counting;
  append_bytes(code, {0x4c, 0x8b, 0x5c, 0x24, 0xf8});  // mov -8(%rsp),%r11
  append_bytes(code, {0xff, 0x25});                    // jmp *slot(%rip)
  append(code, *slot);
  code.resize(counter_offset, std::byte{0xcc});
  append(code, counter);
  stub.jump = jump_by(*there);
  return stub;
}

std::optional<RecordingStub> make_recording_stub(const SlotJump& jump, std::uint64_t recorder,
                                                 std::span<const std::byte> info, std::uint64_t to) {
  constexpr std::size_t recorder_offset = 24;
  constexpr std::size_t behind_load = 9;
  constexpr std::size_t behind_jump = 15;
  const auto there = distance(jump.address + short_jump, to);
  if (!there) {
    return std::nullopt;
  }
  RecordingStub stub;
  std::vector<std::byte>& code = stub.code;
  append_bytes(code, {0x41, 0x53});        // push %r11
  append_bytes(code, {0x4c, 0x8d, 0x1d});  // lea info(%rip),%r11
  append(code, static_cast<std::uint32_t>(recording_stub_info - behind_load));
  append_bytes(code, {0xff, 0x25});  // jmp *recorder(%rip)
  append(code, static_cast<std::uint32_t>(recorder_offset - behind_jump));
  code.resize(recorder_offset, std::byte{0xcc});  // the trap is the first of these
  append(code, recorder);
  code.insert(code.end(), info.begin(), info.end());
  stub.jump = jump_by(*there);
  return stub;
}

void leave_recording_stub(Registers& registers, std::size_t offset, const trace::Memory& memory) {
  constexpr std::size_t behind_push = 2;
  std::uint64_t kept = 0;
  const auto into = std::as_writable_bytes(std::span(&kept, 1));
  if (offset >= behind_push && offset < recording_stub_trap &&
      memory.read(RemoteAddr(registers.stack_pointer()), into) == into.size()) {
    registers.set_general(scratch, kept);
    registers.set_general(stack_pointer, registers.stack_pointer() + sizeof kept);
  }
}

void give_back(Registers& registers, std::size_t offset, const trace::Memory& memory) {
  std::uint64_t kept = 0;
  const auto into = std::as_writable_bytes(std::span(&kept, 1));
  if (offset >= behind_keeping && offset <= behind_counting &&
      memory.read(RemoteAddr(registers.stack_pointer() - below_stack_pointer), into) == into.size()) {
    registers.set_general(scratch, kept);
  }
}

}  // namespace tracer::arch
