#include "sysc/parser.h"
#include "catch.h"

namespace tracer::sysc {

namespace {

template <typename T>
const T& only(const ast::Program& program) {
  REQUIRE(program.items.size() == 1);
  return std::get<T>(program.items[0]);
}

ast::Program parse_text(const std::string& text) {
  const std::vector<Source> sources{{"test.sys", text}};
  Diagnostics diagnostics;
  auto program = parse(sources, diagnostics);
  CHECK(diagnostics.text(sources).empty());
  return program;
}

}  // namespace

TEST_CASE("the worked examples parse") {
  const auto sources = read_sources({SYSC_TESTS "/examples.sys"});
  Diagnostics diagnostics;
  const auto program = parse(sources, diagnostics);
  CHECK(diagnostics.text(sources).empty());
  CHECK(program.items.size() > 60);
}

TEST_CASE("values by ABI") {
  const auto program = parse_text("flags f : u32 { A=1@x86,2@arm B=3@i386,4 C=5@64,32,6@x32 D=7@x32 }");
  const auto& members = std::get<ast::Group>(only<ast::Set>(program).parts.at(0)).members;
  using Values = std::array<std::optional<std::int64_t>, abi_count>;
  CHECK(members.at(0).values == Values{1, 1, 1, 2, 2});
  CHECK(members.at(1).values == Values{4, 3, 4, 4, 4});
  CHECK(members.at(2).values == Values{5, 5, 6, 5, 5});
  CHECK(members.at(3).values == Values{std::nullopt, std::nullopt, 7, std::nullopt, std::nullopt});
}

TEST_CASE("words of the language can name fields") {
  const auto program = parse_text("struct s { out: u32 late: u32 out if: u8 when: u8 together: u8 }");
  const auto& fields = only<ast::Struct>(program).fields;
  REQUIRE(fields.size() == 5);
  CHECK(fields[1].direction == spec::Direction::out);
  CHECK(fields[2].name.text == "if");
}

TEST_CASE("comparisons bind loosest") {
  const auto program = parse_text("f(a: int, b: int if a & 3 | 4 == 5)");
  const auto& condition = *only<ast::Call>(program).signature.params.at(1).condition;
  const auto& comparison = std::get<ast::Binary>(condition.node);
  CHECK(comparison.op == ast::BinaryOp::equal);
  CHECK(std::get<ast::Binary>(comparison.left->node).op == ast::BinaryOp::bit_or);
}

TEST_CASE("a list of fields ends where the next call begins") {
  const auto program =
      parse_text("struct s { a: u8 b: u8 } show { b a }\nread(fd: int)\nstruct t { c: u8 } show { c }\n");
  REQUIRE(program.items.size() == 3);
  CHECK(std::get<ast::Struct>(program.items[0]).print.size() == 2);
}

TEST_CASE("a width follows a type, a label begins a field") {
  const auto program = parse_text("struct s { a: kind : u8  b: u16 }");
  const auto& fields = only<ast::Struct>(program).fields;
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].type.width->text == "u8");
  CHECK(!fields[1].type.width);
}

}  // namespace tracer::sysc
