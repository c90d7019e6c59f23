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

}  // namespace

/// Shows the bytes after the family of the transport address in a sockaddr_rxrpc, in a field without a name.
bool bare_bytes(decode::CustomContext& context) {
  std::array<std::byte, 128> raw{};  // as long as the longest address
  const auto bytes = std::span(raw).first(std::min<std::size_t>(context.size(), raw.size()));
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

/// Shows the ICMP types that a raw socket's filter blocks: `[ICMP_ECHOREPLY ICMP_ECHO]`; if it blocks more than half of
/// them, those that pass: `~[ICMP_ECHO]`. The kernel also accepts fewer than four bytes, which are the first ones of
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

}  // namespace tracer::decoders
