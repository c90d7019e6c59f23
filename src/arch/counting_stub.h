// Code that counts the calls through a linkage table: a jump through a slot is replaced by one to a stub, which counts
// and jumps through the same slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/arch.h"
#include "base/abi.h"
#include "trace/memory.h"

namespace tracer::arch {

// Threads count in different shards, so that they seldom write the same cache line. A counter is as far from the start
// of its shard as in all others.
inline constexpr std::size_t counter_shards = 16;
inline constexpr std::size_t counter_shard_size = std::size_t{1} << 19;  ///< bytes

/// The jump through a slot of a PLT entry, or of code that does without one.
struct SlotJump {
  static constexpr std::size_t size = 6;  ///< bytes

  std::size_t offset = 0;  ///< in the code that it was found in
  std::uint64_t address = 0;
  std::uint64_t slot = 0;  ///< address of the word that says where it goes
};

/// Finds the jump that `code`, which is at `address`, consists of. Empty if it is of another form, or there are no
/// stubs for this ABI.
std::optional<SlotJump> find_slot_jump(Abi abi, std::span<const std::byte> code, std::uint64_t address);

/// Upper bound of the size of CountingStub::code, in bytes.
inline constexpr std::size_t max_counting_stub_size = 56;

struct CountingStub {
  std::vector<std::byte> code;
  std::size_t counted = 0;                       ///< offset from which on the call is counted
  std::array<std::byte, SlotJump::size> jump{};  ///< what takes the place of the jump through the slot
};

/// Makes the stub that is to be at `to`. `counter`: address of the counter in the first shard. The stub changes nothing
/// but the flags, and memory below the stack pointer. Empty if `to` is too far away.
std::optional<CountingStub> make_counting_stub(const SlotJump& jump, std::uint64_t counter, std::uint64_t to);
/// Code that leads to a recorder of calls, which replaces a jump likewise. The recorder gets the address of what it
/// knows of the function, which is behind the code.
struct RecordingStub {
  std::vector<std::byte> code;
  std::array<std::byte, SlotJump::size> jump{};  ///< what takes the place of the jump through the slot
};
/// Where a call goes that the recorder does not take, and where that is kept which the recorder knows.
inline constexpr std::size_t recording_stub_trap = 15;
inline constexpr std::size_t recording_stub_info = 32;

/// Makes the stub that is to be at `to`, and leads to `recorder`. Empty if `to` is too far away.
std::optional<RecordingStub> make_recording_stub(const SlotJump& jump, std::uint64_t recorder,
                                                 std::span<const std::byte> info, std::uint64_t to);
/// Gives a thread that is at this offset of such a stub back what the stub keeps for it.
void leave_recording_stub(Registers& registers, std::size_t offset, const trace::Memory& memory);

/// Gives a thread that is at this offset of a stub back what the stub keeps for it.
void give_back(Registers& registers, std::size_t offset, const trace::Memory& memory);

}  // namespace tracer::arch
