#include "sysc/arrange.h"
#include "catch.h"

#include "capture/plan_text.h"
#include "compiled.h"

namespace tracer::sysc::test {

TEST_CASE("arranged tables say the same, with what everyday calls need first") {
  const auto compiled = compile_text(
      "enum cmd : u32 { GET=1 SET=2 }\n"
      "flags bits : u32 { ONE=1 TWO=2 }\n"
      "struct seldom { text: *cstr size: u32 }\n"
      "struct often { length: u32 bits: bits data: *bytes[length + 4] if length > 2 }\n"
      "ctl(cmd: cmd) by cmd { GET (arg: out *seldom) SET (arg: *seldom) }\n"
      "last(value: inout *u64)\n"
      "first(from: *often, status: out *i32 when ret > 0)\n",
      "9 last\n1 ctl\n0 first\n");
  REQUIRE(compiled.messages.empty());
  const auto arranged = arrange(compiled.set);
  const spec::Tables before = compiled.tables();
  const spec::Tables after = arranged.view();

  CHECK(after.verify().empty());
  for (const std::string call : {"ctl", "last", "first"}) {
    CHECK(capture::plan_text(after, call) == capture::plan_text(before, call));
  }
  CHECK(after.types.size() == before.types.size());
  CHECK(after.strings.size() == before.strings.size());

  CHECK(after.text(after.calls[0].name) == "first");
  CHECK(after.text(after.calls[1].name) == "ctl");
  CHECK(after.text(after.structs[0].name) == "often");
  CHECK(after.strings.find("value") < after.strings.find("seldom"));
}

}  // namespace tracer::sysc::test
