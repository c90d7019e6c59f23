// Addresses of AX.25, the link of amateur radio: call signs. linux/ax25.h.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/read.h"

namespace tracer::decoders {
namespace {

constexpr std::size_t call_size = 7;      ///< six characters and what tells stations of one owner apart
constexpr std::size_t count_offset = 10;  ///< of sax25_ndigis, behind the call and padding
constexpr std::size_t digipeaters_offset = 14;
constexpr std::uint64_t most_digipeaters = 8;

using Call = std::span<const std::byte>;

/// All characters are blanks: nobody's.
bool is_null(Call call) {
  constexpr std::byte blank{' ' << 1};
  return std::all_of(call.begin(), call.end() - 1, [](std::byte b) { return b == blank; }) &&
         (number_at(call, call_size - 1, 1) & 0x1e) == 0;
}

/// `KLM1-1`: letters and digits, shifted by one, then blanks, and a number. False, if there is anything else.
bool append_call(TextBuffer& text, Call call) {
  bool ended = false;
  for (const std::byte shifted : call.first(call_size - 1)) {
    const auto c = static_cast<char>(std::to_integer<unsigned>(shifted) >> 1);
    const bool is_sign = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if ((std::to_integer<unsigned>(shifted) & 1) != 0 || (!is_sign && c != ' ') || (ended && is_sign)) {
      return false;
    }
    ended = ended || !is_sign;
    is_sign ? text.append(c) : void();
  }
  text.append('-');
  text.decimal(std::uint64_t{number_at(call, call_size - 1, 1) >> 1 & 0xf});
  return text.view().front() != '-';
}

void show_call(render::Emitter& out, Call call) {
  if (is_null(call)) {
    out.symbol("*");
    return;
  }
  render::StringForm form;
  form.hex = true;
  out.begin_struct();
  out.begin_field("ax25_call", "ax25_address");
  out.bytes(call, form);
  out.end_struct();
  TextBuffer text;
  if (append_call(text, call)) {
    out.comment(text.view());
  }
}

void show_station(decode::CustomContext& context, Call call, std::uint64_t digipeaters) {
  auto& out = context.out();
  out.begin_field("sax25_call", "ax25_address");
  show_call(out, call);
  out.begin_field("sax25_ndigis", "int");
  context.number(digipeaters, spec::Style::number, 4, true);
}

}  // namespace

/// What follows the family: a station and, if others pass on what it sends, those.
bool sockaddr_ax25(decode::CustomContext& context) {
  std::array<std::byte, digipeaters_offset + most_digipeaters * call_size> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  const auto address = std::span(raw).first(size);
  if (size < digipeaters_offset || !context.copy(address)) {
    return false;
  }
  const auto count = number_at(raw, count_offset, 4);
  const auto call = Call(address).first(call_size);
  if (count == 0) {
    show_station(context, call, count);
    return true;
  }
  auto& out = context.out();
  out.begin_field("fsa_ax25", "sockaddr_ax25");
  out.begin_struct();
  show_station(context, call, count);
  out.end_struct();
  out.begin_field("fsa_digipeater", "ax25_address");
  out.begin_array();
  if (count > most_digipeaters || size < digipeaters_offset + count * call_size) {
    out.more();
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      out.begin_element();
      show_call(out, Call(address).subspan(digipeaters_offset + i * call_size, call_size));
    }
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
