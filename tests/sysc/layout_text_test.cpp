// What `sysc layout` prints.

#include "sysc/layout_text.h"
#include "catch.h"
#include "compiled.h"

namespace tracer::sysc::test {

namespace {

constexpr const char* descriptions =
    "enum kind : u16 { A=1 }\n"
    "struct plain { a: u32  b: i64  c: *cstr }\n"
    "struct ordered { kind: kind  _: u16  next: *64 plain  data: u8[3] } show { data kind }\n"
    "union either { word: u32  text: cstr[11] }\n"
    "struct nested { inner: plain  either: either  matrix: (u16[4])[2] }\n"
    "struct counted { count: u8  data: bytes[count] }\n"
    "struct placed { start: u32  value: u32 at start }\n"
    "table chosen(k) { A: u64  else: u8 }\n"
    "struct with_table { kind: kind  value: chosen(kind)  end: u8 }\n";

std::string layout_of(const char* name, AbiMask abis = all_abis) {
  const auto c = compile_text(descriptions);
  CHECK(c.messages.empty());
  return layout_text(c.tables(), name, abis);
}

constexpr AbiMask one = mask_of(Abi::x86_64);

}  // namespace

TEST_CASE("a layout shows once for all ABIs that have the same") {
  CHECK(layout_of("plain") ==
        "plain on x86_64, aarch64: 24 bytes\n"
        "  offset   size  field\n"
        "       0      4  a\n"
        "       8      8  b\n"
        "      16      8  c\n"
        "plain on i386: 16 bytes\n"
        "  offset   size  field\n"
        "       0      4  a\n"
        "       4      8  b\n"
        "      12      4  c\n"
        "plain on x32, arm: 24 bytes\n"
        "  offset   size  field\n"
        "       0      4  a\n"
        "       8      8  b\n"
        "      16      4  c\n");
}

TEST_CASE("a layout shows for the ABIs that are asked for") {
  CHECK(layout_of("plain", mask_of(Abi::i386)) ==
        "plain on i386: 16 bytes\n"
        "  offset   size  field\n"
        "       0      4  a\n"
        "       4      8  b\n"
        "      12      4  c\n");
}

TEST_CASE("a layout has its fields in the order of memory") {
  CHECK(layout_of("ordered", one) ==
        "ordered on x86_64: 24 bytes\n"
        "  offset   size  field\n"
        "       0      2  kind\n"
        "       2      2  _\n"
        "       8      8  next\n"
        "      16      3  data\n");
}

TEST_CASE("a layout has the sizes of arrays, structures, unions and tables") {
  CHECK(layout_of("nested", one) ==
        "nested on x86_64: 56 bytes\n"
        "  offset   size  field\n"
        "       0     24  inner\n"
        "      24     12  either\n"
        "      36     16  matrix\n");
  CHECK(layout_of("either", one) ==
        "either on x86_64: 12 bytes\n"
        "  offset   size  field\n"
        "       0      4  word\n"
        "       0     11  text\n");
  CHECK(layout_of("with_table", one) ==
        "with_table on x86_64: 24 bytes\n"
        "  offset   size  field\n"
        "       0      2  kind\n"
        "       8      8  value\n"
        "      16      1  end\n");
}

TEST_CASE("a layout has a question mark for what run time decides") {
  CHECK(layout_of("counted", one) ==
        "counted on x86_64: at least 1 bytes\n"
        "  offset   size  field\n"
        "       0      1  count\n"
        "       1      ?  data\n");
  CHECK(layout_of("placed", one) ==
        "placed on x86_64: at least 4 bytes\n"
        "  offset   size  field\n"
        "       0      4  start\n"
        "       ?      4  value\n");
}

TEST_CASE("there is no layout of a structure that nobody describes") {
  CHECK(layout_of("nothing").empty());
}

}  // namespace tracer::sysc::test
