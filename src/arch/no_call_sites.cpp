// Machines, and builds, where no call is led through code of ours.
#include <cerrno>

#include "arch/call_site.h"
#include "arch/counting_stub.h"

namespace tracer::arch {

Status can_record_inside() {
  return Error{ENOSYS, "calls are recorded inside a program on x86_64 alone, by a tracer that was built with Zydis"};
}

Status can_dispatch_calls() {
  return can_record_inside();
}

std::optional<CallSite> find_call_site(std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<SiteStub> make_site_stub(const CallSite&, std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<SiteJump> site_jump(std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::uint64_t site_reach() {
  return 0;
}

void put_before_call(Registers&, const CallRegisters&, std::uint64_t) {}
void put_behind_call(Registers&, const CallRegisters&, std::uint64_t) {}
void put_to_call(Registers&) {}
void end_copy(Registers&, std::uint64_t) {}

bool leave_entry(Registers&, const EntryRange&, const EntryLabels&, const trace::Memory&) {
  return false;
}

Registers registers_at_function(std::span<const std::uint64_t, 6>, std::uint64_t, std::uint64_t) {
  return {};
}

Registers registers_at_return(std::span<const std::uint64_t, 2>, std::uint64_t) {
  return {};
}

FunctionStep leave_function_entry(Registers&, const FunctionEntries&, const FunctionLabels&, const trace::Memory&) {
  return FunctionStep::elsewhere;
}

void put_to_function(Registers&, const CallRegisters&, const FunctionScratch&, std::uint64_t, std::uint64_t) {}

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

}  // namespace tracer::arch
