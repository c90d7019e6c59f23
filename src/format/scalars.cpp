#include "format/scalars.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cstdio>
#include <limits>

#include "format/bits.h"
#include "format/dates.h"
#include "format/error_names.h"
#include "format/escape.h"
#include "format/floating.h"
#include "spec/signal_names.h"

namespace tracer::format {
namespace {

using spec::Style;

// Fields of an ioctl request (linux/ioctl.h, the layout of x86 and Arm).
constexpr unsigned ioctl_type_shift = 8;
constexpr unsigned ioctl_size_shift = 16;
constexpr unsigned ioctl_direction_shift = 30;

/// Appends an octal number of at least three digits, including the leading 0: 000, 007, 0644.
void octal3(TextBuffer& text, std::uint64_t bits) {
  if (bits < 0100) {
    text.append('0');
    text.append(static_cast<char>('0' + (bits >> 3)));
    text.append(static_cast<char>('0' + (bits & 7)));
  } else {
    text.octal(bits);
  }
}

void append_guess(TextBuffer& text, std::int64_t value) {
  constexpr std::int64_t small = 10000;
  value >= -small&& value <= small ? text.decimal(value) : text.hex(static_cast<std::uint64_t>(value));
}

/// The number of digits behind the point of a second, if the unit of the style is such a part of it; else 0.
unsigned fraction_digits(Style style) {
  constexpr unsigned ticks = 2;  // USER_HZ is 100 for every program
  constexpr unsigned micro = 6;
  constexpr unsigned nano = 9;
  return style == Style::clock_ticks    ? ticks
         : style == Style::microseconds ? micro
         : style == Style::nanoseconds  ? nano
                                        : 0;
}

/// Appends ` /* 2.62 s */`, or nothing for 0.
void seconds_comment(TextBuffer& text, std::uint64_t bits, unsigned digits, bool is_signed) {
  if (bits == 0) {
    return;
  }
  constexpr std::uint64_t ten = 10;
  std::uint64_t second = 1;
  for (unsigned i = 0; i < digits; ++i) {
    second *= ten;
  }
  const bool negative = is_signed && static_cast<std::int64_t>(bits) < 0;
  const auto magnitude = negative ? 0 - bits : bits;
  text.append(negative ? " /* -" : " /* ");
  text.decimal(magnitude / second);
  text.append('.');
  text.decimal_padded(magnitude % second, digits);
  text.append(" s */");
}

/// Appends ` /* 1970-01-01T00:00:05+0000 */`.
void date_comment(TextBuffer& text, std::int64_t seconds) {
  const auto before = text.size();
  text.append(" /* ");
  if (append_date(text, seconds, 0, 0)) {
    text.append(" */");
  } else {
    text.truncate(before);
  }
}

std::string_view file_type(std::uint64_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "S_IFREG";
    case S_IFDIR:
      return "S_IFDIR";
    case S_IFCHR:
      return "S_IFCHR";
    case S_IFBLK:
      return "S_IFBLK";
    case S_IFIFO:
      return "S_IFIFO";
    case S_IFLNK:
      return "S_IFLNK";
    case S_IFSOCK:
      return "S_IFSOCK";
    default:
      return {};
  }
}

/// Appends file type, special bits and permissions by name. Returns false and appends nothing if the file type is
/// unknown.
bool symbolic_mode(TextBuffer& text, std::uint64_t mode) {
  const auto type = file_type(mode);
  if (type.empty() && (mode & S_IFMT) != 0) {
    return false;
  }
  const auto name = [&](std::string_view word) {
    text.append(word);
    text.append('|');
  };
  if (!type.empty()) {
    name(type);
  }
  if ((mode & S_ISUID) != 0) {
    name("S_ISUID");
  }
  if ((mode & S_ISGID) != 0) {
    name("S_ISGID");
  }
  if ((mode & S_ISVTX) != 0) {
    name("S_ISVTX");
  }
  octal3(text, mode & ~std::uint64_t{S_IFMT | S_ISUID | S_ISGID | S_ISVTX});
  return true;
}

void device(TextBuffer& text, std::uint64_t dev) {
  const auto major = ((dev >> 8) & 0xfff) | ((dev >> 32) & 0xfffff000);
  const auto minor = (dev & 0xff) | ((dev >> 12) & 0xffffff00);
  text.append("makedev(");
  text.hex(major);
  text.append(", ");
  text.hex(minor);
  text.append(')');
}

void ioctl_request(TextBuffer& text, std::uint64_t request) {
  static constexpr std::array<std::string_view, 4> directions = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
                                                                 "_IOC_READ|_IOC_WRITE"};
  text.append("_IOC(");
  text.append(directions[(request >> ioctl_direction_shift) & 3]);
  text.append(", ");
  text.hex((request >> ioctl_type_shift) & 0xff);
  text.append(", ");
  text.hex(request & 0xff);
  text.append(", ");
  text.hex((request >> ioctl_size_shift) & 0x3fff);
  text.append(')');
}

