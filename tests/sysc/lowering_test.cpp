#include <algorithm>

#include "catch.h"
#include "compiled.h"
#include "spec/strace_tables.h"
#include "sysc/format.h"

namespace tracer::sysc::test {

using namespace spec;

namespace {

std::span<const Param> params_of(const Tables& tables, std::string_view name) {
  for (const auto& call : tables.calls) {
    if (tables.text(call.name) == name) {
      return Tables::slice(tables.params, tables.signatures[call.signature].params);
    }
  }
  FAIL("no call " << name);
  return {};
}

using Slots = std::array<std::uint8_t, abi_count>;

using Constants = std::vector<std::pair<std::uint64_t, std::string_view>>;

Constants constants_of(const Tables& tables) {
  Constants all;
  for (const auto& constant : tables.constants) {
    all.emplace_back(constant.value, tables.text(constant.name));
  }
  return all;
}

}  // namespace

TEST_CASE("the descriptions of the kernel's calls compile") {
  const auto sources = read_sources({DESCRIPTIONS});
  Diagnostics diagnostics;
  const auto set = compile(sources, diagnostics, {true, false});
  CHECK(set.view().verify().empty());
}

TEST_CASE("64-bit arguments take the registers that the ABI gives them") {
  const auto c = compile_text(
      "pread64(fd: int, buf: ulong, count: ulong, pos: i64 wide)\n"
      "preadv2(fd: int, iov: ulong, count: ulong, pos: i64 halves, flags: u32)\n",
      "1 pread64\n2 preadv2\n");
  CHECK(c.messages.empty());
  CHECK(params_of(c.tables(), "pread64")[3].slot == Slots{3, 3, 3, 3, 4});
  CHECK(params_of(c.tables(), "pread64")[3].wide);
  CHECK(params_of(c.tables(), "preadv2")[3].slot == Slots{3, 3, 3, 3, 3});
  CHECK(params_of(c.tables(), "preadv2")[4].slot == Slots{5, 5, 4, 5, 5});
}

TEST_CASE("a call that does not fit into the registers of its ABI is an error") {
  const auto c = compile_text("f(a: int, b: i64 wide, c: i64 wide, d: int)\n", "1 f\n", "arm.nr");
  CHECK(c.messages ==
        "arm.nr:1:3: error: found parameter d of f beyond the sixth register of arm, expected @ABI descriptions\n");
  CHECK(compile_text("f(a: int, b: i64 wide, c: i64 wide, d: int)\n", "1 f\n").messages.empty());
}

TEST_CASE("arguments wait for the exit if anything in them does") {
  const auto c = compile_text(
      "flags fl : u32 { A=1 }\n"
      "struct lock { type: u16 pid: i32 out }\n"
      "struct clone sized by ^size { flags: fl pidfd: *64 i32 if flags & A late }\n"
      "struct msg { name: *bytes[length] length: i32 inout }\n"
      "f(a: *lock, b: *clone, c: out *msg, d: *i32 when ret > 0, e: inout *i32, size: *bytes[*e])\n",
      "1 f\n");
  REQUIRE(c.messages.empty());
  const auto params = params_of(c.tables(), "f");
  const auto exits = [&](std::size_t i) { return params[i].at_exit; };
  CHECK((!exits(0) && !exits(1) && exits(2) && exits(3) && exits(4) && exits(5)));
  CHECK((!params[0].saved && params[1].saved && params[2].saved && !params[3].saved && params[4].saved));
}

TEST_CASE("rows of `by` are sorted, by ABI, and take the arguments before them along") {
  const auto c = compile_text(
      "enum op : i32 { LAST=9@x86,3@arm FIRST=-1 }\n"
      "f(a: int, op: op) by op { LAST (b: *i32) -> i64  FIRST (_, c: int)  else () }\n",
      "1 f\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  const auto& signature = t.signatures[t.calls[0].signature];
  const auto rows = Tables::slice(t.signature_rows, signature.rows);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].value == 3);
  CHECK(rows[0].abis == (mask_of(Abi::aarch64) | mask_of(Abi::arm)));
  CHECK(rows[1].value == 9);
  CHECK(rows[2].value == ~std::uint64_t{0});
  const auto params = Tables::slice(t.params, t.signatures[rows[2].signature].params);
  REQUIRE(params.size() == 4);
  CHECK(params[2].type == none);
  CHECK(params[3].slot[0] == 3);
  CHECK(signature.otherwise != none);
}

