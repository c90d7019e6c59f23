// Addresses of AX.25, the link layer of amateur radio. linux/ax25.h.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::size_t call_sign_size = 7;  ///< six characters and the SSID
constexpr std::size_t count_offset = 10;   ///< offset of sax25_ndigis, after the call sign and padding
constexpr std::size_t digipeaters_offset = 14;
constexpr std::size_t max_digipeaters = 8;

using CallSign = std::span<const std::byte>;

/// Appends `KLM1-1`: the characters, which are shifted by one bit, without the blanks at the end, then the SSID; `*`
/// for the null address. Returns false, and appends nothing of use, if a character cannot stand in a comment.
bool append_call_sign(TextBuffer& text, CallSign call_sign) {
  constexpr char last = 0x7e;
  const auto at = [&](std::size_t i) { return static_cast<char>(std::to_integer<unsigned>(call_sign[i]) >> 1); };
  std::size_t end = 0;
  for (std::size_t i = 0; i < call_sign_size - 1; ++i) {
    if (at(i) < ' ' || at(i) > last || at(i) == '*' || at(i) == '/') {
      return false;
    }
    end = at(i) != ' ' ? i + 1 : end;
  }
  const auto ssid = number_at(call_sign, call_sign_size - 1, 1) >> 1 & 0xf;
  if (end == 0 && ssid == 0) {
    text.append('*');
    return true;
  }
  for (std::size_t i = 0; i < end; ++i) {
    text.append(at(i));
  }
  text.append('-');
  text.decimal(ssid);
  return true;
}

/// True if the text says it all: letters and digits, then blanks, and no bit beside those of the characters and the
/// SSID.
bool is_plain(CallSign call_sign) {
  constexpr std::byte last{1};
  constexpr std::uint64_t beside_ssid = 0xe1;
  bool ended = false;
  bool empty = true;
  for (const std::byte shifted : call_sign.first(call_sign_size - 1)) {
    const auto c = static_cast<char>(std::to_integer<unsigned>(shifted) >> 1);
    const bool is_alphanumeric = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if ((shifted & last) != std::byte{0} || (!is_alphanumeric && c != ' ') || (ended && is_alphanumeric)) {
      return false;
    }
    ended = ended || !is_alphanumeric;
    empty = empty && !is_alphanumeric;
  }
  const auto ssid = number_at(call_sign, call_sign_size - 1, 1);
  return (ssid & beside_ssid) == 0 && (!empty || ssid == 0);
}

void show_call_sign(render::Emitter& out, CallSign call_sign) {
  TextBuffer text;
  const bool readable = append_call_sign(text, call_sign);
  if (readable && is_plain(call_sign) && out.constant_form() == format::ConstantForm::abbreviate) {
    out.symbol(text.view());
    return;
  }
  render::StringForm form;
  form.hex = true;
  out.begin_struct();
  out.begin_field("ax25_call", "ax25_address");
  out.bytes(call_sign, form);
  out.end_struct();
  if (readable && (out.constant_form() != format::ConstantForm::raw || !is_plain(call_sign))) {
    out.comment(text.view());
  }
}

void show_station(decode::CustomContext& context, CallSign call_sign, std::int32_t digipeaters) {
  auto& out = context.out();
  out.begin_field("sax25_call", "ax25_address");
  show_call_sign(out, call_sign);
  out.begin_field("sax25_ndigis", "int");
  context.number(static_cast<std::uint64_t>(std::int64_t{digipeaters}), spec::Style::number, 4, true);
}

}  // namespace

/// Shows the part of a sockaddr_ax25 or full_sockaddr_ax25 after the family: the call sign, and of the digipeaters
/// those that are there. `...` stands for bytes that are no digipeater.
bool sockaddr_ax25(decode::CustomContext& context) {
  std::array<std::byte, digipeaters_offset + max_digipeaters * call_sign_size> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  const auto address = std::span(raw).first(size);
  if (size < digipeaters_offset || !context.copy(address)) {
    return false;
  }
  const auto count = static_cast<std::int32_t>(number_at(raw, count_offset, 4));
  const auto call_sign = CallSign(address).first(call_sign_size);
  if (count == 0 && context.size() == digipeaters_offset) {
    show_station(context, call_sign, count);
    return true;
  }
  auto& out = context.out();
  out.begin_field("fsa_ax25", "sockaddr_ax25");
  out.begin_struct();
  show_station(context, call_sign, count);
  out.end_struct();
  const std::size_t there = (size - digipeaters_offset) / call_sign_size;
  if (count > 0) {
    const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(count), max_digipeaters);
    out.begin_field("fsa_digipeater", "ax25_address");
    out.begin_array();
    for (std::size_t i = 0; i < std::min(wanted, there); ++i) {
      if (context.depth().abbreviate && i >= context.options().most_elements()) {
        out.more();
        break;
      }
      out.begin_element();
      show_call_sign(out, CallSign(address).subspan(digipeaters_offset + i * call_sign_size, call_sign_size));
    }
    if (wanted > there && (!context.depth().abbreviate || there <= context.options().most_elements())) {
      out.more();
    }
    out.end_array();
  }
  if (context.size() > digipeaters_offset + there * call_sign_size) {
    out.more();
  }
  return true;
}

}  // namespace tracer::decoders
