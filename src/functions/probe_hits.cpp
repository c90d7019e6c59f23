#include "functions/probe_hits.h"

#include <bit>

#include "arch/register_names.h"
#include "functions/thread_state.h"

namespace tracer::functions {

namespace {

using library::Module;
using library::ProbeArgument;

std::uint64_t extended(std::uint64_t bits, const ProbeArgument& argument) {
  const unsigned unused = 64 - argument.size * 8;
  const std::uint64_t up = bits << unused;
  return argument.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(up) >> unused) : up >> unused;
}

class Arguments {
 public:
  Arguments(const Moment& moment, const arch::ReadRegisterSet& register_sets, std::uint64_t bias)
      : registers_(moment.registers),
        memory_(moment.memory),
        context_(moment.context),
        register_sets_(register_sets),
        bias_(bias) {}

  trace::ProbeValue value(const ProbeArgument& argument) const {
    trace::ProbeValue value;
    value.is_signed = argument.is_signed;
    value.is_floating = argument.is_floating;
    value.size = argument.size;
    if (const auto bits = bits_of(argument)) {
      value.known = true;
      value.bits = extended(*bits, argument);
    }
    return value;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> bits_of(const ProbeArgument& argument) const {
    switch (argument.where) {
      case ProbeArgument::Where::unknown:
        return std::nullopt;
      case ProbeArgument::Where::constant:
        return static_cast<std::uint64_t>(argument.displacement);
      case ProbeArgument::Where::in_register:
        return in_register(argument);
      case ProbeArgument::Where::in_memory:
        return in_memory(argument);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> in_register(const ProbeArgument& argument) const {
    if (const auto number = arch::vector_register(argument.base)) {
      const auto bytes = context_.vector(*number);
      std::uint64_t bits = 0;
      if (bytes) {
        std::memcpy(&bits, bytes->data(), sizeof bits);
      }
      return bytes ? std::optional(bits) : std::nullopt;
    }
    return arch::named_register(registers_, argument.base);
  }

  [[nodiscard]] std::optional<std::uint64_t> in_memory(const ProbeArgument& argument) const {
    std::uint64_t address = static_cast<std::uint64_t>(argument.displacement) + (argument.in_module ? bias_ : 0);
    if (!argument.segment.empty()) {
      const auto segment = arch::segment_base(registers_, argument.segment, register_sets_);
      if (!segment) {
        return std::nullopt;
      }
      address += *segment;
    }
    if (!argument.base.empty()) {
      const auto base = arch::named_register(registers_, argument.base);
      if (!base) {
        return std::nullopt;
      }
      address += *base;
    }
    if (!argument.index.empty()) {
      const auto index = arch::named_register(registers_, argument.index);
      if (!index) {
        return std::nullopt;
      }
      const std::uint64_t value = argument.extend == ProbeArgument::Extend::sxtw
                                      ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(*index)})
                                  : argument.extend == ProbeArgument::Extend::uxtw ? static_cast<std::uint32_t>(*index)
                                                                                   : *index;
      address += value * argument.scale;
    }
    if (word_size(registers_.mode_abi()) == 4) {
      address = static_cast<std::uint32_t>(address);
    }
    std::uint64_t bits = 0;
    const auto into = std::as_writable_bytes(std::span(&bits, 1)).first(argument.size);
    return memory_.read(RemoteAddr(address), into) == into.size() ? std::optional(bits) : std::nullopt;
  }

  const arch::Registers& registers_;
  const trace::Memory& memory_;
  const trace::CallContext& context_;
  const arch::ReadRegisterSet& register_sets_;
  std::uint64_t bias_;
};

}  // namespace

void report_probe_hits(ptrace::EventSink& sink, ptrace::Tracee& tracee, const Breakpoint& point, std::uint64_t address,
                       const Moment& moment, const arch::ReadRegisterSet& register_sets) {
  tracee.abi = moment.registers.mode_abi();
  const auto& modules = space_of(tracee).modules;
  const auto after = modules.upper_bound(address);
  if (after == modules.begin()) {
    return;
  }
  const Module& module = std::prev(after)->second;
  const std::vector<Breakpoint::Probe> probes = point.probes;
  for (const Breakpoint::Probe& here : probes) {
    const library::StaticProbe& probe = *here.probe;
    const Arguments arguments(moment, register_sets, module.bias);
    std::vector<trace::ProbeValue> values;
    values.reserve(probe.arguments.size());
    for (const ProbeArgument& argument : probe.arguments) {
      values.push_back(arguments.value(argument));
    }
    report(sink, tracee, moment, trace::ProbeHit{&probe.provider, &probe.name, &module.name, address, values});
  }
}

}  // namespace tracer::functions
