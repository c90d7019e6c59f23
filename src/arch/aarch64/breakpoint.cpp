// Tracing of functions is not built for this processor yet: can_break_at_functions() says so, and nobody asks for more.
#include "arch/breakpoint.h"

#include <elf.h>

namespace tracer {
namespace {

constexpr std::array<std::byte, 4> brk = {std::byte{0x00}, std::byte{0x00}, std::byte{0x20}, std::byte{0xd4}};

}  // namespace

bool can_break_at_functions() {
  return false;
}

std::span<const std::byte> trap_instruction() {
  return brk;
}

std::uint64_t trap_address(const Registers& registers) {
  return registers.instruction_pointer();
}

Under instruction_under(Abi, std::span<const std::byte>) {
  return Under::in_place;
}

std::optional<Displaced> displace(Abi, std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<StackWrite> emulate(Abi, std::span<const std::byte>, std::uint64_t, Registers&, const Memory&) {
  return std::nullopt;
}

std::vector<FoundStub> find_stubs(Abi, std::span<const std::byte>, std::uint64_t, std::span<const SlotAddress>,
                                  std::uint64_t) {
  return {};
}

std::optional<std::size_t> cheap_probe(Abi, std::span<const std::byte>, bool) {
  return 0;
}

std::optional<FunctionEntry> function_entry(const Registers&, const Memory&) {
  return std::nullopt;
}

bool has_returned(Abi, std::uint64_t, std::uint64_t) {
  return false;
}

std::optional<std::uint64_t> thread_pointer(const Registers&, const ReadRegisterSet&) {
  return std::nullopt;
}

std::optional<std::uint64_t> errno_address(Abi, std::uint64_t, const Memory&, std::uint64_t) {
  return std::nullopt;
}

std::array<std::uint64_t, 2> function_result(const Registers&) {
  return {};
}

FloatLayout float_layout() {
  return {NT_PRFPREG, 0, 0};
}

std::span<const std::byte> call_instruction(Abi) {
  return {};
}

std::uint64_t mmap_number(Abi) {
  return 0;
}

std::uint64_t munmap_number(Abi) {
  return 0;
}

void prepare_call(Registers&, std::uint64_t, std::uint64_t, std::span<const std::uint64_t, 6>) {}

}  // namespace tracer
