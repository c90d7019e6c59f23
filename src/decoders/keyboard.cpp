// Key maps of virtual consoles (linux/keyboard.h, linux/kd.h) and bit sets of input devices (linux/input.h).
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/escape.h"

namespace tracer::decoders {
namespace {

/// Reads a number of `width` bytes from memory; nullopt if that fails.
std::optional<std::uint64_t> load_bits(const CustomContext& context, unsigned width) {
  std::array<std::byte, 8> raw{};
  return context.copy(std::span(raw).first(width)) ? std::optional(number_at(raw, 0, width)) : std::nullopt;
}

/// The words of a bit set, as numbers: `[0x401, 0]`.
TextBuffer words_text(std::span<const std::byte> bytes, unsigned width) {
  TextBuffer text;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    text.append(at == 0 ? "[" : ", ");
    text.hex(number_at(bytes, at, width));
  }
  text.append(']');
  return text;
}

}  // namespace

/// Shows the action of a key: `0x100 /* K_F1 */`, `0x61 /* K(KT_LATIN, 'a') */`.
bool kb_value(decode::CustomContext& context) {
  constexpr std::uint64_t latin = 0, meta = 8, letter = 11, dead2 = 13;
  const auto bits = load_bits(context, 2);
  if (!bits) {
    return false;
  }
  context.number(*bits, spec::Style::hex, 2, false);
  if (context.out().constant_form() == format::ConstantForm::raw) {
    return true;
  }
  TextBuffer text;
  if (const auto name = context.constant_name("kb_value_name", *bits); !name.empty()) {
    text.append(name);
  } else {
    const auto type = *bits >> 8;
    const auto type_name = context.constant_name("kb_value_type", type);
    text.append("K(");
    type_name.empty() ? text.hex(type) : text.append(type_name);
    text.append(", ");
    type == latin || type == meta || type == letter || type == dead2
        ? append_character(text, static_cast<unsigned>(*bits & 0xff))
        : text.hex(*bits & 0xff);
    text.append(')');
  }
  context.out().comment(text.view());
  return true;
}

/// Shows the bit sets of EVIOCGBIT, EVIOCGKEY and others, such as supported events or pressed keys: `[KEY_ESC KEY_1]`.
/// The request determines what the bits stand for.
bool input_bits(decode::CustomContext& context) {
  struct Kind {
    std::uint64_t number;  ///< number of the request
    std::string_view set;
    std::size_t bit_count;  ///< …_CNT of linux/input-event-codes.h
  };
  static constexpr std::array<Kind, 16> kinds = {{{0x09, "input_property", 0x20},
                                                  {0x18, "input_key", 0x300},
                                                  {0x19, "input_led", 0x10},
                                                  {0x1a, "input_sound", 0x8},
                                                  {0x1b, "input_switch", 0x12},
                                                  {0x20, "input_event_type", 0x20},
                                                  {0x21, "input_key", 0x300},
                                                  {0x22, "input_relative", 0x10},
                                                  {0x23, "input_axis", 0x40},
                                                  {0x24, "input_misc", 0x8},
                                                  {0x25, "input_switch", 0x12},
                                                  {0x31, "input_led", 0x10},
                                                  {0x32, "input_sound", 0x8},
                                                  {0x34, "input_repeat", 0x2},
                                                  {0x35, "input_force", 0x80},
                                                  {0x37, "input_force_status", 0x2}}};
  const auto number = context.argument("op").value_or(0) & 0xff;
  auto& out = context.out();
  constexpr std::uint64_t power_state = 0x36;
  if (number == power_state) {
    std::array<std::byte, sizeof(std::int32_t)> state{};
    if (!context.copy(state)) {
      return false;
    }
    out.begin_target();
    context.number(static_cast<std::uint64_t>(static_cast<std::int32_t>(number_at(state, 0, state.size()))),
                   spec::Style::number, state.size(), true);
    out.end_target();
    return true;
  }
  const auto* kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.number == number; });
  const auto answered = static_cast<std::uint64_t>(context.outcome() == nullptr ? 0 : context.outcome()->value);
  if (kind == kinds.end() || answered == 0) {
    return false;
  }
  // The kernel copies whole words, and fewer bits than words have.
  const unsigned width = word_size(context.entry().abi);
  const auto whole_words = [&](std::size_t bytes) { return (bytes + width - 1) / width * width; };
  std::array<std::byte, 128> raw{};  // the largest set, that of keys, takes 96 bytes
  const auto bytes = std::span(raw).first(
      std::min(whole_words(std::min<std::uint64_t>(answered, raw.size())), whole_words((kind->bit_count + 7) / 8)));
  if (!context.copy(bytes)) {
    return false;
  }
  if (out.constant_form() == format::ConstantForm::raw) {
    out.symbol(words_text(bytes, width).view());
    return true;
  }
  constexpr std::size_t abbreviated_limit = 4;
  const std::size_t limit = context.depth().abbreviate ? abbreviated_limit : bytes.size() * 8;
  // strace leaves the last bit of a set out.
  const bool has_last = !context.constant_name("input_bit", 1).empty();
  const auto bit_count = std::min<std::uint64_t>(std::min<std::uint64_t>(answered, bytes.size()) * 8,
                                                 has_last ? kind->bit_count : kind->bit_count - 1);
  std::size_t shown = 0;
  TextBuffer text;
  out.begin_list();
  for (std::size_t bit = 0; bit < bit_count; ++bit) {
    if (bit_of(bytes, bit) == 0) {
      continue;
    }
    if (shown++ == limit || !context.spend()) {
      out.more();
      break;
    }
    out.begin_element();
    text.clear();
    context.append_constant(text, kind->set, bit, out.constant_form());
    out.symbol(text.view());
  }
  out.end_array();
  if (out.constant_form() == format::ConstantForm::verbose) {
    out.comment(words_text(bytes, width).view());
  }
  return true;
}

}  // namespace tracer::decoders
