#include "format/signal_sets.h"

#include <bit>

#include "spec/signal_names.h"

namespace tracer::format {

void append_signal_set(TextBuffer& text, std::uint64_t set, unsigned bits, ConstantForm form) {
  const std::uint64_t every = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const bool complement = static_cast<unsigned>(std::popcount(set & every)) >= bits * 2 / 3;
  std::uint64_t shown = (complement ? ~set : set) & every;
  text.append(complement ? "~[" : "[");
  bool first = true;
  for (; shown != 0; shown &= shown - 1) {
    const auto signal = static_cast<std::uint64_t>(std::countr_zero(shown)) + 1;
    if (!first) {
      text.append(' ');
    }
    first = false;
    const auto name = spec::signal_name(signal).substr(3);  // without SIG
    if (form == ConstantForm::abbreviate) {
      text.append(name);
      continue;
    }
    text.decimal(signal);
    if (form == ConstantForm::verbose) {
      text.append(" /* ");
      text.append(name);
      text.append(" */");
    }
  }
  text.append(']');
}

}  // namespace tracer::format
