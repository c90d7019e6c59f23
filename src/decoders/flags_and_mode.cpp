// Flags with permission bits in the lowest nine bits: shmget(2), msgget(2), semget(2).
#include "decoders/decoders.h"

namespace tracer::decoders {

/// Shows `IPC_CREAT|0600`: the flags, then the permission bits as three octal digits. If no flag of msgget or semget
/// has a name, strace shows no `|` between the two: `0x10000000`.
bool flags_and_mode(decode::CustomContext& context) {
  constexpr std::uint64_t mode_bits = 0777;
  const auto word = context.value();
  if ((word & ~mode_bits) != 0) {
    TextBuffer flags;
    context.described(word & ~mode_bits);
    context.append_constant(flags, word & ~mode_bits, format::ConstantForm::abbreviate);
    const bool named = flags.view().substr(0, 2) != "0x" || flags.view().find('<') != std::string_view::npos ||
                       context.out().constant_form() == format::ConstantForm::raw;
    context.out().symbol(named || context.described_name() == "shmget_flags" ? "|" : "");
  }
  context.number(word & mode_bits, spec::Style::octal, 4, false);
  return true;
}

}  // namespace tracer::decoders