TEST_CASE("what is beyond strace is missing from its tables, and nothing else is") {
  const auto c = compile_text(
      "enum op : i32 { FIRST=1 SECOND=2 }\n"
      "table body(op) { FIRST: u32 SECOND: u64 else: hex }\n"
      "struct s { op: op  more: body(op) }\n"
      "f(op: op, s: *s) by op { FIRST (a: int) SECOND (b: int) else () }\n"
      "beyond op { FIRST }\nbeyond body { SECOND }\nbeyond f { SECOND }\nbeyond calls { g }\n",
      "1 f\n2 g f\n");
  REQUIRE(c.messages.empty());
  const auto all = c.tables();
  const StraceTables strace(all);
  const auto sizes = [](const Tables& t) {
    const auto body = std::find_if(t.choices.begin(), t.choices.end(),
                                   [&](const Choice& choice) { return t.text(choice.name) == "body"; });
    const auto op =
        std::find_if(t.sets.begin(), t.sets.end(), [&](const ConstantSet& set) { return t.text(set.name) == "op"; });
    return std::array<Index, 3>{t.groups[op->groups.first].constants.count, body->rows.count,
                                t.signatures[t.calls[0].signature].rows.count};
  };
  CHECK(sizes(all) == std::array<Index, 3>{2, 3, 2});
  CHECK(sizes(strace.tables()) == std::array<Index, 3>{1, 2, 1});
  const auto row = strace.tables().signatures[strace.tables().calls[0].signature].rows.first;
  CHECK(strace.tables().signature_rows[row].value == 1);
  CHECK(all.find(Abi::x86_64, 2) != nullptr);
  CHECK(strace.tables().find(Abi::x86_64, 2) == nullptr);
  CHECK(strace.tables().verify().empty());
}

TEST_CASE("what nobody has cannot be beyond strace") {
  const auto c = compile_text("enum op : i32 { FIRST=1 }\nf(op: op)\nbeyond op { FIRST THIRD }\n", "1 f\n");
  CHECK(c.messages.find("found THIRD, expected a row or a name of op") != std::string::npos);
}

TEST_CASE("an ioctl's number follows from its type in each ABI") {
  const auto c = compile_text(
      "struct w { a: long }\n"
      "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
      "ioctls 'T' { ONE = _IOWR(1, w) (arg: *w) ANY = _IOR(6, ?) (arg: *w) OLD = 0x5401 }\n",
      "16 ioctl\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  CHECK(constants_of(t) == Constants{{0x5401, "OLD"}, {0x80005406, "ANY"}, {0xc0045401, "ONE"}, {0xc0085401, "ONE"}});
  CHECK(t.constants[1].open_bits == 0x3fff0000);
  const auto rows = Tables::slice(t.signature_rows, t.signatures[t.calls[0].signature].rows);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].open_bits == 0x3fff0000);
  CHECK(rows[1].abis == (mask_of(Abi::i386) | mask_of(Abi::x32) | mask_of(Abi::arm)));
}

