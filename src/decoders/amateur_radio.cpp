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
constexpr std::uint64_t max_digipeaters = 8;

using CallSign = std::span<const std::byte>;

/// True for the null address, whose characters are all blanks.
bool is_null(CallSign call_sign) {
  constexpr std::byte blank{' ' << 1};
  return std::all_of(call_sign.begin(), call_sign.end() - 1, [](std::byte b) { return b == blank; }) &&
         (number_at(call_sign, call_sign_size - 1, 1) & 0x1e) == 0;
}

/// Appends `KLM1-1`: letters and digits, which are shifted by one bit, then blanks, then the SSID. Returns false if the
/// address contains anything else.
bool append_call_sign(TextBuffer& text, CallSign call_sign) {
  bool ended = false;
  for (const std::byte shifted : call_sign.first(call_sign_size - 1)) {
    const auto c = static_cast<char>(std::to_integer<unsigned>(shifted) >> 1);
    const bool is_alphanumeric = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if ((std::to_integer<unsigned>(shifted) & 1) != 0 || (!is_alphanumeric && c != ' ') || (ended && is_alphanumeric)) {
      return false;
    }
    ended = ended || !is_alphanumeric;
    if (is_alphanumeric) {
      text.append(c);
    }
  }
  text.append('-');
  text.decimal(std::uint64_t{number_at(call_sign, call_sign_size - 1, 1) >> 1 & 0xf});
  return text.view().front() != '-';
}

void show_call_sign(render::Emitter& out, CallSign call_sign) {
  if (is_null(call_sign)) {
    out.symbol("*");
    return;
  }
  render::StringForm form;
  form.hex = true;
  out.begin_struct();
  out.begin_field("ax25_call", "ax25_address");
  out.bytes(call_sign, form);
  out.end_struct();
  TextBuffer text;
  if (append_call_sign(text, call_sign)) {
    out.comment(text.view());
  }
}

void show_station(decode::CustomContext& context, CallSign call_sign, std::uint64_t digipeaters) {
  auto& out = context.out();
  out.begin_field("sax25_call", "ax25_address");
  show_call_sign(out, call_sign);
  out.begin_field("sax25_ndigis", "int");
  context.number(digipeaters, spec::Style::number, 4, true);
}

}  // namespace

/// Shows the part of a sockaddr_ax25 or full_sockaddr_ax25 after the family: the call sign and the digipeaters, if any.
bool sockaddr_ax25(decode::CustomContext& context) {
  std::array<std::byte, digipeaters_offset + max_digipeaters * call_sign_size> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  const auto address = std::span(raw).first(size);
  if (size < digipeaters_offset || !context.copy(address)) {
    return false;
  }
  const auto count = number_at(raw, count_offset, 4);
  const auto call_sign = CallSign(address).first(call_sign_size);
  if (count == 0) {
    show_station(context, call_sign, count);
    return true;
  }
  auto& out = context.out();
  out.begin_field("fsa_ax25", "sockaddr_ax25");
  out.begin_struct();
  show_station(context, call_sign, count);
  out.end_struct();
  out.begin_field("fsa_digipeater", "ax25_address");
  out.begin_array();
  if (count > max_digipeaters || size < digipeaters_offset + count * call_sign_size) {
    out.more();
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      out.begin_element();
      show_call_sign(out, CallSign(address).subspan(digipeaters_offset + i * call_sign_size, call_sign_size));
    }
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
