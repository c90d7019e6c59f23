// What `sysc plan` prints of the plans that run.

#include "capture/plan_text.h"
#include "catch.h"
#include "compiled.h"

namespace tracer::sysc::test {

namespace {

constexpr const char* descriptions =
    "enum cmd : u32 { GET=1 SET=2 }\n"
    "struct inner { name: *cstr length: u32 }\n"
    "struct part { base: *bytes[len] len: ulong }\n"
    "read(fd: int, buf: out *bytes[ret], count: ulong)\n"
    "execve(path: *cstr, argv: *(*cstr)[until 0])\n"
    "wait(status: out *i32 when ret > 0, options: int)\n"
    "ctl(cmd: cmd) by cmd { GET (arg: out *inner) SET (arg: *inner) }\n"
    "swap(value: inout *u64)\n"
    "writev(fd: int, parts: *part[count], count: ulong)\n"
    "close(fd: int)\n";

constexpr const char* numbers = "0 read\n1 execve\n2 wait\n3 ctl\n4 swap\n5 writev\n6 close\n";

std::string plan_of(const char* call) {
  const auto c = compile_text(descriptions, numbers);
  CHECK(c.messages.empty());
  return capture::plan_text(c.tables(), call);
}

}  // namespace

TEST_CASE("plans say what is copied and when") {
  CHECK(plan_of("read") ==
        "read(fd, buf, count)\n"
        "  exit, where it succeeds\n"
        "    copy buf: ret bytes, at most 34\n");
  CHECK(plan_of("execve") ==
        "execve(path, argv)\n"
        "  entry\n"
        "    copy path: text, at most 34 bytes\n"
        "    copy argv: 4096 bytes\n"
        "    copy each u64 in argv until 0: text, at most 34 bytes\n");
  CHECK(plan_of("wait") ==
        "wait(status, options)\n"
        "  exit\n"
        "    copy status: 4 bytes\n");
  CHECK(plan_of("swap") ==
        "swap(value)\n"
        "  entry\n"
        "    copy value: 8 bytes\n"
        "  exit\n"
        "    copy value: 8 bytes\n");
  CHECK(plan_of("close") ==
        "close(fd)\n"
        "  copies nothing\n");
}

TEST_CASE("a plan repeats operations for the elements of an array") {
  CHECK(plan_of("writev") ==
        "writev(fd, parts, count)\n"
        "  entry\n"
        "    copy parts: count * 16 bytes, at most 528\n"
        "    for $7 in parts: count * 16 bytes, 16 each, at most 64 elements\n"
        "      load $8 = u64 at $7\n"
        "      load $9 = u64 at $7+8\n"
        "      copy $8: $9 bytes, at most 34\n");
}

TEST_CASE("plans have a block for each form") {
  CHECK(plan_of("ctl") ==
        "ctl(cmd)\n"
        "  copies nothing\n"
        "ctl GET(cmd, arg)\n"
        "  exit, where it succeeds\n"
        "    copy arg: 16 bytes\n"
        "    load $7 = u64 at arg\n"
        "    copy $7: text, at most 34 bytes\n"
        "ctl SET(cmd, arg)\n"
        "  entry\n"
        "    copy arg: 16 bytes\n"
        "    load $7 = u64 at arg\n"
        "    copy $7: text, at most 34 bytes\n");
}

TEST_CASE("plans have a block for each ABI that has its own") {
  std::vector<Source> sources{
      {"test.sys", descriptions}, {"x86_64.nr", numbers}, {"aarch64.nr", numbers}, {"arm.nr", numbers}};
  Diagnostics diagnostics;
  const auto set = compile(sources, diagnostics);
  REQUIRE(diagnostics.text(sources).empty());
  CHECK(capture::plan_text(set.view(), "swap") == plan_of("swap"));
  CHECK(capture::plan_text(set.view(), "execve") ==
        "execve(path, argv) on x86_64 aarch64\n"
        "  entry\n"
        "    copy path: text, at most 34 bytes\n"
        "    copy argv: 4096 bytes\n"
        "    copy each u64 in argv until 0: text, at most 34 bytes\n"
        "execve(path, argv) on arm\n"
        "  entry\n"
        "    copy path: text, at most 34 bytes\n"
        "    copy argv: 4096 bytes\n"
        "    copy each u32 in argv until 0: text, at most 34 bytes\n");
}

TEST_CASE("a call that has no number has no plan") {
  CHECK(plan_of("write").empty());
}

}  // namespace tracer::sysc::test
