// Parts of socket addresses, and the result of recvmmsg(2).
#include <endian.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "decoders/time_left.h"

namespace tracer::decoders {
namespace {

constexpr std::size_t max_sun_path = 108;
constexpr std::size_t max_octets = 8;

/// Returns the value from its register or from memory.
std::optional<std::uint64_t> load(const CustomContext& context, std::size_t width) {
  if (!context.in_memory()) {
    return context.value();
  }
  std::array<std::byte, 8> raw{};
  return context.copy(std::span(raw).first(width)) ? std::optional(number_at(raw, 0, 8)) : std::nullopt;
}

/// Returns the distance of a nameless value from the start of its dynamic range, as in `L2CAP_PSM_DYN_START+5`; 0 if it
/// has a name or is in no such range.
std::uint64_t distance_in_range(const CustomContext& context, std::uint64_t value) {
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };
  constexpr std::array<Range, 3> ranges = {{{0x1001, 0xffff}, {0x80, 0xff}, {0x40, 0xffff}}};
  const auto name = [&](std::uint64_t bits) { return context.constant_name(context.described_name(), bits); };
  if (!name(value).empty()) {
    return 0;
  }
  const auto holds = [&](const Range& range) {
    return value > range.first && value <= range.last && name(range.first).ends_with("_DYN_START");
  };
  const auto* found = std::find_if(ranges.begin(), ranges.end(), holds);
  return found == ranges.end() ? 0 : value - found->first;
}

/// Shows a number of `size` bytes as printf(3) does for %#0*x: `width` includes the prefix, which zero lacks.
bool hex_of_width(decode::CustomContext& context, unsigned size, unsigned width) {
  const auto bits = load(context, size);
  if (!bits) {
    return false;
  }
  TextBuffer text;
  *bits == 0 ? text.append(width, '0') : text.hex_padded(*bits, width - 2);
  context.out().symbol(text.view());
  return true;
}

}  // namespace

/// Shows a 16-bit constant in network order: `htons(ETH_P_IP)`.
bool htons(decode::CustomContext& context) {
  const auto bits = load(context, 2);
  if (!bits) {
    return false;
  }
  const bool in_memory = context.in_memory();
  TextBuffer text;
  text.append("htons(");
  context.append_constant(text, be16toh(static_cast<std::uint16_t>(*bits)),
                          in_memory ? format::ConstantForm::abbreviate : context.out().constant_form());
  text.append(')');
  in_memory ? context.out().named_bytes({text.view()}, std::as_bytes(std::span(&*bits, 1)).first(2))
            : context.out().symbol(text.view());
  return true;
}

/// Shows a 16-bit constant in Bluetooth's byte order, which is little-endian like all ABIs here:
/// `htobs(L2CAP_PSM_SDP)`.
bool htobs(decode::CustomContext& context) {
  const auto bits = load(context, 2);
  if (!bits) {
    return false;
  }
  const std::uint64_t value = *bits & 0xffff;
  const std::uint64_t distance = distance_in_range(context, value);
  const auto form = context.out().constant_form();
  TextBuffer text;
  text.append("htobs(");
  if (distance == 0) {
    context.append_constant(text, value, form);
  } else {
    TextBuffer name;
    context.append_constant(name, value - distance, format::ConstantForm::abbreviate);
    name.append('+');
    name.decimal(distance);
    append_named(text, value, name.view(), {}, form);
  }
  text.append(')');
  context.out().symbol(text.view());
  return true;
}

/// Shows a number or constant of 32 or 64 bits in network order: `htonl(5)`, `htonl(NFT_REG_1)`, `htobe64(5)`.
bool htonl(decode::CustomContext& context) {
  constexpr unsigned word = 4;
  const unsigned width = context.size() > word ? 8 : word;
  const auto bits = load(context, width);
  if (!bits) {
    return false;
  }
  TextBuffer text;
  text.append(width == word ? "htonl(" : "htobe64(");
  context.append_constant(text, width == word ? be32toh(static_cast<std::uint32_t>(*bits)) : be64toh(*bits),
                          format::ConstantForm::abbreviate);
  text.append(')');
  context.out().named_bytes({text.view()}, std::as_bytes(std::span(&*bits, 1)).first(width));
  return true;
}

/// Shows the bytes after the family of the transport address in a sockaddr_rxrpc, in a field without a name.
bool bare_bytes(decode::CustomContext& context) {
  constexpr std::uint64_t family_size = 2;
  constexpr std::uint64_t max_size = 28;
  std::array<std::byte, max_size - family_size> raw{};
  const auto size = std::clamp(context.size(), family_size, max_size) - family_size;
  const auto bytes = std::span(raw).first(static_cast<std::size_t>(size));
  context.out().begin_bare_field("data", "bytes");
  if (context.copy(bytes)) {
    context.out().bytes(bytes, {});
  } else {
    context.out().address(context.address());
  }
  return true;
}

/// Shows an address of unix(7): a path up to its NUL, or `@"name"` in the abstract namespace, where NULs are part of
/// the name.
bool sun_path(decode::CustomContext& context) {
  std::array<std::byte, max_sun_path> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  const auto bytes = std::span(raw).first(size);
  if (!context.copy(bytes)) {
    return false;
  }
  if (size != 0 && bytes.front() == std::byte{0}) {
    context.out().symbol("@");
    context.out().bytes(bytes.subspan(1), {});
    return true;
  }
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  context.out().bytes(bytes.first(static_cast<std::size_t>(end - bytes.begin())), {});
  return true;
}

