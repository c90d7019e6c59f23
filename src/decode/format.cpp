#include "decode/format.h"

#include <algorithm>
#include <string_view>

#include "format/scalars.h"

namespace tracer::decode {

using spec::Style;
using spec::ValueClass;
using Kind = FormatArgument::Kind;

namespace {

/// The modifier of a conversion (hh, h, l, ll, …) as a width in bytes; `long_double` for L.
struct Length {
  std::uint8_t width = 4;
  bool is_long = false;  ///< l: of a character or a text the wide kind, of a number with a fraction for scanf a double
  bool long_double = false;
};

class Reader {
 public:
  Reader(std::span<const std::byte> format, Abi abi)
      : text_(reinterpret_cast<const char*>(format.data()), format.size()), abi_(abi) {}

  /// Goes on to behind the next `%` that begins a conversion; false at the end.
  bool next_conversion() {
    for (;;) {
      const auto percent = text_.find('%', at_);
      if (percent == std::string_view::npos || percent + 1 >= text_.size()) {
        return false;
      }
      at_ = percent + 1;
      if (text_[at_] != '%') {
        return true;
      }
      ++at_;
    }
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char take() {
    const char c = peek();
    at_ += at_ < text_.size() ? 1 : 0;
    return c;
  }
  bool accept(char c) {
    const bool here = at_ < text_.size() && text_[at_] == c;
    at_ += here ? 1 : 0;
    return here;
  }
  void skip_any(std::string_view of) { at_ = std::min(text_.find_first_not_of(of, at_), text_.size()); }

  std::optional<std::uint32_t> number() {
    constexpr std::uint32_t most = 1U << 30;
    if (peek() < '0' || peek() > '9') {
      return std::nullopt;
    }
    std::uint32_t n = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      n = std::min(n, most / 10) * 10 + static_cast<std::uint32_t>(peek() - '0');
    }
    return n;
  }

  /// `2$`: the number of the argument that is meant.
  std::optional<std::uint32_t> position() {
    const auto start = at_;
    const auto n = number();
    if (n && *n != 0 && accept('$')) {
      return n;
    }
    at_ = start;
    return std::nullopt;
  }

  Length length() {
    const auto word = static_cast<std::uint8_t>(word_size(abi_));
    switch (peek()) {
      case 'h':
        ++at_;
        return {accept('h') ? std::uint8_t{1} : std::uint8_t{2}};
      case 'l':
        ++at_;
        return accept('l') ? Length{8} : Length{word, true};
      case 'q':
      case 'j':
        ++at_;
        return {8};
      case 'z':
      case 'Z':
      case 't':
        ++at_;
        return {word};
      case 'L':
        ++at_;
        return {8, false, true};
      case 'w':
        ++at_;
        return {width_of_bits()};
      default:
        return {};
    }
  }

  /// Behind the `w` of C23: `32` for int32_t, `f32` for int_fast32_t.
  std::uint8_t width_of_bits() {
    const bool is_fast = accept('f');
    const std::uint32_t bits = number().value_or(0);
    const bool is_known = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    return is_fast && (bits == 16 || bits == 32) ? static_cast<std::uint8_t>(word_size(abi_))
           : is_known                            ? static_cast<std::uint8_t>(bits / 8)
                                                 : std::uint8_t{4};
  }

  /// Behind the `]` of a set of scanf.
  void skip_set() {
    accept('^');
    accept(']');
    at_ = std::min(text_.find(']', at_), text_.size());
    accept(']');
  }

  [[nodiscard]] Abi abi() const { return abi_; }

 private:
  std::string_view text_;
  Abi abi_;
  std::size_t at_ = 0;
};

/// Collects arguments, in order or by number.
class Arguments {
 public:
  explicit Arguments(std::size_t most) : most_(most) {}

  /// Where it went; nothing if there is no room.
  std::optional<std::size_t> add(std::optional<std::uint32_t> position, const FormatArgument& argument) {
    const std::size_t index = position ? *position - 1 : all_.size();
    if (index >= most_) {
      return std::nullopt;
    }
    if (index >= all_.size()) {
      all_.resize(index + 1, unknown());  // a number that no conversion names is an int, for want of better knowledge
    }
    all_[index] = argument;
    return index;
  }

  std::vector<FormatArgument> take() { return std::move(all_); }

 private:
  static FormatArgument unknown() {
    FormatArgument argument;
    argument.type = format::scalar_type(4, true, Style::number);
    return argument;
  }

