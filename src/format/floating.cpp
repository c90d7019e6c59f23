#include "format/floating.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/require.h"
#include "spec/spec.h"

namespace tracer::format {
namespace {

std::uint64_t little_endian(std::span<const std::byte> raw) {
  std::uint64_t bits = 0;
  for (std::size_t i = raw.size(); i-- > 0;) {
    bits = bits << 8 | std::to_integer<std::uint64_t>(raw[i]);
  }
  return bits;
}

/// Converts a number with a 15-bit exponent. `significand` has its highest bit set unless the number is zero, subnormal
/// or an x87 pseudo-number.
std::uint64_t to_double(bool negative, unsigned exponent, std::uint64_t significand) {
  constexpr unsigned all_ones = 0x7fff;
  constexpr int bias = 16383;
  double value = 0;
  if (exponent == all_ones) {
    value = significand << 1 == 0 ? HUGE_VAL : std::nan("");
  } else {
    value = std::ldexp(static_cast<double>(significand), static_cast<int>(exponent) - bias - 63);
  }
  return std::bit_cast<std::uint64_t>(negative ? -value : value);
}

std::uint64_t from_x87(std::span<const std::byte> raw) {
  const auto sign_and_exponent = static_cast<unsigned>(little_endian(raw.subspan(8, 2)));
  return to_double((sign_and_exponent & 0x8000) != 0, sign_and_exponent & 0x7fff, little_endian(raw.first(8)));
}

std::uint64_t from_binary128(std::span<const std::byte> raw) {
  const auto high = little_endian(raw.subspan(8, 8));
  const auto low = little_endian(raw.first(8));
  const auto exponent = static_cast<unsigned>(high >> 48 & 0x7fff);
  constexpr std::uint64_t implicit_bit = std::uint64_t{1} << 63;
  const std::uint64_t fraction = (high & 0xffffffffffff) << 15 | low >> 49;
  // The sticky bit keeps a NaN from becoming an infinity and makes ties round correctly when low bits are dropped.
  const std::uint64_t sticky = (low << 15) != 0 ? 1 : 0;
  return to_double(high >> 63 != 0, exponent, (exponent != 0 ? implicit_bit : 0) | fraction | sticky);
}

template <typename T>
void append_shortest(TextBuffer& text, T value) {
  const std::string number = fmt::format("{}", value);
  text.append(number);
  if (number.find_first_of(".einf") == std::string::npos) {
    text.append(".0");
  }
}

}  // namespace

void append_floating(TextBuffer& text, std::uint64_t bits, unsigned width) {
  if (width == sizeof(float)) {
    append_shortest(text, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  } else {
    append_shortest(text, std::bit_cast<double>(bits));
  }
}

void append_hex_floating(TextBuffer& text, std::uint64_t bits, unsigned width) {
  const double value = width == sizeof(float)
                           ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                           : std::bit_cast<double>(bits);
  std::array<char, 40> digits{};
  const int size = std::snprintf(digits.data(), digits.size(), "%a", value);
  text.append(std::string_view(digits.data(), static_cast<std::size_t>(size)));
}

bool is_finite(std::uint64_t bits, unsigned width) {
  return width == sizeof(float) ? std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                : std::isfinite(std::bit_cast<double>(bits));
}

std::uint64_t double_of_long_double(std::span<const std::byte> raw, Abi abi) {
  require(raw.size() >= spec::long_double_size(abi), "a whole long double");
  switch (abi) {
    case Abi::arm:
      return little_endian(raw.first(8));
    case Abi::aarch64:
      return from_binary128(raw);
    default:
      return from_x87(raw);
  }
}

}  // namespace tracer::format
