// Buffers and strings.
#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "decode/values.h"
#include "decode/wide_text.h"
#include "format/bits.h"
#include "format/escape.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Type;

namespace {

constexpr std::uint64_t max_path = 4096;  // PATH_MAX of linux/limits.h
constexpr std::uint64_t max_whole_bytes = 4096;

}  // namespace

bool StringDecoder::bytes(const Type& type, const Place& place, const Context& context) const {
  if (type.style == spec::Style::mac) {
    return hardware_address(type, place, context);
  }
  if (type.style == spec::Style::inet6) {
    return inet6_address(type, place, {});
  }
  const auto n = evaluator_.length(type, context);
  if (!n) {
    return false;
  }
  if (type.style == spec::Style::uuid) {
    return uuid(place, *n);
  }
  if (type.style == spec::Style::padded) {
    return padded_bytes(place, *n);
  }
  if (type.style == spec::Style::terminated && place.kind == Place::Kind::remote) {
    return terminated_bytes(place, *n);
  }
  const bool whole = type.style == spec::Style::whole || type.style == spec::Style::bit_set;
  const auto shown = std::min<std::uint64_t>(*n, whole ? max_whole_bytes : session_.setting.options.string_limit);
  const ScratchGuard guard(state_.scratch);
  // One byte more than is shown has to be there, if there are more.
  const auto there = session_.copy(place, std::min(*n, shown + 1));
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
  form.cut = shown < *n || (type.hex && *n == type.max && evaluator_.says_more(type, context));
  form.hex = type.hex;
  form.text = type.style == spec::Style::text && shown != 0 && data.back() == std::byte{0};
  out_.bytes(data, form);
  return true;
}

