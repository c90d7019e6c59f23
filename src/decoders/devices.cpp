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

/// Shows a terminal's control characters by name: `[[VINTR]=0x3, …]`.
bool termios_cc(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 17> names = {
      "VINTR", "VQUIT", "VERASE", "VKILL",    "VEOF",     "VTIME",   "VMIN",   "VSWTC", "VSTART",
      "VSTOP", "VSUSP", "VEOL",   "VREPRINT", "VDISCARD", "VWERASE", "VLNEXT", "VEOL2"};
  std::array<std::byte, 32> raw{};
  const auto characters = std::span(raw).first(std::min<std::size_t>(context.size(), raw.size()));
  if (!context.copy(characters)) {
    return false;
  }
  auto& out = context.out();
  TextBuffer text;
  out.begin_array();
  for (std::size_t i = 0; i < characters.size(); ++i) {
    text.clear();
    text.append('[');
    i < names.size() ? text.append(names[i]) : text.decimal(std::uint64_t{i});
    text.append("]=");
    text.hex(std::to_integer<unsigned>(characters[i]));
    out.begin_element();
    out.symbol(text.view());
  }
  out.end_array();
  return true;
}

/// Shows as many bytes as the number of the request says (linux/ioctl.h), in hexadecimal.
bool request_bytes(decode::CustomContext& context) {
  constexpr unsigned size_shift = 16;
  constexpr std::uint64_t size_mask = 0x3fff;
  const auto size = static_cast<std::size_t>(context.argument("op").value_or(0) >> size_shift & size_mask);
  const auto shown = std::min<std::size_t>(size, context.options().string_limit);
  std::vector<std::byte> raw(size);
  if (context.memory().read(context.address(), raw) != size) {
    return false;
  }
  render::StringForm form;
  form.hex = true;
  form.cut = shown < size;
  context.out().bytes(std::span(raw).first(shown), form);
  return true;
}

/// Shows the version of the device mapper's interface: `[4, 0, 0]`. linux/dm-ioctl.h.
bool dm_version(decode::CustomContext& context) {
  constexpr std::uint64_t known = 4;
  std::array<std::byte, 4> major{};
  if (!context.copy(major) || !context.described()) {
    return false;
  }
  if (number_at(major, 0, major.size()) != known) {
    context.out().comment("unsupported device mapper ABI version");
  }
  return true;
}

namespace {

/// Shows a request of the device mapper as the first element of an array whose other elements are its data.
bool dm_request(decode::CustomContext& context, bool has_data) {
  constexpr std::uint64_t least = 312;  // bytes of struct dm_ioctl
  std::array<std::byte, 16> head{};
  if (!context.copy(head) || number_at(head, 12, 4) < least) {
    return false;
  }
  constexpr std::uint64_t known = 4;
  auto& out = context.out();
  out.begin_array();
  out.begin_element();
  if (!context.described()) {
    out.address(context.address());
  } else if (has_data && number_at(head, 0, 4) == known) {
    out.more();
  }
  out.end_array();
  return true;
}

}  // namespace

bool dm_data_in(decode::CustomContext& context) {
  return dm_request(context, context.outcome() == nullptr);
}

bool dm_data_out(decode::CustomContext& context) {
  return dm_request(context, context.outcome() != nullptr);
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

/// Shows a UUID: `01020304-0506-0708-090a-0b0c0d0e0f10`.
bool uuid(decode::CustomContext& context) {
  std::array<std::byte, 16> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  TextBuffer text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text.append('-');
    }
    text.append("0123456789abcdef"[std::to_integer<unsigned>(raw[i]) >> 4]);
    text.append("0123456789abcdef"[std::to_integer<unsigned>(raw[i]) & 0xf]);
  }
  context.out().symbol(text.view());
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

/// Shows a pixel format: `v4l2_fourcc('Y', 'U', 'Y', 'V') /* V4L2_PIX_FMT_YUYV */`.
bool fourcc(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
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

/// Shows a fraction of two 32-bit numbers: `1/30`.
bool fraction(decode::CustomContext& context) {
  std::array<std::byte, 8> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  TextBuffer text;
  text.decimal(number_at(raw, 0, 4));
  text.append('/');
  text.decimal(number_at(raw, 4, 4));
  context.out().symbol(text.view());
  return true;
}

namespace {

constexpr std::uint64_t timer_frequency = 1193182;  ///< PIT_TICK_RATE of the kernel, in Hz

/// Emits the comment `/* 1000 Hz, 100 ms */`, or `/* off */` if the speaker is silent.
void comment_sound(decode::CustomContext& context, std::uint64_t period, std::string_view rest) {
  TextBuffer text;
  if (period == 0 || period > timer_frequency) {
    text.append("off");
  } else {
    text.decimal(timer_frequency / period);
    text.append(" Hz");
    text.append(rest);
  }
  context.out().comment(text.view());
}

}  // namespace

/// Shows the argument of KIOCSOUND, the period of the tone in timer ticks: `1193 /* 1000 Hz */`. linux/kd.h.
bool sound(decode::CustomContext& context) {
  context.described(context.value());
  comment_sound(context, context.value(), "");
  return true;
}

/// Shows an entry of a console's map to Unicode, where a range stands for the glyphs of the font:
/// `UNI_DIRECT_BASE+0x41`. linux/kd.h.
bool unicode_place(decode::CustomContext& context) {
  constexpr std::uint64_t base = 0xf000;
  constexpr std::uint64_t mask = 0x1ff;
  std::array<std::byte, 2> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto number = number_at(raw, 0, raw.size());
  if ((number & ~mask) != base) {
    context.number(number, spec::Style::hex, raw.size(), false);
    return true;
  }
  TextBuffer text;
  text.append("UNI_DIRECT_BASE+");
  text.hex(number & mask);
  context.named(text.view(), number);
  return true;
}

/// Shows the argument of KDMKTONE, the period in the lower 16 bits and the duration in the upper ones:
/// `100<<16|1193 /* 1000 Hz, 100 ms */`.
bool tone(decode::CustomContext& context) {
  constexpr unsigned duration_shift = 16;
  const auto period = context.value() & 0xffff;
  const auto duration = context.value() >> duration_shift & 0xffff;
  if (duration == 0) {
    context.described(period);
    comment_sound(context, 0, "");
    return true;
  }
  TextBuffer text;
  text.decimal(duration);
  text.append("<<16|");
  text.decimal(period);
  context.out().symbol(text.view());
  text.clear();
  text.append(", ");
  text.decimal(duration);
  text.append(" ms");
  comment_sound(context, period, text.view());
  return true;
}

/// Shows thousandths with their percentage: `125 /* 12.5% */`.
bool per_mille(decode::CustomContext& context) {
  constexpr std::uint64_t ten = 10;
  constexpr std::uint64_t whole = 1000;
  std::array<std::byte, 8> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto number = number_at(raw, 0, raw.size());
  context.number(number, spec::Style::number, raw.size(), false);
  if (number > whole) {
    return true;
  }
  TextBuffer text;
  text.decimal(number / ten);
  text.append('.');
  text.decimal(number % ten);
  text.append('%');
  context.out().comment(text.view());
  return true;
}

/// Shows one of the three consecutive flag sets of BTRFS_IOC_GET_SUPPORTED_FEATURES with its meaning as a comment.
/// linux/btrfs.h.
bool btrfs_feature_use(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 3> uses = {"supported", "safe to set", "safe to clear"};
  const auto offset = context.address().value() - context.argument("argp").value_or(0);
  if (!context.described()) {
    return false;
  }
  if (const auto index = offset / context.size(); index < uses.size()) {
    context.out().comment(uses.at(index));
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
