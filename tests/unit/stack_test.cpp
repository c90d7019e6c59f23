// The parts of stack traces: mappings, rows of unwind tables, expressions, names, and how frames are written.
#include <dwarf.h>

#include <array>
#include <map>

#include "catch.h"
#include "pipeline/stack.h"
#include "stack/expression.h"
#include "stack/mappings.h"
#include "stack/perf_map.h"
#include "stack/symbols.h"
#include "stack/unwind_row.h"

namespace tracer::stack {

namespace {

/// Words at addresses.
class Words final : public trace::Memory {
 public:
  using Map = std::map<std::uint64_t, std::uint64_t>;
  explicit Words(Map words) : words_(std::move(words)) {}
  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    const auto found = words_.find(address.value());
    if (found == words_.end()) {
      return 0;
    }
    const auto bytes = std::as_bytes(std::span(&found->second, 1)).first(into.size());
    std::copy(bytes.begin(), bytes.end(), into.begin());
    return into.size();
  }

 private:
  std::map<std::uint64_t, std::uint64_t> words_;
};

arch::FrameRegisters registers() {
  arch::FrameRegisters frame;
  frame.count = 17;
  frame.stack_pointer = 7;
  frame.frame_pointer = 6;
  for (unsigned i = 0; i < frame.count; ++i) {
    frame.set(i, 0x100 * i);
  }
  return frame;
}

std::optional<std::uint64_t> value_of(std::vector<Dwarf_Op> operations) {
  return evaluate(operations, registers(), Words(Words::Map{{0x600, 0xabcd}}), 0x1000);
}

}  // namespace

TEST_CASE("expressions compute") {
  CHECK(value_of({{DW_OP_breg6, 8, 0, 0}}) == 0x608);
  CHECK(value_of({{DW_OP_breg6, 0, 0, 0}, {DW_OP_deref, 0, 0, 2}}) == 0xabcd);
  CHECK(value_of({{DW_OP_call_frame_cfa, 0, 0, 0}, {DW_OP_lit8, 0, 0, 0}, {DW_OP_minus, 0, 0, 1}}) == 0xff8);
  CHECK(value_of({{DW_OP_lit7, 0, 0, 0},
                  {DW_OP_lit7, 0, 0, 1},
                  {DW_OP_ge, 0, 0, 2},
                  {DW_OP_lit3, 0, 0, 3},
                  {DW_OP_shl, 0, 0, 4}}) == 8);
}

TEST_CASE("expressions that make no sense have no value, and none goes on for ever") {
  CHECK_FALSE(value_of({}));
  CHECK_FALSE(value_of({{DW_OP_plus, 0, 0, 0}}));
  CHECK_FALSE(value_of({{DW_OP_lit1, 0, 0, 0}, {DW_OP_lit0, 0, 0, 1}, {DW_OP_div, 0, 0, 2}}));
  CHECK_FALSE(value_of({{DW_OP_breg31, 0, 0, 0}}));
  CHECK_FALSE(value_of({{DW_OP_breg7, 0, 0, 0}, {DW_OP_deref, 0, 0, 2}}));
  // DW_OP_skip back to itself.
  CHECK_FALSE(value_of({{DW_OP_skip, static_cast<Dwarf_Word>(-3), 0, 0}}));
  std::vector<Dwarf_Op> pushes(100, Dwarf_Op{DW_OP_lit0, 0, 0, 0});
  CHECK_FALSE(value_of(pushes));
}

TEST_CASE("a row leads to the caller's registers") {
  Row row;
  row.kind = Row::Kind::frame;
  row.return_address = 16;
  row.cfa.kind = Rule::Kind::other;
  row.cfa.other = 7;
  row.cfa.offset = 16;  // 0x710
  row.undefined = 1;
  Rule saved;
  saved.kind = Rule::Kind::at_cfa;
  saved.number = 6;
  saved.offset = -16;
  Rule back = saved;
  back.number = 16;
  back.offset = -8;
  row.rules = {saved, back};
  arch::FrameRegisters frame = registers();
  REQUIRE(apply(row, frame, Words(Words::Map{{0x700, 0x6666}, {0x708, 0x401234}})));
  CHECK(frame.instruction_pointer == 0x401234);
  CHECK(frame.values[7] == 0x710);
  CHECK(frame.values[6] == 0x6666);
  CHECK_FALSE(frame.has(0));
  arch::FrameRegisters lost = registers();
  CHECK_FALSE(apply(row, lost, Words(Words::Map{{0x700, 0x6666}})));
}

