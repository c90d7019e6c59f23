// Where calling conventions put structures.
#include "arch/argument_passing.h"
#include "catch.h"

#include <string>

namespace tracer::test {

namespace {

using arch::Passing;
using arch::passing_of_argument;
using arch::passing_of_result;
using spec::ValueClass;
using How = arch::Passing::How;

spec::PassedValue structure(std::uint32_t size, std::uint32_t alignment, std::vector<spec::ValuePart> parts) {
  spec::PassedValue value;
  value.value_class = ValueClass::structure;
  value.size = size;
  value.alignment = alignment;
  value.parts = std::move(parts);
  return value;
}

/// `v8i1`: eight bytes of a vector register, one of an integer register.
std::string pieces(const arch::Passing& passing) {
  std::string text;
  for (const arch::Passing::Piece& piece : passing.pieces) {
    text += (piece.is_vector ? 'v' : 'i') + std::to_string(piece.size);
  }
  return text;
}

const auto four_doubles = structure(32, 8,
                                    {{0, 8, ValueClass::floating},
                                     {8, 8, ValueClass::floating},
                                     {16, 8, ValueClass::floating},
                                     {24, 8, ValueClass::floating}});
const auto three_floats =
    structure(12, 4, {{0, 4, ValueClass::single}, {4, 4, ValueClass::single}, {8, 4, ValueClass::single}});
const auto number_and_letter = structure(16, 8, {{0, 8, ValueClass::floating}, {8, 1, ValueClass::integer}});
const auto three_words =
    structure(24, 8, {{0, 8, ValueClass::integer}, {8, 8, ValueClass::integer}, {16, 8, ValueClass::integer}});
const auto either = structure(4, 4, {{0, 4, ValueClass::integer}, {0, 4, ValueClass::single}});
const auto long_double = structure(16, 16, {{0, 16, ValueClass::extended}});
const auto packed = structure(9, 1, {{0, 1, ValueClass::integer}, {1, 8, ValueClass::floating}});

}  // namespace

TEST_CASE("x86_64 passes structures of two words in registers, by the kind of each word") {
  CHECK(pieces(arch::passing_of_argument(Abi::x86_64, number_and_letter)) == "v8i8");
  CHECK(pieces(arch::passing_of_argument(Abi::x86_64, three_floats)) == "v8v4");
  CHECK(pieces(arch::passing_of_argument(Abi::x86_64, either)) == "i4");
  CHECK(arch::passing_of_argument(Abi::x86_64, three_words).how == How::in_memory);
  CHECK(arch::passing_of_argument(Abi::x86_64, packed).how == How::in_memory);
  CHECK(arch::passing_of_argument(Abi::x86_64, long_double).how == How::in_memory);
  CHECK(arch::passing_of_result(Abi::x86_64, long_double).how == How::in_x87);
  CHECK(arch::passing_of_result(Abi::x86_64, three_words).hidden_pointer);
}

TEST_CASE("i386 passes structures in memory, and the address of a structure result") {
  CHECK(arch::passing_of_argument(Abi::i386, either).how == How::in_memory);
  CHECK(arch::passing_of_result(Abi::i386, either).how == How::in_memory);
  CHECK(arch::passing_of_result(Abi::i386, either).hidden_pointer);
}

TEST_CASE("aarch64 passes up to four floating numbers of a kind in vector registers") {
  CHECK(pieces(arch::passing_of_argument(Abi::aarch64, four_doubles)) == "v8v8v8v8");
  CHECK(pieces(arch::passing_of_result(Abi::aarch64, three_floats)) == "v4v4v4");
  CHECK(pieces(arch::passing_of_argument(Abi::aarch64, long_double)) == "v16");
  CHECK(pieces(arch::passing_of_argument(Abi::aarch64, number_and_letter)) == "i8i8");
  CHECK(pieces(arch::passing_of_argument(Abi::aarch64, either)) == "i4");
  CHECK(arch::passing_of_argument(Abi::aarch64, three_words).how == How::by_address);
  CHECK(arch::passing_of_result(Abi::aarch64, three_words).how == How::in_memory);
  CHECK_FALSE(arch::passing_of_result(Abi::aarch64, three_words).hidden_pointer);
}

}  // namespace tracer::test
