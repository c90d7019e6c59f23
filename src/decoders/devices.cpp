// Terminals, the device mapper, network devices, cameras, speakers, and other devices with ioctl(2) requests.
#include <algorithm>
#include <array>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/escape.h"

namespace tracer::decoders {

/// Shows a terminal's flags: first the bit fields, each followed by `|`, then the single flags, if any.
bool termios_flags(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  if (!context.copy(std::span(raw).first(size))) {
    return false;
  }
  const auto bits = number_at(raw, 0, 4);
  const auto form = context.out().constant_form();
  const auto count = [](std::string_view text) { return std::count(text.begin(), text.end(), '|'); };
  TextBuffer fields;
  context.append_constant(fields, 0, format::ConstantForm::abbreviate);
  const bool has_fields = fields.view() != "0";
  TextBuffer text;
  if (has_fields || bits != 0) {
    context.append_constant(text, bits, form);
  }
  // An input speed that differs from the output speed adds one field.
  const auto extra = text.view().find("<<") != std::string_view::npos ? 1 : 0;
  if (has_fields && count(text.view()) == count(fields.view()) + extra) {
    text.append('|');
  }
  context.out().symbol(text.view());
  return true;
}

/// Shows as many bytes as the number of the request says (linux/ioctl.h), in hexadecimal.
bool request_bytes(decode::CustomContext& context) {
  constexpr unsigned size_shift = 16;
  constexpr std::uint64_t size_mask = 0x3fff;
  const auto size = static_cast<std::size_t>(context.argument("op").value_or(0) >> size_shift & size_mask);
  const auto shown = std::min<std::size_t>(size, context.options().string_limit);
  // One byte more than is shown has to be there, if there are more.
  std::vector<std::byte> raw(std::min(size, shown + 1));
  if (context.memory().read(context.address(), raw) != raw.size()) {
    return false;
  }
  render::StringForm form;
  form.hex = true;
  form.cut = shown < size;
  context.out().bytes(std::span(raw).first(shown), form);
  return true;
}

namespace {

/// Returns the size of a hardware address by its type (ARPHRD_… of linux/if_arp.h), as the kernel's drivers set it.
constexpr std::size_t hardware_address_size(std::uint64_t type) {
  switch (type) {
    case 7:
    case 290:
    case 512:
    case 773:
    case 820:
    case 821:
    case 822:  // ARCNET, MCTP, PPP, LOCALTLK, PHONET, CAIF
      return 1;
    case 15:  // DLCI
      return 2;
    case 768:
    case 776:
    case 777:
    case 778:
    case 779:
    case 783:  // tunnels over IPv4, IRDA
      return 4;
    case 270:
    case 271:  // ROSE, X25
      return 5;
    case 1:
    case 6:
    case 772:
    case 774:
    case 780:
    case 801:
    case 802:
    case 803:  // ETHER and its like, LOOPBACK, FDDI
      return 6;
    case 0:
    case 3:  // NETROM, AX25
      return 7;
    case 27:
    case 804:
    case 805:
    case 825:  // EUI64, IEEE802154, 6LOWPAN
      return 8;
    default:
      return 14;
  }
}

}  // namespace

/// Shows a hardware address, whose type precedes it in memory and determines its size. Shows all 14 bytes if the type
/// is unknown.
bool hwaddr_data(decode::CustomContext& context) {
  std::array<std::byte, 2> type{};
  std::array<std::byte, 14> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  static_cast<void>(context.memory().read(context.address() + (0 - type.size()), type));
  TextBuffer text;
  format::append_mac(text, std::span(raw).first(hardware_address_size(number_at(type, 0, 2))));
  context.out().named_bytes({text.view()}, raw);
  return true;
}

void append_character(TextBuffer& text, unsigned character, bool by_name) {
  const std::string_view named = by_name ? "\t\n\v\f\r" : "";
  text.append('\'');
  if (const auto found = named.find(static_cast<char>(character)); found != std::string_view::npos) {
    text.append('\\');
    text.append("tnvfr"[found]);
  } else if (character == '\'' || character == '\\') {
    text.append('\\');
    text.append(static_cast<char>(character));
  } else if (character >= ' ' && character < 0x7f) {
    text.append(static_cast<char>(character));
  } else {
    text.append("\\x");
    text.append("0123456789abcdef"[character >> 4 & 0xf]);
    text.append("0123456789abcdef"[character & 0xf]);
  }
  text.append('\'');
}

/// Shows the lowest byte of a number as a character: `'S'`.
bool character(decode::CustomContext& context) {
  std::array<std::byte, 1> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  TextBuffer text;
  append_character(text, std::to_integer<unsigned>(raw[0]));
  context.out().symbol(text.view());
  return true;
}

namespace {

/// Appends a video control's name, or its class if only that is known: `V4L2_CTRL_CLASS_USER+0x1`.
void append_control(const decode::CustomContext& context, TextBuffer& text, std::uint64_t id) {
  constexpr std::uint64_t in_class = 0xffff;
  const auto form = context.out().constant_form();
  const auto control_class = context.constant_name("v4l2_ctrl_class", id & ~in_class);
  if (control_class.empty() || !context.constant_name("v4l2_cid", id).empty()) {
    context.append_constant(text, "v4l2_cid", id, form);
    return;
  }
  TextBuffer name;
  name.append(control_class);
  name.append('+');
  name.hex(id & in_class);
  append_named(text, id, name.view(), {}, form);
}

}  // namespace

/// Shows a video control: `V4L2_CID_GAIN`, `V4L2_CTRL_CLASS_USER+0x1`. With flags before it where they ask for the next
/// one: `V4L2_CTRL_FLAG_NEXT_CTRL|V4L2_CID_GAIN`.
bool control_id(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto bits = number_at(raw, 0, 4);
  constexpr std::uint64_t next = 0xc0000000;
  const auto flags = context.described_name() == "v4l2_queried" ? bits & next : 0;
  TextBuffer text;
  if (flags != 0 && context.out().constant_form() == format::ConstantForm::raw) {
    text.hex(bits);
  } else {
    if (flags != 0) {
      context.append_constant(text, "v4l2_next_control", flags, context.out().constant_form());
      text.append('|');
    }
    append_control(context, text, bits & ~flags);
  }
  context.out().symbol(text.view());
  return true;
}

/// Shows a pixel format: `v4l2_fourcc('Y', 'U', 'Y', 'V') /* V4L2_PIX_FMT_YUYV */`.
bool fourcc(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  if (context.out().constant_form() == format::ConstantForm::raw) {
    context.number(number_at(raw, 0, 4), spec::Style::hex, 4, false);
    return true;
  }
  TextBuffer text;
  text.append("v4l2_fourcc(");
  for (std::size_t i = 0; i < raw.size(); ++i) {
    text.append(i == 0 ? "" : ", ");
    append_character(text, std::to_integer<unsigned>(raw[i]), false);
  }
  text.append(')');
  context.out().symbol(text.view());
  if (const auto name = context.constant_name("v4l2_pixel_format", number_at(raw, 0, 4)); !name.empty()) {
    context.out().comment(name);
  }
  return true;
}

/// Shows an array whose size the request encodes (_IOC_SIZE of asm-generic/ioctl.h): `[{…}, {…}]`.
bool request_elements(decode::CustomContext& context) {
  constexpr unsigned size_shift = 16;
  constexpr std::uint64_t size_mask = 0x3fff;
  const auto bytes = context.argument("op").value_or(0) >> size_shift & size_mask;
  const auto count = context.size() != 0 ? bytes / context.size() : 0;
  std::byte first{};
  if (context.memory().read(context.address(), std::span(&first, 1)) != 1) {
    return false;
  }
  auto& out = context.out();
  out.begin_array();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!context.spend()) {
      out.more();
      break;
    }
    const RemoteAddr element = context.address() + i * context.size();
    out.begin_element();
    if (!context.described_at(element)) {
      out.address(element);
    }
  }
  out.end_array();
  return true;
}

/// Shows the memory at argp after the call, for a note after the result.
bool left_behind(decode::CustomContext& context) {
  return context.described_at(RemoteAddr{context.argument("argp").value_or(0)});
}

}  // namespace tracer::decoders
