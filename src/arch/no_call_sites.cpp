// Machines, and builds, where no call is led through code of ours.
#include <cerrno>

#include "arch/call_site.h"
#include "arch/counting_stub.h"

namespace tracer::arch {

Status can_record_inside() {
  return Error{ENOSYS, "calls are recorded inside a program on x86_64 alone, by a tracer that was built with Zydis"};
}

std::bitset<trace::max_filtered_number> recordable_calls() {
  return {};
}

std::optional<CallSite> find_call_site(std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<SiteStub> make_site_stub(const CallSite&, std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<std::array<std::byte, 5>> site_jump(std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

void put_before_call(Registers&, const CallRegisters&, std::uint64_t) {}
void put_behind_call(Registers&, const CallRegisters&, std::uint64_t) {}
void put_to_call(Registers&) {}
void end_copy(Registers&, std::uint64_t) {}
void leave_entry(Registers&, std::uint64_t, std::optional<std::uint64_t>, std::uint64_t) {}

std::uint64_t destination(const Registers&) {
  return 0;
}

Registers registers_at_function(std::span<const std::uint64_t, 6>, std::uint64_t, std::uint64_t) {
  return {};
}

Registers registers_at_return(std::span<const std::uint64_t, 2>, std::uint64_t) {
  return {};
}

FunctionRegisters function_registers(const Registers&) {
  return {};
}

void put_to_function(Registers&, const FunctionRegisters&, std::uint64_t, std::uint64_t) {}

std::optional<SlotJump> find_slot_jump(Abi, std::span<const std::byte>, std::uint64_t) {
  return std::nullopt;
}

std::optional<RecordingStub> make_recording_stub(const SlotJump&, std::uint64_t, std::span<const std::byte>,
                                                 std::uint64_t) {
  return std::nullopt;
}

void leave_recording_stub(Registers&, std::size_t, const trace::Memory&) {}

std::optional<CountingStub> make_counting_stub(const SlotJump&, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

void give_back(Registers&, std::size_t, const trace::Memory&) {}

std::uint64_t clock_ticks() {
  return 0;
}

}  // namespace tracer::arch
