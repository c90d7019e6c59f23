// Sets of calls, signals, descriptors and named choices, as a user writes them. The messages are strace's.
#include <algorithm>
#include <cerrno>

#include "catch.h"
#include "cli_tables.h"
#include "filter/set_text.h"
#include "filter/status.h"
#include "filter/syscall_set.h"

using namespace tracer;
using namespace tracer::filter;

namespace {

constexpr AbiMask x86 = mask_of(Abi::x86_64) | mask_of(Abi::i386) | mask_of(Abi::x32);
const test::CallTables call_tables;
const spec::Tables tables = call_tables.tables();

SyscallSet parse(std::string_view text) {
  auto set = parse_syscall_set(text, {tables, x86, false});
  REQUIRE(set.ok());
  return std::move(set).value();
}

std::string error_of(std::string_view text, bool suggest = false) {
  const auto set = parse_syscall_set(text, {tables, x86, suggest});
  return set.ok() ? "no error" : set.error().message;
}

}  // namespace

TEST_CASE("a name stands for the call in every ABI") {
  const auto set = parse("read,stat");
  CHECK(set.contains(Abi::x86_64, 0));
  CHECK(set.contains(Abi::i386, 3));
  CHECK(set.contains(Abi::i386, 106));
  CHECK_FALSE(set.contains(Abi::i386, 0));
  CHECK_FALSE(set.contains(Abi::x86_64, 1));
  CHECK_FALSE(set.contains(Abi::x86_64, 5000));
}

TEST_CASE("@ picks one ABI") {
  const auto set = parse("read@32,write@64,open@x32");
  CHECK(set.contains(Abi::i386, 3));
  CHECK_FALSE(set.contains(Abi::x86_64, 0));
  CHECK(set.contains(Abi::x86_64, 1));
  CHECK_FALSE(set.contains(Abi::x32, 1));
  CHECK(set.contains(Abi::x32, 2));
  CHECK(parse("all@32").contains(Abi::i386, 102));
  CHECK_FALSE(parse("all@32").contains(Abi::x86_64, 0));
}

TEST_CASE("numbers, regular expressions and classes") {
  CHECK(parse("39").contains(Abi::x86_64, 39));
  CHECK(parse("520") == parse("execve@x32"));
  CHECK(parse("/^(read|write)$") == parse("read,write"));
  CHECK(parse("/o").contains(Abi::i386, 102));
  CHECK(parse("%file") == parse("open,stat,execve"));
  CHECK(parse("file,%stat") == parse("open,stat,execve"));
  CHECK(parse("%net@64").empty());
}

TEST_CASE("! negates the set") {
  const auto set = parse("!read");
  CHECK_FALSE(set.contains(Abi::x86_64, 0));
  CHECK(set.contains(Abi::x86_64, 1));
  CHECK(set.contains(Abi::x86_64, 5000));
  CHECK(parse("!!read") == parse("read"));
  CHECK(parse("!all").empty());
  CHECK(parse("!none").full());
}

TEST_CASE("? lets an item match nothing") {
  CHECK(parse("?nosuch").empty());
  CHECK(parse("?socketcall@64,read") == parse("read"));
  CHECK(parse("?%nosuch").empty());
  CHECK(parse("?").empty());
}

TEST_CASE("a sub-call has a name and classes, and the call around it is another") {
  constexpr std::uint64_t accept = spec::SubCalls::first;
  for (const auto* const text : {"accept", "%net", "/^acc", "accept@32", "all", "!socketcall", "!%desc"}) {
    CHECK(parse(text).contains(Abi::i386, accept));
  }
  for (const auto* const text : {"socketcall", "102", "%desc", "!accept", "!%net", "none"}) {
    CHECK_FALSE(parse(text).contains(Abi::i386, accept));
  }
  CHECK_FALSE(parse("accept").contains(Abi::i386, 102));
  CHECK(parse("!%net").contains(Abi::i386, 102));
  CHECK(error_of("accept@64") == "invalid system call 'accept@64'");
}

TEST_CASE("of a sub-call an engine has to see the call around it") {
  const auto numbers = parse("accept").kernel_numbers(tables);
  CHECK(numbers[index_of(Abi::i386)].count() == 1);
  CHECK(numbers[index_of(Abi::i386)].test(102));
  CHECK(numbers[index_of(Abi::x86_64)].none());
  CHECK(parse("read").kernel_numbers(tables)[index_of(Abi::i386)].count() == 1);
}

TEST_CASE("what is not a call is reported in strace's words") {
  CHECK(error_of("nosuch") == "invalid system call 'nosuch'");
  CHECK(error_of("read,none") == "invalid system call 'none'");
  CHECK(error_of("") == "invalid system call ''");
  CHECK(error_of(",") == "invalid system call ','");
  CHECK(error_of("!!") == "invalid system call '!!'");
  CHECK(error_of("read,!write") == "invalid system call '!write'");
  CHECK(error_of("?,foo") == "invalid system call 'foo'");
  CHECK(error_of("socketcall@64") == "invalid system call 'socketcall@64'");
  CHECK(error_of("read@64@32") == "invalid system call 'read@64@32'");
  CHECK(error_of("%FILE") == "invalid system call '%FILE'");
  CHECK(error_of("net") == "invalid system call 'net'");
  CHECK(error_of("1000") == "invalid system call '1000'");
  CHECK(error_of(" 1") == "invalid system call ' 1'");
  CHECK(error_of("/^READ$") == "invalid system call '/^READ$'");
  CHECK(error_of("/^re(ad") == "regcomp: ^re(ad: Unmatched ( or \\(");
  CHECK(error_of("read@foo") == "incorrect personality designator 'foo' in qualification 'read@foo'");
  CHECK(parse_syscall_set("read@", {tables, x86, false}).error().number == EINVAL);
}

