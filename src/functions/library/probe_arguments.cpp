#include "functions/library/probe_arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tracer::functions::library {

namespace {

constexpr std::size_t max_arguments = 12;
constexpr std::size_t max_arguments_size = 4096;
constexpr std::size_t max_word_size = 64;

using Where = ProbeArgument::Where;

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '@';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char c) {
    if (peek() != c || rest_.empty()) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (take(' ')) {
    }
  }
  void skip_word() {
    while (!done() && peek() != ' ') {
      rest_.remove_prefix(1);
    }
  }
  std::string name() {
    std::size_t size = 0;
    while (size < rest_.size() && size < max_word_size && is_name(rest_[size])) {
      ++size;
    }
    std::string found(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return found;
  }
  /// Reads a decimal or hexadecimal number with an optional sign.
  std::optional<std::int64_t> number() {
    std::string_view digits = rest_;
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) {
      digits.remove_prefix(1);
    }
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      digits.remove_prefix(2);
      base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end == digits.data()) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }

 private:
  std::string_view rest_;
};

// ---------------------------------------------------------------------------------------------- x86

bool x86_register(Reader& reader, std::string& into) {
  if (!reader.take('%')) {
    return false;
  }
  into = reader.name();
  return !into.empty();
}

/// Parses a displacement such as `-20`, `8+counter` or `counter-4+4`.
bool x86_displacement(Reader& reader, ProbeArgument& argument) {
  bool first = true;
  while (!reader.done() && reader.peek() != '(' && reader.peek() != ' ') {
    if (const auto number = reader.number()) {
      argument.displacement = static_cast<std::int64_t>(static_cast<std::uint64_t>(argument.displacement) +
                                                        static_cast<std::uint64_t>(*number));
    } else {
      if (!first && !reader.take('+')) {
        return false;
      }
      const std::string name = reader.name();
      if (name.empty() || !argument.symbol.empty()) {
        return false;
      }
      argument.symbol = name;
    }
    first = false;
  }
  return true;
}

bool x86_operand(Reader& reader, ProbeArgument& argument) {
  if (reader.take('$')) {
    const auto value = reader.number();
    argument.where = Where::constant;
    argument.displacement = value.value_or(0);
    return value.has_value();
  }
  if (reader.peek() == '%') {
    std::string name;
    if (!x86_register(reader, name)) {
      return false;
    }
    if (!reader.take(':')) {
      argument.where = Where::in_register;
      argument.base = name;
      return true;
    }
    argument.segment = name;
  }
  argument.where = Where::in_memory;
  if (!x86_displacement(reader, argument)) {
    return false;
  }
  if (!reader.take('(')) {
    return true;
  }
  if (reader.peek() == '%' && !x86_register(reader, argument.base)) {
    return false;
  }
  if (reader.take(',')) {
    if (!x86_register(reader, argument.index)) {
      return false;
    }
    if (reader.take(',')) {
      const auto scale = reader.number();
      if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8)) {
        return false;
      }
      argument.scale = static_cast<unsigned>(*scale);
    }
  }
  return reader.take(')');
}

// ---------------------------------------------------------------------------------------------- Arm

bool arm_memory(Reader& reader, ProbeArgument& argument) {
  argument.where = Where::in_memory;
  argument.base = reader.name();
  if (argument.base.empty()) {
    return false;
  }
  if (reader.take(']')) {
    return true;
  }
  if (!reader.take(',')) {
    return false;
  }
  reader.skip_blanks();
  reader.take('#');
  if (const auto displacement = reader.number()) {
    argument.displacement = *displacement;
    return reader.take(']');
  }
  argument.index = reader.name();
  if (argument.index.empty()) {
    return false;
  }
  if (reader.take(',')) {
    reader.skip_blanks();
    const std::string extend = reader.name();
    argument.extend = extend == "sxtw"   ? ProbeArgument::Extend::sxtw
                      : extend == "uxtw" ? ProbeArgument::Extend::uxtw
                                         : ProbeArgument::Extend::none;
    if (extend != "lsl" && extend != "sxtw" && extend != "uxtw" && extend != "uxtx") {
      return false;
    }
    reader.skip_blanks();
    reader.take('#');
    if (reader.peek() != ']') {
      const auto shift = reader.number();
      if (!shift || *shift < 0 || *shift > 4) {
        return false;
      }
      argument.scale = 1U << *shift;
    }
  }
  return reader.take(']');
}

bool arm_operand(Reader& reader, ProbeArgument& argument) {
  if (reader.take('[')) {
    return arm_memory(reader, argument);
  }
  reader.take('#');
  if (const auto value = reader.number()) {
    argument.where = Where::constant;
    argument.displacement = *value;
    return true;
  }
  argument.where = Where::in_register;
  argument.base = reader.name();
  return !argument.base.empty();
}

/// Parses the size and type, such as `-4@` or `8f@`. Without them an argument has the size of a register.
void read_form(Reader& reader, ProbeArgument& argument, Abi abi) {
  argument.size = register_size(abi);
  Reader ahead = reader;
  const auto size = ahead.number();
  if (!size) {
    return;
  }
  const bool floating = ahead.take('f');
  if (!ahead.take('@')) {
    return;
  }
  argument.is_signed = *size < 0;
  argument.is_floating = floating;
  argument.size = 0;
  for (const unsigned bytes : {1U, 2U, 4U, 8U}) {
    if (*size == bytes || *size == -std::int64_t{bytes}) {
      argument.size = bytes;
    }
  }
  reader = ahead;
}

}  // namespace

std::vector<ProbeArgument> parse_probe_arguments(std::string_view text, Abi abi) {
  Reader reader(text.substr(0, max_arguments_size));
  const bool arm = abi == Abi::aarch64 || abi == Abi::arm;
  std::vector<ProbeArgument> arguments;
  reader.skip_blanks();
  while (!reader.done() && arguments.size() < max_arguments) {
    ProbeArgument argument;
    read_form(reader, argument, abi);
    const bool read = arm ? arm_operand(reader, argument) : x86_operand(reader, argument);
    if (!read || argument.size == 0 || (!reader.done() && reader.peek() != ' ')) {
      argument.where = Where::unknown;
      reader.skip_word();
    }
    arguments.push_back(std::move(argument));
    reader.skip_blanks();
  }
  return arguments;
}

}  // namespace tracer::functions::library