TEST_CASE("a call that is like another has the rows that it does not say itself") {
  const auto c = compile_text(
      "f(op: int) by op { 1 2 (of_f: int) 3 (too: int) else (any: int) }\n"
      "g(x: int, op: int) by op like f { 2 (of_g: int) }\n",
      "7 g\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  const auto& signature = t.signatures[t.find(Abi::x86_64, 7)->signature];
  const auto name = [&](Index of) {
    const auto params = Tables::slice(t.params, t.signatures[of].params);
    CHECK(params.size() == 3);
    return std::string(t.text(params.back().name));
  };
  const auto rows = Tables::slice(t.signature_rows, signature.rows);
  REQUIRE(rows.size() == 3);
  CHECK(name(rows[0].signature) == "of_f");
  CHECK(name(rows[1].signature) == "of_g");
  CHECK(name(rows[2].signature) == "too");
  CHECK(name(signature.otherwise) == "any");
}

TEST_CASE("what the program has like a call of its own stays so if the user replaces that") {
  const std::vector<Source> sources{{"user.sys", "f(op: int)\n"},
                                    {"own.sys", "f(op: int) by op { 1 (of_f: int) }\ng(op: int) by op like f {}\n"},
                                    {"x86_64.nr", "7 g\n"}};
  Diagnostics diagnostics;
  CompileOptions options;
  options.first_replaceable = 1;
  const auto set = compile(sources, diagnostics, options);
  CHECK(diagnostics.text(sources).empty());
  CHECK(set.signature_rows.size() == 1);
}

TEST_CASE("a number and a type are enough for an ioctl, for some ABIs and for a number that says no direction too") {
  const auto c = compile_text(
      "struct w { a: long }\n"
      "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
      "ioctls 'T' { ONE = _IOR(1, w) TWO@i386 = _IOW(2, w) THREE = _IO(3, w) (argp: *w) FOUR = _IOWR(4, w) _ }\n",
      "16 ioctl\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  CHECK(constants_of(t) == Constants{{0x45403, "THREE"},
                                     {0x85403, "THREE"},
                                     {0x40045402, "TWO"},
                                     {0x80045401, "ONE"},
                                     {0x80085401, "ONE"},
                                     {0xc0045404, "FOUR"},
                                     {0xc0085404, "FOUR"}});
  const auto rows = Tables::slice(t.signature_rows, t.signatures[t.calls[0].signature].rows);
  REQUIRE(rows.size() == 5);
  CHECK(rows[2].abis == mask_of(Abi::i386));
  const auto argument = Tables::slice(t.params, t.signatures[rows[3].signature].params)[2];
  CHECK(t.text(argument.name) == "argp");
  CHECK(t.types[argument.type].direction == Direction::out);
}

