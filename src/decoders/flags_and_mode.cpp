// Flags with permission bits below them: shmget(2), msgget(2), semget(2).
#include "decoders/decoders.h"

namespace tracer::decoders {

/// `IPC_CREAT|0600`: the flags without the lowest nine bits, then those, always as three octal digits.
bool flags_and_mode(CustomContext& context) {
  constexpr std::uint64_t mode_bits = 0777;
  const auto word = context.value();
  if ((word & ~mode_bits) != 0) {
    context.described(word & ~mode_bits);
    context.out().symbol("|");
  }
  context.number(word & mode_bits, spec::Style::octal, 4, false);
  return true;
}

}  // namespace tracer::decoders
