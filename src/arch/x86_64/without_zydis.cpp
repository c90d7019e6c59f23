// For builds without Zydis, of which Debian has no static library: functions cannot be traced, because nothing decodes
// the instructions at breakpoints.
#include <cerrno>

#include "arch/breakpoint.h"

namespace tracer::arch {

Status can_break_at_functions(Abi) {
  return Error{ENOTSUP, "this build has no Zydis: use one that has (-V names the libraries)"};
}

StepStrategy step_strategy(Abi, std::span<const std::byte>) {
  return StepStrategy::in_place;
}

std::uint64_t displaced_reach() {
  return 0;
}

std::optional<Displaced> displace(Abi, std::span<const std::byte>, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}

std::optional<StackWrite> emulate(Abi, std::span<const std::byte>, std::uint64_t, Registers&, const trace::Memory&) {
  return std::nullopt;
}

std::optional<std::size_t> uprobe_offset(Abi, std::span<const std::byte>, bool) {
  return std::nullopt;
}

std::size_t emulated_offset(Abi, std::span<const std::byte>, const std::function<bool(std::int64_t)>&) {
  return 0;
}

std::optional<std::uint64_t> errno_address(Abi, std::uint64_t, const trace::Memory&, std::uint64_t) {
  return std::nullopt;
}

}  // namespace tracer::arch
