// How single values are written.
#include <array>
#include <bit>
#include <limits>
#include <string>

#include "catch.h"
#include "format/floating.h"
#include "format/scalars.h"

namespace tracer::test {
namespace {

using spec::Style;

std::string scalar(std::uint64_t bits, unsigned width, bool is_signed, Style style) {
  TextBuffer text;
  format::append_scalar(text, bits, format::scalar_type(width, is_signed, style), format::ConstantForm::abbreviate);
  return std::string(text.view());
}

std::string number(double value) {
  return scalar(std::bit_cast<std::uint64_t>(value), 8, false, Style::floating);
}

std::string character(std::int64_t value) {
  return scalar(static_cast<std::uint64_t>(value), 4, true, Style::character);
}

/// As the bytes of a long double of the ABI read, most significant first.
template <std::size_t n>
double long_double(std::array<unsigned char, n> most_significant_first, Abi abi) {
  std::array<std::byte, 16> raw{};
  for (std::size_t i = 0; i < n; ++i) {
    raw[n - 1 - i] = std::byte{most_significant_first[i]};
  }
  return std::bit_cast<double>(format::double_of_long_double(raw, abi));
}

}  // namespace

TEST_CASE("numbers with a fraction are as short as they can be and look like what they are") {
  CHECK(number(2.5) == "2.5");
  CHECK(number(2) == "2.0");
  CHECK(number(-0.0) == "-0.0");
  CHECK(number(0.1) == "0.1");
  CHECK(number(1e300) == "1e+300");
  CHECK(number(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(scalar(std::bit_cast<std::uint32_t>(0.1F), 4, false, Style::floating) == "0.1");
}

TEST_CASE("characters are quoted, and what is none is a number") {
  CHECK(character('a') == "'a'");
  CHECK(character('\n') == "'\\n'");
  CHECK(character('\'') == "'\\''");
  CHECK(character('"') == "'\"'");
  CHECK(character(0) == "'\\0'");
  CHECK(character(0xff) == "'\\377'");
  CHECK(character(-1) == "EOF");
  CHECK(character(-128) == "'\\200'");
  CHECK(character(256) == "256");
}

TEST_CASE("a long double is read as its ABI has it") {
  // 1.5, 80 bits: the highest bit of the significand is there.
  CHECK(long_double<10>({0x3f, 0xff, 0xc0}, Abi::x86_64) == 1.5);
  CHECK(long_double<10>({0xc0, 0x00, 0x80}, Abi::i386) == -2.0);
  CHECK(long_double<10>({0x7f, 0xff, 0x80}, Abi::x86_64) == std::numeric_limits<double>::infinity());
  CHECK(long_double<10>({0x7f, 0xff, 0xc0}, Abi::x86_64) != long_double<10>({0x7f, 0xff, 0xc0}, Abi::x86_64));
  CHECK(long_double<10>({}, Abi::x86_64) == 0);
  CHECK(long_double<10>({0x7f, 0xfe, 0xff}, Abi::x86_64) == std::numeric_limits<double>::infinity());
  // 1.5, 128 bits: it is understood.
  CHECK(long_double<16>({0x3f, 0xff, 0x80}, Abi::aarch64) == 1.5);
  CHECK(long_double<16>({0x7f, 0xff}, Abi::aarch64) == std::numeric_limits<double>::infinity());
  CHECK(long_double<16>({0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, Abi::aarch64) !=
        std::numeric_limits<double>::infinity());
  CHECK(long_double<8>({0x3f, 0xf8}, Abi::arm) == 1.5);
}

}  // namespace tracer::test