  std::vector<FormatArgument> all_;
  std::size_t most_;
};

FormatArgument integer(const Length& length, bool is_signed, Style style, Abi abi) {
  FormatArgument argument;
  argument.type = format::scalar_type(length.width, is_signed, style);
  argument.value_class = length.width > register_size(abi) ? ValueClass::integer64 : ValueClass::integer;
  return argument;
}

FormatArgument fraction(std::uint8_t width) {
  FormatArgument argument;
  argument.type = format::scalar_type(width, false, Style::floating);
  argument.value_class = width == spec::long_double_wide ? ValueClass::extended : ValueClass::floating;
  return argument;
}

FormatArgument pointer_to(Kind kind) {
  FormatArgument argument;
  argument.kind = kind;
  return argument;
}

FormatArgument address() {
  FormatArgument argument;
  argument.type = format::scalar_type(spec::word_wide, false, Style::address);
  return argument;
}

/// What printf and scanf have in common; nothing for a letter that is no conversion.
std::optional<FormatArgument> conversion(char letter, const Length& length, Abi abi) {
  switch (letter) {
    case 'd':
    case 'i':
      return integer(length, true, Style::number, abi);
    case 'u':
      return integer(length, false, Style::number, abi);
    case 'o':
      return integer(length, false, Style::octal, abi);
    case 'x':
    case 'X':
      return integer(length, false, Style::hex, abi);
    case 'b':
    case 'B':
      return integer(length, false, Style::binary, abi);
    case 'p':
      return address();
    case 's':
      return pointer_to(length.is_long ? Kind::wide_text : Kind::text);
    case 'S':
      return pointer_to(Kind::wide_text);
    case 'n': {
      auto argument = integer(length, true, Style::number, abi);
      argument.kind = Kind::count;
      argument.value_class = ValueClass::integer;
      return argument;
    }
    default:
      return std::nullopt;
  }
}

bool is_fraction(char letter) {
  return std::string_view("eEfFgGaA").find(letter) != std::string_view::npos;
}

/// `*` or `*3$`, which takes an argument, or a number, which does not.
void width_of_printf(Reader& in, Arguments& arguments, FormatArgument* limited) {
  if (in.accept('*')) {
    const auto position = in.position();
    const auto index = arguments.add(position, integer({}, true, Style::number, in.abi()));
    if (limited != nullptr) {
      limited->limit_from = index;
    }
    return;
  }
  const auto n = in.number();
  if (limited != nullptr) {
    limited->limit = n.value_or(0);
  }
}

}  // namespace

std::vector<FormatArgument> printf_arguments(std::span<const std::byte> format, Abi abi, std::size_t most) {
  Reader in(format, abi);
  Arguments arguments(most);
  while (in.next_conversion()) {
    const auto position = in.position();
    in.skip_any("-+ #0'I");
    width_of_printf(in, arguments, nullptr);
    FormatArgument limited;
    if (in.accept('.')) {
      width_of_printf(in, arguments, &limited);
    }
    const Length length = in.length();
    const char letter = in.take();
    auto argument = conversion(letter, length, abi);
    if (letter == 'c' || letter == 'C') {
      const bool is_wide = length.is_long || letter == 'C';
      argument = is_wide ? integer({}, true, Style::character, abi)
                         : integer({1}, false, Style::character, abi);  // printf(3) converts it to unsigned char
    } else if (is_fraction(letter)) {
      argument = fraction(length.long_double ? spec::long_double_wide : std::uint8_t{8});
    }
    if (argument) {
      argument->limit = limited.limit;
      argument->limit_from = limited.limit_from;
      arguments.add(position, *argument);
    }
  }
  return arguments.take();
}

std::vector<FormatArgument> scanf_arguments(std::span<const std::byte> format, Abi abi, std::size_t most) {
  Reader in(format, abi);
  Arguments arguments(most);
  while (in.next_conversion()) {
    const auto position = in.position();
    const bool is_dropped = in.accept('*');
    in.skip_any("'I");
    const auto width = in.number();
    const bool is_allocated = in.accept('m');
    const Length length = in.length();
    const char letter = in.take();
    auto argument = conversion(letter, length, abi);
    if (letter == '[') {
      in.skip_set();
      argument = pointer_to(length.is_long ? Kind::wide_text : Kind::text);
    } else if (letter == 'c' || letter == 'C') {
      argument = pointer_to(length.is_long || letter == 'C' ? Kind::wide_text : Kind::text);
      argument->limit = width.value_or(1);
    } else if (is_fraction(letter)) {
      argument = fraction(length.long_double ? spec::long_double_wide
                          : length.is_long   ? std::uint8_t{8}
                                             : std::uint8_t{4});
    }
    if (argument && !is_dropped) {
      argument->value_class = ValueClass::integer;
      argument->stored = true;
      argument->is_allocated = is_allocated && argument->kind != Kind::scalar;
      arguments.add(position, *argument);
    }
  }
  return arguments.take();
}

}  // namespace tracer::decode