/// A UUID: `01020304-0506-0708-090a-0b0c0d0e0f10`.
bool StringDecoder::uuid(const Place& place, std::uint64_t size) const {
  constexpr std::uint64_t uuid_size = 16;
  const ScratchGuard guard(state_.scratch);
  const auto raw = session_.copy(place, std::min(size, uuid_size));
  if (!raw) {
    return false;
  }
  TextBuffer& text = state_.words;
  text.clear();
  for (std::size_t i = 0; i < raw->size(); ++i) {
    text.append(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
    text.append("0123456789abcdef"[std::to_integer<unsigned>((*raw)[i]) >> 4]);
    text.append("0123456789abcdef"[std::to_integer<unsigned>((*raw)[i]) & 0xf]);
  }
  out_.symbol(text.view());
  return true;
}

/// Each byte as a number of its own: `[0x1, 0xff, 00]`.
bool StringDecoder::padded_bytes(const Place& place, std::uint64_t size) const {
  const ScratchGuard guard(state_.scratch);
  const auto raw = session_.copy(place, std::min(size, max_whole_bytes));
  if (!raw) {
    return false;
  }
  TextBuffer& text = state_.words;
  out_.begin_array();
  for (const std::byte b : *raw) {
    text.clear();
    format::append_padded(text, std::to_integer<unsigned>(b), 1);
    out_.begin_element();
    out_.symbol(text.view());
  }
  out_.end_array();
  return true;
}

/// Text of `size` bytes, the last one of which is a NUL. Without it it counts as truncated: `"lo"...`.
bool StringDecoder::text_and_nul(const Place& place, std::uint64_t size) const {
  const std::uint64_t limit = std::min<std::uint64_t>(size, session_.setting.options.string_limit);
  const ScratchGuard guard(state_.scratch);
  const auto text = session_.copy(place, std::min(size, limit + 1));
  const auto last = size != 0 ? session_.copy(place.at(size - 1), 1) : std::nullopt;
  if (!text || !last) {
    return false;
  }
  // The NUL may also be the last byte that fits: strace leaves it out there, and the dots.
  const bool fits = limit == size || limit == 0 || (*text)[static_cast<std::size_t>(limit - 1)] != std::byte{0};
  const bool ends = !fits || last->front() == std::byte{0};
  const auto length = (fits ? size : limit) - (ends ? 1 : 0);
  render::StringForm form;
  form.cut = !ends || length > limit;
  out_.bytes(text->first(static_cast<std::size_t>(std::min(length, limit))), form);
  return true;
}

/// Text up to its first NUL, which has to be within `size` bytes; else it counts as truncated. What lies behind the NUL
/// need not be there.
bool StringDecoder::text_to_nul(const Place& place, std::uint64_t size) const {
  const std::uint64_t limit = session_.setting.options.string_limit;
  const auto wanted = static_cast<std::size_t>(std::min(size, limit + 1));
  if (wanted == 0 && place.kind == Place::Kind::remote) {
    out_.bytes({}, {});
    return true;
  }
  const ScratchGuard guard(state_.scratch);
  std::optional<std::span<const std::byte>> text;
  if (place.kind == Place::Kind::copied && place.bytes.size() >= wanted) {
    text = place.bytes.first(wanted);
  } else {
    text = session_.read_text(place.address, wanted);
  }
  if (!text || wanted == 0) {
    return false;
  }
  const auto length = static_cast<std::size_t>(std::find(text->begin(), text->end(), std::byte{0}) - text->begin());
  render::StringForm form;
  form.cut = length == wanted;
  out_.bytes(text->first(std::min<std::size_t>(length, limit)), form);
  return true;
}

/// Bytes up to a NUL, or to their number.
bool StringDecoder::terminated_bytes(const Place& place, std::uint64_t size) const {
  const std::uint64_t limit = session_.setting.options.string_limit;
  const ScratchGuard guard(state_.scratch);
  const auto data = session_.read_text(place.address, std::min(size, limit + 1));
  if (!data) {
    return false;
  }
  const auto found = static_cast<std::size_t>(std::find(data->begin(), data->end(), std::byte{0}) - data->begin());
  render::StringForm form;
  form.cut = found == data->size() && limit < size;
  out_.bytes(data->first(std::min<std::size_t>(found, limit)), form);
  return true;
}

bool StringDecoder::hardware_address(const Type& type, const Place& place, const Context& context) const {
  constexpr std::size_t max_hardware_address = 32;  // MAX_ADDR_LEN of linux/netdevice.h
  const ScratchGuard guard(state_.scratch);
  const auto raw =
      session_.copy(place, std::min<std::uint64_t>(evaluator_.length(type, context).value_or(0), max_hardware_address));
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
bool StringDecoder::inet6_address(const Type& type, const Place& place, std::string_view field) const {
  constexpr std::size_t ipv6_size = 16;
  const ScratchGuard guard(state_.scratch);
  const auto raw = session_.copy(place, ipv6_size);
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

bool StringDecoder::text(const Type& type, const Place& place, const Context& context) const {
  // `all max N` is no field but a limit of its own.
  const bool is_limited = type.length != spec::none && tables_.exprs[type.length].op == spec::ExprOp::everything;
  const bool is_fixed = type.length != spec::none && !is_limited;
  const bool is_whole = type.style == spec::Style::path || type.style == spec::Style::whole || is_fixed;
  std::uint64_t capacity = unlimited;
  if (type.length != spec::none) {
    const auto n = evaluator_.length(type, context);
    if (!n) {
      return false;
    }
    capacity = is_fixed ? std::min(*n, context.remaining) : *n;
  }
  if (is_fixed && type.style == spec::Style::text) {
    return text_and_nul(place, capacity);
  }
  if (is_fixed && type.style == spec::Style::terminated) {
    return text_to_nul(place, capacity);
  }
  // One byte more than is shown decides whether the text goes on.
  const std::uint64_t limit = is_whole ? max_path - 1 : session_.setting.options.string_limit;
  const std::uint64_t wanted = std::min(capacity, limit + 1);
  const ScratchGuard guard(state_.scratch);
  std::span<const std::byte> data;
  // Behind a structure whose size is known a field of another size may begin in its padding.
  const bool is_beyond = is_fixed && context.remaining == unlimited && wanted > place.bytes.size();
  if (place.kind == Place::Kind::copied && ((is_fixed && !is_beyond) || wanted <= place.bytes.size())) {
    data = place.bytes.first(std::min<std::uint64_t>(wanted, place.bytes.size()));
  } else if (place.kind == Place::Kind::reg) {
    return false;
  } else {
    const auto text = session_.read_text(place.address, wanted);
    if (!text) {
      return false;
    }
    data = *text;
  }
  const auto end = std::find(data.begin(), data.end(), std::byte{0});
  const auto found = static_cast<std::size_t>(end - data.begin());
  render::StringForm form;
  // A field that is full has no room for the NUL: its last character makes way for the dots.
  // A path of no bytes has no NUL either.
  const bool is_path = type.style == spec::Style::path;
  const bool is_full = is_fixed && end == data.end() && found == capacity && (found != 0 || is_path);
  form.cut = end == data.end() && (!is_fixed || found > limit || is_full);
  const auto shown = data.first(std::min<std::uint64_t>(is_full && found != 0 ? found - 1 : found, limit));
  out_.bytes(shown, form);
  if (type.style == spec::Style::path && !form.cut) {
    values_.numbers().show_context(session_.setting.names.kernel.path_context(
        session_.task(), state_.directory, {reinterpret_cast<const char*>(shown.data()), shown.size()}));
  }
  return true;
}

/// Text up to a NUL, of which the function itself looks at `most` bytes only.
bool StringDecoder::limited_text(RemoteAddr address, std::uint64_t most) const {
  const std::uint64_t shown = std::min<std::uint64_t>(most, session_.setting.options.string_limit);
  const ScratchGuard guard(state_.scratch);
  const auto data = session_.read_text(address, std::min(most, shown + 1));
  if (!data) {
    return false;
  }
  const auto end = std::find(data->begin(), data->end(), std::byte{0});
  const auto found = static_cast<std::uint64_t>(end - data->begin());
  render::StringForm form;
  form.cut = found > shown;
  out_.bytes(data->first(std::min(found, shown)), form);
  return true;
}

bool StringDecoder::limited_wide_text(RemoteAddr address, std::uint64_t most) const {
  const auto shown = std::min<std::uint64_t>({most, session_.setting.options.string_limit, most_wide_characters});
  const ScratchGuard guard(state_.scratch);
  const auto room = state_.scratch.take(4 * static_cast<std::size_t>(shown));
  const auto text = read_wide_text(session_.memory, address, most, room);
  if (text) {
    render::StringForm form;
    form.cut = text->is_cut;
    form.utf8 = true;
    out_.bytes(room.first(text->size), form);
  }
  return text.has_value();
}

}  // namespace tracer::decode
