// Where the arguments of static probes are.

#include "functions/library/probe_arguments.h"
#include "catch.h"

namespace tracer::functions::library::test {
namespace {

using Where = ProbeArgument::Where;

ProbeArgument one(std::string_view text, Abi abi = Abi::x86_64) {
  const auto arguments = parse_probe_arguments(text, abi);
  REQUIRE(arguments.size() == 1);
  return arguments.front();
}

}  // namespace

TEST_CASE("arguments of x86 in registers, in memory and constant") {
  CHECK(one("8@%rdi").where == Where::in_register);
  CHECK(one("8@%rdi").base == "rdi");
  CHECK(one("-4@$-7").displacement == -7);
  CHECK(one("-4@$-7").is_signed);
  CHECK(one("-4@$-7").size == 4);
  CHECK(one("8f@%xmm3").is_floating);
  const auto element = one("4@-8(%rdx,%rax,4)");
  CHECK(element.where == Where::in_memory);
  CHECK(element.base == "rdx");
  CHECK(element.index == "rax");
  CHECK(element.scale == 4);
  CHECK(element.displacement == -8);
  const auto global = one("4@8+counter(%rip)");
  CHECK(global.symbol == "counter");
  CHECK(global.displacement == 8);
  CHECK(global.base == "rip");
  CHECK(one("8@%fs:-16").segment == "fs");
  CHECK(one("%rax").size == 8);
  CHECK(one("%eax", Abi::i386).size == 4);
}

TEST_CASE("arguments of arm64, whose operands have blanks in them") {
  CHECK(one("8@x3", Abi::aarch64).base == "x3");
  const auto arguments = parse_probe_arguments("-4@[sp, 12] 8@[x1, w2, sxtw 3] 4@5", Abi::aarch64);
  REQUIRE(arguments.size() == 3);
  CHECK(arguments[0].displacement == 12);
  CHECK(arguments[0].base == "sp");
  CHECK(arguments[1].index == "w2");
  CHECK(arguments[1].scale == 8);
  CHECK(arguments[1].extend == ProbeArgument::Extend::sxtw);
  CHECK(arguments[2].where == Where::constant);
  CHECK(arguments[2].displacement == 5);
}

TEST_CASE("an argument in a form that is not understood leaves the others as they are") {
  const auto arguments = parse_probe_arguments("8@what%ever( 3@%rax 8@%rbx", Abi::x86_64);
  REQUIRE(arguments.size() == 3);
  CHECK(arguments[0].where == Where::unknown);
  CHECK(arguments[1].where == Where::unknown);
  CHECK(arguments[2].base == "rbx");
  CHECK(parse_probe_arguments("", Abi::x86_64).empty());
  CHECK(parse_probe_arguments(std::string(9000, '%'), Abi::x86_64).size() <= 12);
}

}  // namespace tracer::functions::library::test
