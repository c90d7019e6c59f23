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

/// Returns the bytes of an element of an array of integers whose type has this name.
unsigned width_of_elements(std::string_view array, Abi abi) {
  if (array.starts_with("i16") || array.starts_with("u16")) {
    return 2;
  }
  if (array.starts_with("i64") || array.starts_with("u64")) {
    return 8;
  }
  const bool is_word = array.starts_with("long") || array.starts_with("ulong");
  return is_word ? word_size(abi) : 4;
}

}  // namespace

bool wide_text(decode::CustomContext& context) {
  return show(context, std::numeric_limits<std::uint64_t>::max(), static_cast<unsigned>(context.size()));
}

bool wide_array(decode::CustomContext& context) {
  const unsigned width = width_of_elements(context.described_name(), context.entry().abi);
  return show(context, context.size() / width, width);
}

}  // namespace tracer::decoders
