// Buffers and strings.
#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "decode/walker.h"
#include "format/bits.h"
#include "format/escape.h"

namespace tracer::decode {

using spec::Type;

namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t first_piece = 256;
constexpr std::uint64_t max_path = 4096;  // PATH_MAX of linux/limits.h
constexpr std::uint64_t max_whole_bytes = 4096;

}  // namespace

std::optional<std::span<const std::byte>> Walker::copy(const Place& place, std::uint64_t size) {
  if (place.kind == Place::Kind::reg) {
    return std::nullopt;
  }
  if (place.kind == Place::Kind::copied && size <= place.bytes.size()) {
    return place.bytes.first(size);
  }
  if (!state_.budget.affords(size)) {
    return std::nullopt;
  }
  const auto into = state_.scratch.take(size);
  if (memory_.read(place.address, into) != size) {
    return std::nullopt;
  }
  return into;
}

bool Walker::bytes(const Type& type, const Place& place, const Context& context) {
  if (type.style == spec::Style::mac) {
    return hardware_address(type, place, context);
  }
  if (type.style == spec::Style::inet6) {
    return inet6_address(type, place, {});
  }
  const auto n = length(type, context);
  if (!n) {
    return false;
  }
  if (type.style == spec::Style::terminated && place.kind == Place::Kind::remote) {
    return terminated_bytes(place, *n);
  }
  const bool whole = type.style == spec::Style::whole || type.style == spec::Style::bit_set;
  const auto shown = std::min<std::uint64_t>(*n, whole ? max_whole_bytes : setting_.options.string_limit);
  const ScratchGuard guard(state_.scratch);
  // One byte more than is shown has to be there, if there are more.
  const auto there = copy(place, std::min(*n, shown + 1));
  if (!there) {
    return false;
  }
  const auto data = there->first(static_cast<std::size_t>(shown));
  if (type.style == spec::Style::bit_set) {
    TextBuffer& words = state_.words;
    words.clear();
    format::append_bits(words, data);
    out_.symbol(words.view());
    return true;
  }
  render::StringForm form;
  form.cut = shown < *n || (type.hex && *n == type.max && holds_more(type, context));
  form.hex = type.hex;
  form.text = type.style == spec::Style::text && shown != 0 && data.back() == std::byte{0};
  out_.bytes(data, form);
  return true;
}

/// Bytes up to a NUL, or to their number.
bool Walker::terminated_bytes(const Place& place, std::uint64_t size) {
  const std::uint64_t limit = setting_.options.string_limit;
  const ScratchGuard guard(state_.scratch);
  const auto data = read_text(place.address, std::min(size, limit + 1));
  if (!data) {
    return false;
  }
  const auto found = static_cast<std::size_t>(std::find(data->begin(), data->end(), std::byte{0}) - data->begin());
  render::StringForm form;
  form.cut = found == data->size() && limit < size;
  out_.bytes(data->first(std::min<std::size_t>(found, limit)), form);
  return true;
}

/// Whether the tracee's length goes beyond the type's own limit.
bool Walker::holds_more(const Type& type, const Context& context) {
  const auto said = type.length != spec::none ? evaluate(type.length, context) : std::nullopt;
  return said && static_cast<std::uint64_t>(*said) > type.max;
}

bool Walker::hardware_address(const Type& type, const Place& place, const Context& context) {
  constexpr std::size_t max_hardware_address = 32;  // MAX_ADDR_LEN of linux/netdevice.h
  const ScratchGuard guard(state_.scratch);
  const auto raw = copy(place, std::min<std::uint64_t>(length(type, context).value_or(0), max_hardware_address));
  if (!raw) {
    return false;
  }
  TextBuffer& text = state_.words;
  text.clear();
  format::append_mac(text, *raw);
  out_.named_bytes({text.view()}, *raw);
  return true;
}

/// An IPv6 address by the call that makes one. In a field it names that: `inet_pton(AF_INET6, "::1", &sin6_addr)`,
/// unless -X puts the bytes before it.
bool Walker::inet6_address(const Type& type, const Place& place, std::string_view field) {
  constexpr std::size_t ipv6_size = 16;
  const ScratchGuard guard(state_.scratch);
  const auto raw = copy(place, ipv6_size);
  const bool names_field = !field.empty() && out_.constant_form() == format::ConstantForm::abbreviate && raw;
  if (!field.empty()) {
    const auto type_name = tables_.text(type.name);
    names_field ? out_.begin_bare_field(field, type_name) : out_.begin_field(field, type_name);
  }
  if (!raw) {
    return false;
  }
  std::array<char, INET6_ADDRSTRLEN> name{};
  inet_ntop(AF_INET6, raw->data(), name.data(), name.size());
  TextBuffer& text = state_.words;
  text.clear();
  text.append(names_field ? ", &" : "");
  text.append(names_field ? field : "");
  text.append(')');
  out_.named_bytes({"inet_pton(AF_INET6, ", name.data(), text.view()}, *raw);
  return true;
}

