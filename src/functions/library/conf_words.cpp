// Parses the words, numbers and expressions of ltrace prototype files.
#include <fmt/core.h>
#include <algorithm>

#include "base/number_text.h"
#include "functions/library/conf_reader.h"

namespace tracer::functions::library {
namespace {

constexpr std::size_t most_shown = 40;  // characters of a line in a message

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

}  // namespace

void ConfReader::skip_blanks() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) {
    rest_.remove_prefix(1);
  }
}

bool ConfReader::take(char c) {
  skip_blanks();
  if (rest_.empty() || rest_.front() != c) {
    return false;
  }
  rest_.remove_prefix(1);
  return true;
}

std::string_view ConfReader::word() {
  skip_blanks();
  std::size_t size = 0;
  while (size < rest_.size() && is_word_character(rest_[size])) {
    ++size;
  }
  const auto found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

std::nullopt_t ConfReader::fail(std::string_view what) {
  return refuse(fmt::format("{} around '{}'", what, rest_.substr(0, most_shown)));
}

std::nullopt_t ConfReader::refuse(std::string what) {
  if (error_.empty()) {
    error_ = std::move(what);
  }
  return std::nullopt;
}

bool ConfReader::expect(char c) {
  const bool there = take(c);
  if (!there) {
    refuse(rest_.empty() ? fmt::format("expected '{}'", c) : fmt::format("expected '{}', got '{}'", c, rest_.front()));
  }
  return there;
}

/// Whether this is the next character that is no blank.
bool ConfReader::is_at(char c) {
  skip_blanks();
  return rest_.starts_with(c);
}

/// Takes `)` behind parameters.
bool ConfReader::expect_end_of_list() {
  const bool there = take(')');
  if (!there) {
    refuse(fmt::format("syntax error around \"{}\"", rest_.substr(0, most_shown)));
  }
  return there;
}

std::string_view ConfReader::identifier() {
  const auto name = word();
  if (name.empty() || is_digit(name.front())) {
    refuse("bad identifier");
    return {};
  }
  return name;
}

std::optional<std::int64_t> ConfReader::integer() {
  skip_blanks();
  const bool negative = take('-');
  auto digits = word();
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    base = 16;
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
  }
  const auto value = whole_number<std::int64_t>(digits, base);
  if (!value) {
    return refuse("bad number");
  }
  return negative ? -*value : *value;
}

/// Parses the number of elements of an array. Sets `ends_at_zero` for `zero`, with which a zero ends the array earlier.
std::optional<std::string> ConfReader::expression(bool& ends_at_zero) {
  ends_at_zero = false;
  skip_blanks();
  const auto before = rest_;
  const std::string name(word());
  if (name == "zero") {
    ends_at_zero = true;
    if (!take('(')) {
      return "until 0";
    }
    bool inner = false;
    auto limit = expression(inner);
    if (!limit || inner || !take(')')) {
      return fail("no `zero(EXPR)`");
    }
    ends_at_zero = true;
    return limit;
  }
  const auto numbered = [&](std::string_view prefix) -> std::optional<unsigned> {
    return name.starts_with(prefix) ? whole_number<unsigned>(name.substr(prefix.size())) : std::nullopt;
  };
  if (name == "retval") {
    return "ret";
  }
  if (const auto argument = numbered("arg"); argument && !in_struct_ && *argument <= max_conf_parameters) {
    return *argument == 0 ? "ret" : fmt::format("a{}", *argument);
  }
  if (const auto element = numbered("elt"); element && in_struct_ && *element >= 1 && *element <= max_conf_fields) {
    return fmt::format("e{}", *element);
  }
  if (name.empty()) {
    return refuse("bad identifier");
  }
  if ((name.starts_with("arg") && !numbered("arg")) || (name.starts_with("elt") && !numbered("elt"))) {
    return refuse("bad number");
  }
  if (!is_digit(name.front())) {
    return refuse("Unknown length specifier: '" + name + "'");
  }
  rest_ = before;
  const auto value = integer();
  constexpr std::int64_t max_length = 1 << 20;
  if (!value || *value < 0 || *value > max_length) {
    return fail("unknown expression");
  }
  return std::to_string(*value);
}

bool mentions_more_than(std::string_view text, char kind, unsigned known) {
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    if (text[at] == '[' && text[at + 1] == kind && text[at + 2] >= '0' && text[at + 2] <= '9') {
      const unsigned number = number_at<unsigned>(text.substr(at + 2)).value_or(0);
      if (number == 0 || number > known) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace tracer::functions::library