TEST_CASE("maps for perf") {
  PerfMap map;
  CHECK(map.add("7f0000001000 20 f(int)\n0x1000 10 a b\nbroken\n2000 zz c\n3000 4 \n1000 10 lat") == 62);
  CHECK(map.look_up(0x100f)->name == "a b");
  CHECK_FALSE(map.look_up(0x1010));
  CHECK_FALSE(map.look_up(0x2000));
  CHECK(map.look_up(0x7f000000101f)->start == 0x7f0000001000);
  CHECK(map.look_up(0x7f0000001000)->name == "f(int)");
  // What is appended counts more; names are printable.
  map.add("1000 10 later\n1800 10 x\033[2J\n");
  CHECK(map.look_up(0x1000)->name == "later");
  CHECK(map.look_up(0x1800)->name == "x\\033[2J");
}

TEST_CASE("names are written as people write them") {
  CHECK(demangle("main") == "main");
  CHECK(demangle("_Z3fooiPKc") == "foo(int, char const*)");
  CHECK(demangle("_ZN3std2io5stdio6_print17h0123456789abcdefE") == "std::io::stdio::_print");
  CHECK(demangle("_RNvCs1234_7mycrate3foo") == "mycrate::foo");
  CHECK(demangle("_RINvNtC3std3mem8align_ofjdE") == "std::mem::align_of::<usize, f64>");
  CHECK(demangle("_RNCNvC4bar_3foo0") == "bar_::foo::{closure#0}");
  CHECK(demangle("_ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE") == "core::fmt::Formatter::write_fmt");
  CHECK(demangle("_Zbroken") == "_Zbroken");
}

TEST_CASE("a short name for an endless one is cut off") {
  // Each argument is a pair of the one before, twice over.
  std::string name = "_Z1fSt4pairIiiE";
  for (const char digit : std::string("0123456789ABCDEFGHIJKLMNOP")) {
    name += "St4pairIS";
    name += digit;
    name += "_S";
    name += digit;
    name += "_E";
  }
  CHECK(demangle(name).size() <= 16384);
}

TEST_CASE("frames as text") {
  TextBuffer text;
  trace::StackFrame known;
  known.file = "/lib/x\x1b[2J\xc3\xa9";
  known.symbol = "f(int)";
  known.symbol_offset = 0x12;
  known.file_offset = 0x1234;
  trace::StackFrame nameless;
  nameless.file = "/lib/y";
  nameless.file_offset = 0x10;
  trace::StackFrame unknown;
  unknown.kind = trace::StackFrame::Kind::unknown;
  unknown.address = 0xdead;
  pipeline::append_stack(text, std::array{known, nameless, unknown}, pipeline::StackTaken::now);
  CHECK(text.view() ==
        " > /lib/x\\033[2J\xc3\xa9(f(int)+0x12) [0x1234]\n > /lib/y() [0x10]\n > unexpected_backtracing_error "
        "[0xdead]\n");
  text.clear();
  pipeline::append_stack(text, std::array{nameless}, pipeline::StackTaken::at_entry);
  CHECK(text.view() == " > /lib/y(+0x0) [0x10]\n");
}

TEST_CASE("frames as JSON") {
  TextBuffer text;
  trace::StackFrame known;
  known.file = "/x";
  known.symbol = "f";
  known.symbol_offset = 2;
  known.file_offset = 18;
  known.address = 1 << 20;
  trace::StackFrame limit;
  limit.kind = trace::StackFrame::Kind::limit;
  pipeline::append_json_stack(text, std::array{known, limit});
  CHECK(text.view() ==
        R"([{"file":"/x","offset":18,"address":1048576,"symbol":"f","symbol_offset":2},{"end":"limit"}])");
}

TEST_CASE("a kept stack keeps its text") {
  pipeline::KeptStack kept;
  {
    std::string file = "/a/long/name/that/is/on/the/heap";
    trace::StackFrame frame;
    frame.file = file;
    kept.keep(std::array{frame});
    file.assign(file.size(), 'x');
  }
  const pipeline::KeptStack moved = std::move(kept);
  REQUIRE(moved.frames().size() == 1);
  CHECK(moved.frames()[0].file == "/a/long/name/that/is/on/the/heap");
}

}  // namespace tracer::stack