/// A port or an IPv4 address, whose bytes are in network order: `htons(80)`, `inet_addr("127.0.0.1")`.
void Walker::network_number(const Type& type, std::uint64_t bits) {
  const auto raw = std::as_bytes(std::span(&bits, 1)).first(scalar_width(type));  // on a little-endian machine
  if (type.style == spec::Style::inet4) {
    std::array<char, INET_ADDRSTRLEN> dotted{};
    inet_ntop(AF_INET, raw.data(), dotted.data(), dotted.size());
    out_.named_bytes({"inet_addr(", dotted.data(), ")"}, raw);
    return;
  }
  TextBuffer& text = state_.words;
  text.clear();
  text.append("htons(");
  text.decimal(std::uint64_t{ntohs(static_cast<std::uint16_t>(bits))});
  text.append(')');
  out_.named_bytes({text.view()}, raw);
}

bool Walker::text(const Type& type, const Place& place, const Context& context) {
  const bool is_whole = type.style == spec::Style::path || type.style == spec::Style::whole;
  // `all max N` is no field but a limit of its own.
  const bool is_limited = type.length != spec::none && tables_.exprs[type.length].op == spec::ExprOp::everything;
  const bool is_fixed = type.length != spec::none && !is_limited;
  std::uint64_t capacity = unlimited;
  if (type.length != spec::none) {
    const auto n = length(type, context);
    if (!n) {
      return false;
    }
    capacity = *n;
  }
  // One byte more than is shown tells whether the text goes on.
  const std::uint64_t limit = is_whole ? max_path - 1 : setting_.options.string_limit;
  const std::uint64_t wanted = std::min(capacity, limit + 1);
  const ScratchGuard guard(state_.scratch);
  std::span<const std::byte> data;
  if (place.kind == Place::Kind::copied && (is_fixed || wanted <= place.bytes.size())) {
    data = place.bytes.first(std::min<std::uint64_t>(wanted, place.bytes.size()));
  } else if (place.kind == Place::Kind::reg) {
    return false;
  } else {
    const auto text = read_text(place.address, wanted);
    if (!text) {
      return false;
    }
    data = *text;
  }
  const auto end = std::find(data.begin(), data.end(), std::byte{0});
  const auto found = static_cast<std::size_t>(end - data.begin());
  render::StringForm form;
  // A field that is full has no room for the NUL: its last character makes way for the dots.
  const bool is_full = is_fixed && end == data.end() && found == capacity && found != 0;
  form.cut = end == data.end() && (!is_fixed || found > limit || is_full);
  const auto shown = data.first(std::min<std::uint64_t>(is_full ? found - 1 : found, limit));
  out_.bytes(shown, form);
  if (type.style == spec::Style::path && !form.cut) {
    show_context(setting_.names.path_context(state_.entry.tid, state_.directory,
                                             {reinterpret_cast<const char*>(shown.data()), shown.size()}));
  }
  return true;
}

/// Up to `wanted` bytes, up to and including a NUL; nothing if neither is readable.
std::optional<std::span<const std::byte>> Walker::read_text(RemoteAddr address, std::uint64_t wanted) {
  const auto into = state_.scratch.take(wanted);
  std::uint64_t got = 0;
  std::uint64_t most = first_piece;  // then more and more: texts are short, and the budget counts what is asked for
  for (; got < wanted; most *= 2) {
    const RemoteAddr from = address + got;
    const auto piece = into.subspan(got, std::min({wanted - got, page_size - from.value() % page_size, most}));
    const auto read = memory_.read(from, piece);
    const auto fresh = piece.first(read);
    got += read;
    if (std::find(fresh.begin(), fresh.end(), std::byte{0}) != fresh.end()) {
      break;
    }
    if (read != piece.size()) {
      return std::nullopt;
    }
  }
  return into.first(got);
}

}  // namespace tracer::decode
