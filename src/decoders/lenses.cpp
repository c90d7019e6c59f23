// Lenses of ltrace's prototype files that no style says.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "format/bits.h"

namespace tracer::decoders {

bool set_bits(decode::CustomContext& context) {
  std::array<std::byte, 4096> bytes{};
  const std::uint64_t most = context.in_memory() ? bytes.size() : sizeof context.value();
  const auto shown = std::span(bytes).first(static_cast<std::size_t>(std::min(context.size(), most)));
  if (!context.in_memory()) {
    const std::uint64_t value = context.value();
    std::copy_n(std::as_bytes(std::span(&value, 1)).begin(), shown.size(), shown.begin());
  } else if (!context.copy(shown)) {
    return false;
  }
  TextBuffer text;
  format::append_bits(text, shown);
  context.out().symbol(text.view());
  return true;
}

bool hidden(decode::CustomContext& context) {
  context.out().symbol("");
  return true;
}

}  // namespace tracer::decoders