TEST_CASE("a structure has its size in the number of an ioctl though only run time knows how it goes on") {
  const auto c = compile_text(
      "struct said sized by 2 * word { count: u32  list: u32[count] }\n"
      "struct placed { count: u32  last: u64 at 20 }\n"
      "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
      "ioctls 'T' { SAID@64 = _IOR(1, said) PLACED@64 = _IOR(2, placed) }\n",
      "16 ioctl\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  CHECK(t.constants[0].value == 0x80105401);
  CHECK(t.constants[1].value == 0x801c5402);
}

TEST_CASE("ioctls of a block that is likely on an ABI go before others of their number there") {
  const auto c = compile_text(
      "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
      "ioctls 'd' { A = 1 (of_a: int) }\nioctls 'd' likely@arm { B = 1 (of_b: int) }\n",
      "16 ioctl\n");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  const auto rows = Tables::slice(t.signature_rows, t.signatures[t.calls[0].signature].rows);
  REQUIRE(rows.size() == 3);
  const auto name = [&](const SignatureRow& row) {
    return t.text(Tables::slice(t.params, t.signatures[row.signature].params)[2].name);
  };
  CHECK(name(rows[0]) == "of_b");
  CHECK(rows[0].abis == (mask_of(Abi::aarch64) | mask_of(Abi::arm)));
  CHECK(name(rows[1]) == "of_a");
  CHECK(rows[1].abis == all_abis);
  CHECK(name(rows[2]) == "of_b");
}

TEST_CASE("numbers of ioctls that are written out are told if their argument has a size") {
  const std::vector<Source> sources{{"x.sys",
                                     "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
                                     "ioctls 'T' {\n"
                                     "  SAME = 0x80045412 (argp: out *u32)\n"
                                     "  OTHER = 0x80085402 (argp: out *u32)\n"
                                     "  OLD = 0x5401 (argp: out *u32)\n"
                                     "}\n"}};
  Diagnostics diagnostics;
  CompileOptions options;
  options.numbers = true;
  compile(sources, diagnostics, options);
  CHECK(diagnostics.text(sources) ==
        "x.sys:3:3: warning: found 0x80045412, expected _IOR(0x12, TYPE)\n"
        "x.sys:4:3: warning: found 0x80085402, of 8 bytes on x86_64, expected the 4 of the argument\n");
}

TEST_CASE("numbers of ioctls are replaced by what their arguments say") {
  const std::string call = "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n";
  const std::vector<Source> sources{{"x.sys", call + "ioctls 'T' { A = 0x80045412 (argp: out *u32)  B = 0x5401 }\n"
                                                     "ioctls 'T' {\n"
                                                     "  C = 0x40085413@x86_64 (argp: *u64)\n"
                                                     "  D = 0xc0045414(argp: inout *u32)\n"
                                                     "  E = 0x80085415,0x80045415@i386,x32,arm (argp: out *long)\n"
                                                     "}\n"},
                                    {"x86_64.nr", "16 ioctl\n"}};
  const auto compiled = [](const std::vector<Source>& files, Diagnostics& diagnostics) {
    CompileOptions options;
    options.numbers = true;
    return compile(files, diagnostics, options);
  };
  Diagnostics diagnostics;
  const auto before = compiled(sources, diagnostics);
  const std::string text = with_numbers_replaced(sources[0].text, 0, diagnostics.all());
  CHECK(text == call +
                    "ioctls 'T' { A = _IOR(0x12, u32) (argp: out *u32)  B = 0x5401 }\n"
                    "ioctls 'T' {\n"
                    "  C = 0x40085413@x86_64 (argp: *u64)\n"
                    "  D = _IOWR(0x14, u32)(argp: inout *u32)\n"
                    "  E = 0x80085415,0x80045415@i386,x32,arm (argp: out *long)\n"
                    "}\n");
  Diagnostics none;
  const auto after = compiled({{"x.sys", text}, sources[1]}, none);
  CHECK_FALSE(none.has_errors());
  const auto numbers = [](const spec::TableSet& set) {
    std::vector<std::uint64_t> values;
    std::transform(set.constants.begin(), set.constants.end(), std::back_inserter(values),
                   [](const Constant& constant) { return constant.value; });
    return values;
  };
  CHECK(numbers(before) == numbers(after));
}

TEST_CASE("no number of an ioctl is written out that its argument says") {
  const auto sources = read_sources({DESCRIPTIONS});
  Diagnostics diagnostics;
  CompileOptions options;
  options.numbers = true;
  compile(sources, diagnostics, options);
  CHECK(diagnostics.text(sources).find("expected _IO") == std::string::npos);
}

TEST_CASE("of ioctls with one number the first name in the alphabet says the arguments, and a user's goes before") {
  const Source own{"own.sys",
                   "ioctl(fd: int, op: ioctl_cmd) by op { else (arg: ulong) }\n"
                   "ioctls 'T' { LATER = 1 (later: int) EARLIER = 1 (earlier: int) BARE = 1 }\n"};
  const auto first_of = [&](std::vector<Source> sources, CompileOptions options) {
    sources.push_back(own);
    sources.push_back({"x86_64.nr", "16 ioctl\n"});
    Diagnostics diagnostics;
    const auto set = compile(sources, diagnostics, options);
    REQUIRE(!diagnostics.has_errors());
    const auto t = set.view();
    const auto rows = Tables::slice(t.signature_rows, t.signatures[t.calls[0].signature].rows);
    return std::string(t.text(Tables::slice(t.params, t.signatures[rows[0].signature].params)[2].name));
  };
  CHECK(first_of({}, {}) == "earlier");
  CompileOptions options;
  options.first_replaceable = 1;
  CHECK(first_of({{"user.sys", "ioctls 'T' { USER = 1 (of_user: int) }\n"}}, options) == "of_user");
}

TEST_CASE("equal texts and equal types have one entry") {
  const auto c = compile_text("f(path: *cstr, other: *cstr)\n", "1 f\n2 g f\n");
  const auto params = params_of(c.tables(), "f");
  CHECK(params[0].type == params[1].type);
  CHECK(c.set.strings.find("cstr") == c.set.strings.rfind("\0cstr", std::string::npos, 5) + 1);
  CHECK(c.set.calls.size() == 2);
  CHECK(c.set.calls[0].signature == c.set.calls[1].signature);
}

TEST_CASE("a description for some ABIs goes before the plain one") {
  const auto c = compile_text("f(a: int)\nf@i386(a: int, b: int)\n", "7 f\n", "i386.nr");
  CHECK(params_of(c.tables(), "f").size() == 2);
  CHECK(params_of(compile_text("f(a: int)\nf@i386(a: int, b: int)\n", "7 f\n").tables(), "f").size() == 1);
}

TEST_CASE("numbers without a description are errors, or words if lenient") {
  const std::vector<Source> sources{{"x.sys", "read(fd: int)\n"}, {"x86_64.nr", "0 read\n1 reed\n"}};
  Diagnostics strict;
  compile(sources, strict);
  CHECK(strict.text(sources) ==
        "x86_64.nr:2:3: error: found reed, expected the name of a described call; did you mean read?\n");
  Diagnostics lenient;
  const auto set = compile(sources, lenient, {true, false});
  CHECK(!lenient.has_errors());
  const auto tables = set.view();
  const auto* call = tables.find(Abi::x86_64, 1);
  REQUIRE(call != nullptr);
  CHECK(tables.text(call->name) == "reed");
  CHECK(tables.signatures[call->signature].params.count == 6);
}

TEST_CASE("fields keep the order of show, offsets the order of memory") {
  const auto c = compile_text("struct s { a: u8 b: u32 _: u32 c: u16 } show brief { c } show { c a b }\n");
  REQUIRE(c.messages.empty());
  const auto fields = c.tables().fields;
  REQUIRE(fields.size() == 4);
  CHECK(c.tables().text(fields[0].name) == "c");
  CHECK(fields[0].offset[0] == 12);
  CHECK(fields[0].in_brief);
  CHECK(fields[1].offset[0] == 0);
  CHECK(!fields[1].in_brief);
  CHECK(fields[3].hidden);
}

TEST_CASE("keys of a table that an ABI does not have match nothing there") {
  const auto c = compile_text("enum k : u32 { A=1@x86 }\ntable t(k) { A: u32 else: u8 }\nstruct s { k: k v: t(k) }\n");
  REQUIRE(c.messages.empty());
  const auto key = c.set.choice_rows[0].keys[0];
  REQUIRE(c.set.exprs[key].op == ExprOp::variable_literal);
  CHECK(c.set.abi_values[c.set.exprs[key].a] == 1);
  CHECK(c.set.abi_values[c.set.exprs[key].a + index_of(Abi::arm)] == absent_key);
}

TEST_CASE("a row with another type for fewer bytes is two") {
  const auto c =
      compile_text("struct s { a: u64 }\ntable t(k) { 1: s or bytes[rest] else: u8 }\nstruct u { k: u32 v: t(k) }\n");
  REQUIRE(c.messages.empty());
  REQUIRE(c.set.choice_rows.size() == 3);
  CHECK(c.set.choice_rows[0].whole);
  CHECK(!c.set.choice_rows[1].whole);
  CHECK(c.set.choice_rows[0].keys == c.set.choice_rows[1].keys);
  CHECK(c.set.types[c.set.choice_rows[1].type].kind == TypeKind::bytes);
}

TEST_CASE("redirected calls are found by value") {
  const auto c = compile_text(
      "enum nr : u32 { SYS_SOCKET=1 }\nsocket(family: int)\n"
      "socketcall(call: nr, args: *ulong[6]) redirect args by call { SYS_SOCKET: socket }\n",
      "102 socketcall\n", "i386.nr");
  REQUIRE(c.messages.empty());
  const auto t = c.tables();
  const auto* call = t.find(Abi::i386, 102);
  REQUIRE(call != nullptr);
  REQUIRE(call->redirects.count == 1);
  const auto& row = t.redirects[call->redirects.first];
  CHECK(row.value == 1);
  CHECK(t.text(t.calls[row.call].name) == "socket");
  CHECK(t.text(t.params[call->redirect_args].name) == "args");
}

TEST_CASE("verify finds broken tables") {
  auto c = compile_text("struct s { a: u32 }\nf(a: *s)\n", "1 f\n");
  REQUIRE(c.tables().verify().empty());
  auto broken = c.set;
  broken.params[0].slot[0] = most_parameters;
  CHECK(broken.view().verify() == "params[0]: a slot beyond the last argument");
  broken = c.set;
  broken.fields[0].type = 1000;
  CHECK(broken.view().verify() == "fields[0]: name or type out of range");
  broken = c.set;
  broken.fields[0].type =
      static_cast<TypeId>(std::find_if(broken.types.begin(), broken.types.end(),
                                       [](const Type& type) { return type.kind == TypeKind::structure; }) -
                          broken.types.begin());
  CHECK(broken.view().verify().find("contains itself") != std::string::npos);
}

TEST_CASE("functions of libraries take their parameters in the order of C") {
  const auto c = compile_text(
      "pwritev(fd: int, pos: i64 halves at 3, iov: ulong at 1, count: ulong at 2) -> long\n"
      "library \"libc.so.6\" {\n"
      "  pwritev\n"
      "  printf(format: *cstr) -> int varargs printf\n"
      "  free(p: ulong) -> void\n"
      "}\n"
      "library \"libm.so.6\" \"libc.so.6\" { frexpl(x: longdouble, exp: out *int) -> longdouble }\n"
      "library \"libc.so.6\" { fopen(path: *cstr, mode: *cstr) -> ulong errno }\n"
      "library \"libc.so.6\" leaf { strlen(s: *cstr) -> ulong }\n",
      "1 pwritev\n");
  REQUIRE(c.messages.empty());
  const auto tables = c.tables();
  CHECK(tables.verify().empty());
  const auto* call = tables.find("libc.so.6", "pwritev");
  REQUIRE(call != nullptr);
  CHECK(call->sets_errno);
  const auto params = Tables::slice(tables.params, tables.signatures[call->signature].params);
  CHECK(params[0].slot == Slots{0, 0, 0, 0, 0});
  CHECK(params[1].slot == Slots{3, 3, 3, 3, 3});
  CHECK_FALSE(params[1].wide);
  CHECK(params[2].slot == Slots{1, 1, 1, 1, 1});
  REQUIRE(tables.find("libc.so.6", "free") != nullptr);
  CHECK(tables.signatures[tables.find("libc.so.6", "free")->signature].result == none);
  CHECK(tables.find("libc.so.6", "printf")->varargs == Varargs::printf);
  CHECK(tables.find("libc.so.6", "fopen")->sets_errno);
  CHECK(tables.find("libc.so.6", "strlen")->leaf);
  CHECK_FALSE(tables.find("libc.so.6", "fopen")->leaf);
  CHECK(tables.find("libc.so.6", "frexpl") == tables.find("libm.so.6", "frexpl"));
  CHECK(tables.find("libm.so.6", "free") == nullptr);
  CHECK(tables.find("libc.so.6", "fre") == nullptr);
}

}  // namespace tracer::sysc::test