TEST_CASE("a near miss is suggested") {
  CHECK(error_of("opne", true) == "invalid system call 'opne'; did you mean open?");
  CHECK(error_of("%desk", true) == "invalid system call '%desk'; did you mean %desc?");
  CHECK(error_of("qqqqqqqqq", true) == "invalid system call 'qqqqqqqqq'");
}

TEST_CASE("calls that the tables do not know pass every trace filter") {
  auto set = parse("none");
  set.add_unknown(tables);
  CHECK(set.contains(Abi::x86_64, 700));
  CHECK(set.contains(Abi::x86_64, 1U << 20));
  CHECK_FALSE(set.contains(Abi::x86_64, 0));
}

TEST_CASE("numbers far above the others' are told apart, as those of arm's own calls") {
  constexpr std::uint64_t set_tls = 0xf0005;
  filter::SyscallSet set;
  CHECK_FALSE(set.contains(Abi::arm, set_tls));
  set.add(Abi::arm, set_tls);
  set.add(Abi::arm, set_tls);
  CHECK(set.contains(Abi::arm, set_tls));
  CHECK_FALSE(set.contains(Abi::arm, set_tls + 1));
  CHECK_FALSE(set.contains(Abi::aarch64, set_tls));
  set.invert();
  CHECK_FALSE(set.contains(Abi::arm, set_tls));
  CHECK(set.contains(Abi::arm, set_tls + 1));
  set.add(Abi::arm, set_tls);
  CHECK(set.full());
  CHECK(set.contains(Abi::arm, set_tls));

  for (const std::string text : {"read", "none", "!set_tls", "set_tls", "all", "!read"}) {
    INFO(text);
    auto some = parse_syscall_set(text, {tables, mask_of(Abi::arm), false}).value();
    const bool wanted = text == "set_tls" || text == "all" || text == "!read";
    CHECK(some.contains(Abi::arm, set_tls) == wanted);
    some.add_unknown(tables);
    CHECK(some.contains(Abi::arm, set_tls) == wanted);
    CHECK(some.contains(Abi::arm, set_tls + 1000));
  }
}

TEST_CASE("descriptors") {
  const auto some = parse_descriptor_set("3,2147483647");
  REQUIRE(some.ok());
  CHECK(some.value().contains(3));
  CHECK_FALSE(some.value().contains(4));
  CHECK_FALSE(parse_descriptor_set("!3").value().contains(3));
  CHECK(parse_descriptor_set("!3").value().contains(4));
  CHECK(parse_descriptor_set("all").value().full());
  CHECK(parse_descriptor_set("!all").value().empty());
  CHECK(parse_descriptor_set(" 3,+4").value() == parse_descriptor_set("3,4").value());
  CHECK(parse_descriptor_set("2147483648").error().message == "invalid descriptor '2147483648'");
  CHECK(parse_descriptor_set("0x3").error().message == "invalid descriptor '0x3'");
  CHECK(parse_descriptor_set("").error().message == "invalid descriptor ''");
}

TEST_CASE("signals") {
  for (const char* text : {"sigint", "INT", "2", "02", "SIGINT,,"}) {
    const auto set = parse_signal_set(text);
    REQUIRE(set.ok());
    CHECK(set.value().contains(2));
    CHECK_FALSE(set.value().contains(1));
  }
  CHECK(parse_signal_set("rt_32").value().contains(64));
  CHECK(parse_signal_set("255").ok());
  for (const char* text : {"foo", "256", "-1", "SIGPOLL", "RTMIN+1", "SIGRTMAX", "ALL", " int"}) {
    CHECK(parse_signal_set(text).error().message == "invalid signal '" + std::string(text) + "'");
  }
}

TEST_CASE("named choices") {
  constexpr std::array<ChoiceName<CallStatus>, 3> names = {
      {{"successful", CallStatus::successful}, {"failed", CallStatus::failed}, {"unfinished", CallStatus::unfinished}}};
  const auto read = [&](std::string_view text) { return parse_choice_set<CallStatus>(text, "status", names); };
  CHECK(read("FAILED").value() == StatusSet{CallStatus::failed});
  CHECK(read("!failed").value() == StatusSet{CallStatus::successful, CallStatus::unfinished});
  CHECK(read("!all").value().empty());
  CHECK(read("none").value().empty());
  CHECK(read("all,failed").error().message == "invalid status 'all'");
  CHECK(read("ALL").error().message == "invalid status 'ALL'");
  CHECK(read("!").error().message == "invalid status '!'");
}
