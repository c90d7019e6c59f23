// Masks of NUMA nodes, and residence of pages.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

std::uint64_t shown_limit(const CustomContext& context, std::uint64_t all) {
  constexpr std::uint64_t max_shown = 4096;
  return std::min(all, context.depth().abbreviate ? std::uint64_t{context.options().string_limit} : max_shown);
}

/// Emits `... /* 0x7fff0000 */`, the address from which memory is unreadable.
void emit_unreadable(render::Emitter& out, RemoteAddr address) {
  TextBuffer text;
  text.hex(address.value());
  out.symbol("...");
  out.comment(text.view());
}

}  // namespace

/// Shows the node mask of mbind(2) as words, `[0x00000000000003]`. The kernel uses one bit less than `maxnode`.
bool nodemask(decode::CustomContext& context) {
  const unsigned width = word_size(context.entry().abi);
  const auto maxnode = context.argument("maxnode").value_or(0);
  const auto max_number = ~std::uint64_t{0};
  if (maxnode == 1 || maxnode == max_number) {  // an empty mask, or one beyond the address space
    return false;
  }
  const auto bits = maxnode == 0 ? 0 : maxnode - 1;
  const auto words = bits / (8 * width) + (bits % (8 * width) != 0 ? 1 : 0);
  const auto shown = shown_limit(context, words);
  std::array<std::byte, 8> raw{};
  const auto word = std::span(raw).first(width);
  TextBuffer text;
  auto& out = context.out();
  if (words != 0 && context.memory().read(context.address(), word) != width) {
    return false;
  }
  out.begin_array();
  std::uint64_t i = 0;
  for (; i < shown && context.spend(); ++i) {
    out.begin_element();
    if (context.memory().read(context.address() + i * width, word) != width) {
      emit_unreadable(out, context.address() + i * width);
      out.end_array();
      return true;
    }
    const auto value = number_at(raw, 0, width);
    text.clear();
    value == 0 ? text.append(2 * std::size_t{width}, '0') : text.hex_padded(value, 2 * width - 2);
    out.symbol(text.view());
  }
  if (i < words) {
    out.more();
  }
  out.end_array();
  return true;
}

/// Shows the result of mincore(2): the lowest bit of one byte for each page.
bool page_residence(decode::CustomContext& context) {
  constexpr std::uint64_t page_size = 4096;
  const auto length = context.argument("length").value_or(0);
  const auto pages = length / page_size + (length % page_size != 0 ? 1 : 0);
  const auto shown = shown_limit(context, pages);
  auto& out = context.out();
  std::array<std::byte, 1> raw{};
  if (pages != 0 && context.memory().read(context.address(), raw) != raw.size()) {
    return false;
  }
  out.begin_array();
  std::uint64_t i = 0;
  for (; i < shown && context.spend(); ++i) {
    out.begin_element();
    if (context.memory().read(context.address() + i, raw) != raw.size()) {
      emit_unreadable(out, context.address() + i);
      out.end_array();
      return true;
    }
    context.number(std::to_integer<unsigned>(raw[0]) & 1, spec::Style::number, 4, false);
  }
  if (i < pages) {
    out.more();
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
