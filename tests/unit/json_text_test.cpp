// Numbers and bytes in JSON: what a reader gets back is what was there.
#include <string>

#include "catch.h"
#include "format/json_text.h"

namespace tracer::test {
namespace {

std::string bytes(std::string_view data, bool cut = false) {
  TextBuffer text;
  format::append_json_bytes(text, std::as_bytes(std::span(data)), cut);
  return std::string(text.view());
}

template <typename T>
std::string integer(T value) {
  TextBuffer text;
  format::append_json_integer(text, value);
  return std::string(text.view());
}

}  // namespace

TEST_CASE("integers beyond 2^53 are strings") {
  CHECK(integer(std::int64_t{-1}) == "-1");
  CHECK(integer(std::uint64_t{9007199254740992}) == "9007199254740992");
  CHECK(integer(std::uint64_t{9007199254740993}) == R"("9007199254740993")");
  CHECK(integer(~std::uint64_t{0}) == R"("18446744073709551615")");
  CHECK(integer(std::int64_t{-9007199254740992}) == "-9007199254740992");
  CHECK(integer(std::int64_t{-9007199254740993}) == R"("-9007199254740993")");
}

TEST_CASE("bytes that are not UTF-8 are in hexadecimal") {
  CHECK(bytes("caf\u00e9 \"\\\n") == "\"caf\u00e9 \\\"\\\\\\u000a\"");
  CHECK(bytes("caf\xe9") == R"({"bytes":"636166e9"})");
  CHECK(bytes("\xc0\x80") == R"({"bytes":"c080"})");
  CHECK(bytes("\xed\xa0\x80") == R"({"bytes":"eda080"})");
}

TEST_CASE("bytes that were cut say so, and a character cut in two is left out") {
  CHECK(bytes("abc", true) == R"({"string":"abc","truncated":true})");
  CHECK(bytes("abc\xc3", true) == R"({"string":"abc","truncated":true})");
  CHECK(bytes("abc\xc3") == R"({"bytes":"616263c3"})");
  CHECK(bytes("a\xff"
              "b",
              true) == R"({"bytes":"61ff62","truncated":true})");
}

}  // namespace tracer::test
