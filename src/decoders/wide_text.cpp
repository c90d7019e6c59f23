#include "decode/wide_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "decoders/decoders.h"

namespace tracer::decoders {

bool wide_text(decode::CustomContext& context) {
  const std::size_t shown = std::min<std::size_t>(context.options().string_limit, decode::most_wide_characters);
  std::array<std::byte, 4 * decode::most_wide_characters> bytes;
  const auto text =
      decode::read_wide_text(context.memory(), context.address(), std::numeric_limits<std::uint64_t>::max(),
                             std::span(bytes).first(4 * shown));
  if (text) {
    render::StringForm form;
    form.cut = text->is_cut;
    context.out().bytes(std::span(bytes).first(text->size), form);
  }
  return text.has_value();
}

}  // namespace tracer::decoders
