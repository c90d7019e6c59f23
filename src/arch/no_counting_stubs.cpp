// Machines, and builds, where calls through linkage tables are not counted by code of ours.
#include "arch/counting_stub.h"

namespace tracer::arch {

std::optional<SlotJump> find_slot_jump(Abi, std::span<const std::byte>, std::uint64_t) {
  return std::nullopt;
}

std::optional<CountingStub> make_counting_stub(const SlotJump&, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

void give_back(Registers&, std::size_t, const trace::Memory&) {}

}  // namespace tracer::arch