/// Shows sin6_scope_id of ipv6(7), which is an interface if the preceding address is link-local.
bool in6_scope(decode::CustomContext& context) {
  const auto bits = load(context, 4);
  if (!bits) {
    return false;
  }
  std::array<std::byte, 16> address{};
  const bool known = context.memory().read(context.address() + (0 - address.size()), address) == address.size();
  const auto first = number_at(address, 0, 1);
  const auto second = number_at(address, 1, 1);
  const bool link_local =
      known && ((first == 0xfe && (second & 0xc0) == 0x80) || (first == 0xff && (second & 0xf) == 2));
  context.number(*bits, link_local ? spec::Style::ifindex : spec::Style::number, 4, false);
  return true;
}

/// Shows a number as printf(3) does for %#08x: `0x000007`, zero as `00000000`.
bool hex8(decode::CustomContext& context) {
  return hex_of_width(context, 4, 8);
}

/// Shows a number as printf(3) does for %#02x: `0x7`, zero as `00`.
bool hex2(decode::CustomContext& context) {
  return hex_of_width(context, 1, 2);
}

/// Shows a hardware address of any kind: `[0x1, 0xff, 00]`.
bool octets(decode::CustomContext& context) {
  std::array<std::byte, max_octets> raw{};
  const auto bytes = std::span(raw).first(std::min<std::size_t>(context.size(), raw.size()));
  if (!context.copy(bytes)) {
    return false;
  }
  TextBuffer text;
  auto& out = context.out();
  out.begin_array();
  for (const std::byte b : bytes) {
    text.clear();
    b == std::byte{0} ? text.append("00") : text.hex(std::to_integer<unsigned>(b));
    out.begin_element();
    out.symbol(text.view());
  }
  out.end_array();
  return true;
}

/// Shows the note of recvmmsg: `left {tv_sec=0, tv_nsec=9}`.
bool recvmmsg_result(decode::CustomContext& context) {
  const auto* outcome = context.outcome();
  if (outcome == nullptr || outcome->is_error) {
    return true;
  }
  if (outcome->value == 0) {
    context.out().symbol("Timeout");
    return true;
  }
  if (const auto timeout = context.argument("timeout").value_or(0); timeout != 0 && context.depth().dereference) {
    context.out().begin_parts();
    context.out().begin_part("left");
    emit_time_left(context, timeout, "tv_nsec");
    context.out().end_parts();
  }
  return true;
}

/// Appends a number with its name as a comment, except under -X raw.
void append_with_name(const CustomContext& context, TextBuffer& text, std::uint64_t bits) {
  const bool is_raw = context.out().constant_form() == format::ConstantForm::raw;
  context.append_constant(text, bits, is_raw ? format::ConstantForm::raw : format::ConstantForm::verbose);
}

/// Shows a number with its name, even under -X abbrev: `0x1 /* PIDTYPE_TGID */`.
bool with_name(decode::CustomContext& context) {
  const auto bits = load(context, std::min<std::size_t>(context.size(), 8));
  if (!bits) {
    return false;
  }
  TextBuffer text;
  append_with_name(context, text, *bits);
  if (context.in_memory()) {
    context.out().begin_target();
  }
  context.out().symbol(text.view());
  if (context.in_memory()) {
    context.out().end_target();
  }
  return true;
}

/// Shows the ICMP types that a raw socket's filter blocks: `[ICMP_ECHOREPLY ICMP_ECHO]`; if it blocks more than half of
/// them, those that pass: `~[ICMP_ECHO]`. The kernel also accepts fewer than four bytes, which are the first ones of
/// Shows the lowest and the highest port of IP_LOCAL_PORT_RANGE, of which none may be given: `0x50001 /* 1..5 */`.
bool port_range(decode::CustomContext& context) {
  constexpr unsigned port_bits = 16;
  constexpr std::uint64_t port_mask = 0xffff;
  std::array<std::byte, sizeof(std::uint32_t)> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const std::uint64_t range = number_at(raw, 0, raw.size());
  auto& out = context.out();
  out.begin_target();
  context.number(range, spec::Style::hex, raw.size(), false);
  if (range != 0 && out.constant_form() != format::ConstantForm::raw) {
    TextBuffer text;
    const auto port = [&](std::uint64_t number) { number != 0 ? text.decimal(number) : void(); };
    port(range & port_mask);
    text.append("..");
    port(range >> port_bits);
    out.comment(text.view());
  }
  out.end_target();
  return true;
}

/// the set. linux/icmp.h.
bool icmp_filter(decode::CustomContext& context) {
  constexpr unsigned types = 32;
  std::array<std::byte, sizeof(std::uint32_t)> raw{};
  raw.fill(std::byte{0xff});
  if (!context.copy(std::span(raw).first(std::min<std::size_t>(context.size(), raw.size())))) {
    return false;
  }
  const std::bitset<types> blocked(number_at(raw, 0, raw.size()));
  const bool inverted = blocked.count() > types / 2;
  TextBuffer text;
  text.append(inverted ? "~[" : "[");
  bool first = true;
  for (unsigned type = 0; type < types; ++type) {
    if (blocked[type] != inverted) {
      text.append(std::exchange(first, false) ? "" : " ");
      append_named(text, type, context.constant_name("icmp_type", type), "ICMP_???", context.out().constant_form());
    }
  }
  text.append(']');
  context.out().symbol(text.view());
  return true;
}

/// Shows a field as with_name() does.
bool named_number(decode::CustomContext& context) {
  const auto bits = load(context, std::min<std::size_t>(context.size(), 8));
  if (!bits) {
    return false;
  }
  TextBuffer text;
  append_with_name(context, text, *bits);
  context.out().symbol(text.view());
  return true;
}

/// Shows `???` in place of a truncated value.
bool missing(decode::CustomContext& context) {
  context.out().symbol("???");
  return true;
}

}  // namespace tracer::decoders
