#include "sysc/format.h"
#include "catch.h"

#include "sysc/lexer.h"

namespace tracer::sysc {

namespace {

std::string formatted(const std::string& text) {
  Diagnostics diagnostics;
  const auto result = format({"test.sys", text}, diagnostics);
  REQUIRE(result);
  return *result;
}

}  // namespace

TEST_CASE("formatting puts things in columns and keeps comments") {
  CHECK(formatted("type  fd=i32 as fd # a\n"
                  "type dirfd = i32   as  dirfd\n\n\n\n"
                  "struct s{\n# inside\na:u32  # b\n  longer : u8[ 4 ] if a&( 1 | 2 )\n}\n"
                  "read( fd:fd,\nbuf :out * bytes[ret] )->int %desc   %file\n") ==
        "type fd    = i32 as fd  # a\n"
        "type dirfd = i32 as dirfd\n\n"
        "struct s {\n"
        "  # inside\n"
        "  a:      u32  # b\n"
        "  longer: u8[4] if a & (1|2)\n"
        "}\n"
        "read(fd: fd,\n"
        "     buf: out *bytes[ret]) -> int  %desc %file\n");
}

TEST_CASE("what goes on from the line before is indented, and no blank line follows an opening brace") {
  CHECK(formatted("struct s {\n\n  a: *u32\n  out if b  b: u32\n  out: u32\n}\n") ==
        "struct s {\n"
        "  a: *u32\n"
        "      out if b  b: u32\n"
        "  out: u32\n"
        "}\n");
}

TEST_CASE("the type in the number of an ioctl is spaced as a type") {
  const std::string text = "ioctls 'T' {\n  ONE = _IOR(1, some : u16)\n  TWO = _IOR(2, u16) (arg: some : u16)\n}\n";
  CHECK(formatted(text) == text);
}

TEST_CASE("structures on one line do not line up with each other") {
  CHECK(formatted("struct a { x:u32 }\nstruct longer { y:u32 }\n") ==
        "struct a { x: u32 }\nstruct longer { y: u32 }\n");
}

TEST_CASE("all descriptions are formatted") {
  for (const auto& source : read_sources({DESCRIPTIONS})) {
    if (source.path.ends_with(".sys") && formatted(source.text) != source.text) {
      FAIL_CHECK(source.path + ": not formatted; run: sysc format " + source.path);
    }
  }
}

TEST_CASE("formatting what is formatted changes nothing, and no token is lost") {
  for (const auto& source : read_sources({SYSC_TESTS "/examples.sys", DESCRIPTIONS})) {
    if (source.path.ends_with(".nr")) {
      continue;
    }
    INFO(source.path);
    const auto once = formatted(source.text);
    CHECK(formatted(once) == once);
    Diagnostics diagnostics;
    const auto before = tokenize(source, 0, diagnostics, true);
    const Source after_source{"test.sys", once};
    const auto after = tokenize(after_source, 0, diagnostics, true);
    REQUIRE(before.size() == after.size());
    CHECK(std::equal(before.begin(), before.end(), after.begin(),
                     [](const Token& a, const Token& b) { return a.kind == b.kind && a.text == b.text; }));
  }
}

}  // namespace tracer::sysc