/// Appends a value that functions of stdio and ctype take and return: an unsigned char or EOF. Returns false if it is
/// neither.
bool character(TextBuffer& text, std::int64_t value) {
  if (value == EOF) {
    text.append("EOF");
    return true;
  }
  if (value < std::numeric_limits<signed char>::min() || value > std::numeric_limits<unsigned char>::max()) {
    return false;
  }
  const auto byte = static_cast<std::byte>(value);
  text.append('\'');
  if (byte == std::byte{'"'}) {
    text.append('"');
  } else if (byte == std::byte{'\''}) {
    text.append("\\'");
  } else {
    append_escaped(text, std::span(&byte, 1));
  }
  text.append('\'');
  return true;
}

/// Appends `-ENOENT` for the negative number of an error; returns false for other numbers.
bool negated_errno(TextBuffer& text, std::int64_t value) {
  constexpr std::int64_t most = 4095;  // MAX_ERRNO of the kernel
  const auto name = value < 0 && value >= -most ? error_name(static_cast<int>(-value)) : std::string_view{};
  text.append(name.empty() ? "" : "-");
  text.append(name);
  return !name.empty();
}

/// Appends the name of a value; returns false if it has none.
bool symbolic(TextBuffer& text, std::uint64_t bits, Style style) {
  constexpr std::int64_t at_fdcwd = -100;
  const auto append = [&](std::string_view name) {
    text.append(name);
    return !name.empty();
  };
  switch (style) {
    case Style::dirfd:
      return static_cast<std::int64_t>(bits) == at_fdcwd && append("AT_FDCWD");
    case Style::signal:
      return append(spec::signal_name(bits));
    case Style::handler:
      return append(bits == 0 ? "SIG_DFL" : bits == 1 ? "SIG_IGN" : bits + 1 == 0 ? "SIG_ERR" : "");
    case Style::mode:
      return symbolic_mode(text, bits);
    case Style::device:
      device(text, bits);
      return true;
    case Style::ioctl:
      ioctl_request(text, bits);
      return true;
    case Style::errno_value:
      return append(error_name(static_cast<int>(bits)));
    case Style::negated_errno:
      return negated_errno(text, static_cast<std::int64_t>(bits));
    case Style::character:
      return character(text, static_cast<std::int64_t>(bits));
    default:
      return false;
  }
}

bool is_symbolic(Style style) {
  switch (style) {
    case Style::dirfd:
    case Style::signal:
    case Style::handler:
    case Style::mode:
    case Style::device:
    case Style::ioctl:
    case Style::errno_value:
    case Style::negated_errno:
    case Style::character:
      return true;
    default:
      return false;
  }
}

void append_binary(TextBuffer& text, std::uint64_t bits) {
  if (bits == 0) {
    text.append('0');
    return;
  }
  text.append("0b");
  for (unsigned shift = static_cast<unsigned>(std::bit_width(bits)); shift-- != 0;) {
    text.append((bits >> shift & 1) != 0 ? '1' : '0');
  }
}

/// Appends the number of a value whose name is unknown or not wanted.
void number_of(TextBuffer& text, std::uint64_t bits, Style style, bool is_signed) {
  switch (style) {
    case Style::hex:
    case Style::device:
    case Style::ioctl:
    case Style::handler:
      text.hex(bits);
      break;
    case Style::octal:
    case Style::mode:
      octal3(text, bits);
      break;
    case Style::binary:
      append_binary(text, bits);
      break;
    case Style::address:
    case Style::code:
    case Style::tls:
      bits == 0 ? text.append("NULL") : text.hex(bits);
      break;
    case Style::pages:
      text.hex(bits * 4096);
      break;
    case Style::uid:
    case Style::gid:
      static_cast<std::uint32_t>(bits) == ~std::uint32_t{0} ? text.append("-1") : text.decimal(bits);
      break;
    case Style::clock_ticks:
    case Style::microseconds:
    case Style::nanoseconds:
      is_signed ? text.decimal(static_cast<std::int64_t>(bits)) : text.decimal(bits);
      seconds_comment(text, bits, fraction_digits(style), is_signed);
      break;
    case Style::time:
      text.decimal(static_cast<std::int64_t>(bits));
      if (bits != 0) {
        date_comment(text, static_cast<std::int64_t>(bits));
      }
      break;
    case Style::truth:
      text.append(bits == 0 ? "false" : "true");
      break;
    case Style::guess:
      append_guess(text, static_cast<std::int64_t>(bits));
      break;
    default:
      is_signed ? text.decimal(static_cast<std::int64_t>(bits)) : text.decimal(bits);
  }
}

}  // namespace

