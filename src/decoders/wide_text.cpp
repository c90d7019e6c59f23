#include "decode/wide_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "decoders/decoders.h"

namespace tracer::decoders {
namespace {

bool show(decode::CustomContext& context, std::uint64_t most, unsigned width) {
  const std::size_t shown = std::min<std::size_t>(context.options().string_limit, decode::most_wide_characters);
  std::array<std::byte, 4 * decode::most_wide_characters> bytes;
  const auto text =
      decode::read_wide_text(context.memory(), context.address(), most, std::span(bytes).first(4 * shown), width);
  if (text) {
    render::StringForm form;
    form.cut = text->is_cut;
    form.utf8 = true;
    context.out().bytes(std::span(bytes).first(text->size), form);
  }
  return text.has_value();
}

}  // namespace

bool wide_text(decode::CustomContext& context) {
  constexpr std::uint64_t narrow = 2;
  return show(context, std::numeric_limits<std::uint64_t>::max(), context.size() == narrow ? 2 : 4);
}

bool wide_array(decode::CustomContext& context) {
  return show(context, context.size() / sizeof(std::uint32_t), sizeof(std::uint32_t));
}

}  // namespace tracer::decoders
