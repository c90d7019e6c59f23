// A line of text that grows piece by piece.
#include <string>

#include "base/text_buffer.h"
#include "catch.h"

namespace tracer::test {

TEST_CASE("pieces of every length come to stand one after the other, also where the buffer grows") {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  TextBuffer text;
  std::string expected;
  for (std::size_t i = 0; i < 40 * letters.size(); ++i) {
    const std::string_view piece = std::string_view(letters).substr(0, i % letters.size());
    text.append(piece);
    text.append('|');
    text.append(i % 3, ' ');
    expected.append(piece).append("|").append(i % 3, ' ');
    REQUIRE(text.view() == expected);
  }
}

TEST_CASE("decimal numbers of every length") {
  TextBuffer text;
  const auto check = [&](auto number) {
    text.clear();
    text.decimal(number);
    REQUIRE(text.view() == std::to_string(number));
  };
  std::uint64_t power = 1;
  for (unsigned digits = 1; digits <= 20; ++digits) {
    for (const std::uint64_t number : {power - 1, power, power + 1, power + power / 3}) {
      check(number);
      check(static_cast<std::int64_t>(number));
    }
    power *= 10;
  }
  for (std::uint64_t bit = 1; bit != 0; bit <<= 1U) {
    check(bit);
    check(bit - 1);
    check(~bit);
    check(-static_cast<std::int64_t>(bit / 2));
  }
}

TEST_CASE("text is put before what stands already, cut off and cleared") {
  TextBuffer text;
  text.append("read(3)");
  text.insert(0, "12 ");
  text.insert(text.size(), " = 0");
  text.insert(8, std::string(1000, '.'));
  CHECK(text.view() == "12 read(" + std::string(1000, '.') + "3) = 0");
  text.truncate(7);
  CHECK(text.view() == "12 read");
  text.clear();
  CHECK(text.empty());
  text.append("next");
  CHECK(text.view() == "next");
}

TEST_CASE("a buffer whose text has been taken is empty and can be used again") {
  TextBuffer first;
  first.append("some words that are longer than a short string");
  TextBuffer second(std::move(first));
  first = TextBuffer();
  first.append("new");
  CHECK(first.view() == "new");
  std::swap(first, second);
  CHECK(first.view() == "some words that are longer than a short string");
  CHECK(second.view() == "new");
}

}  // namespace tracer::test