void append_number(TextBuffer& text, std::uint64_t bits, Style style, bool is_signed) {
  if (!symbolic(text, bits, style)) {
    number_of(text, bits, style, is_signed);
  }
}

void append_styled(TextBuffer& text, std::uint64_t bits, const spec::Type& type, ConstantForm form) {
  if (form != ConstantForm::abbreviate && is_symbolic(type.style)) {
    number_of(text, bits, type.style, type.is_signed);
    if (form == ConstantForm::verbose) {
      const auto before = text.size();
      text.append(" /* ");
      if (symbolic(text, bits, type.style)) {
        text.append(" */");
      } else {
        text.truncate(before);
      }
    }
    return;
  }
  if (form == ConstantForm::raw && fraction_digits(type.style) != 0) {
    number_of(text, bits, Style::number, type.is_signed);
    return;
  }
  const bool is_id = type.style == Style::uid || type.style == Style::gid;
  if (is_id && type.width == 2 && bits == 0xffff) {
    text.append("-1");  // calls with 16-bit ids take it as -1
    return;
  }
  if (type.style == Style::big_endian) {
    const auto swapped = type.width == 2   ? ntohs(static_cast<std::uint16_t>(bits))
                         : type.width == 4 ? ntohl(static_cast<std::uint32_t>(bits))
                                           : bits;
    text.append(type.width == 2 ? "htons(" : "htonl(");
    text.decimal(std::uint64_t{swapped});
    text.append(')');
    return;
  }
  if (type.style == Style::padded) {
    append_padded(text, bits, type.width);
    return;
  }
  if (type.style == Style::floating) {
    append_floating(text, bits, type.width);
    return;
  }
  if (type.style == Style::hex_floating) {
    append_hex_floating(text, bits, type.width);
    return;
  }
  if (type.style == Style::bit_set) {
    // The size of a long is not known here: the bits above it are 0.
    const unsigned width = type.width == 0 || type.width > sizeof bits ? sizeof bits : type.width;
    append_bits(text, std::as_bytes(std::span(&bits, 1)).first(width));
    return;
  }
  append_number(text, bits, type.style, type.is_signed);
}

void append_padded(TextBuffer& text, std::uint64_t bits, unsigned width) {
  constexpr unsigned prefix = 2;
  bits == 0 ? text.append(2 * width, '0') : text.hex_padded(bits, 2 * width - prefix);
}

spec::Type scalar_type(unsigned width, bool is_signed, Style style) {
  spec::Type type;
  type.width = static_cast<std::uint8_t>(width);
  type.is_signed = is_signed;
  type.style = style;
  return type;
}

bool is_signed_style(Style style) {
  switch (style) {
    case Style::hex:
    case Style::octal:
    case Style::binary:
    case Style::mode:
    case Style::address:
    case Style::code:
    case Style::floating:
    case Style::hex_floating:
    case Style::truth:
    case Style::bit_set:
    case Style::device:
    case Style::pages:
    case Style::tls:
    case Style::ioctl:
    case Style::big_endian:
    case Style::network:
    case Style::bluetooth:
    case Style::padded:
    case Style::port:
    case Style::inet4:
      return false;
    default:
      return true;
  }
}

bool is_plain_number(Style style) {
  switch (style) {
    case Style::number:
    case Style::character:
    case Style::hex:
    case Style::octal:
    case Style::binary:
    case Style::fd:
    case Style::tgid:
    case Style::tid:
    case Style::pgid:
    case Style::uid:
    case Style::gid:
    case Style::ifindex:
    case Style::pages:
    case Style::clock_ticks:
    case Style::microseconds:
    case Style::nanoseconds:
    case Style::time:
      return true;
    default:
      return false;
  }
}

}  // namespace tracer::format
