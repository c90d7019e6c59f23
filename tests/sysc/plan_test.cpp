#include "sysc/capture_plan.h"

#include <catch2/catch.hpp>

#include "compiled.h"

namespace tracer::sysc::test {

namespace {

constexpr const char* descriptions =
    "enum cmd : u32 { GET=1 SET=2 }\n"
    "struct inner { name: *cstr length: u32 }\n"
    "read(fd: int, buf: out *bytes[ret], count: ulong)\n"
    "execve(path: *cstr, argv: *(*cstr)[until 0])\n"
    "wait(status: out *i32 when ret > 0, options: int)\n"
    "ctl(cmd: cmd) by cmd { GET (arg: out *inner) SET (arg: *inner) }\n"
    "swap(value: inout *u64)\n";

std::string plan_of(const char* call) {
  const auto c = compile_text(descriptions, "0 read\n1 execve\n2 wait\n3 ctl\n4 swap\n");
  CHECK(c.messages.empty());
  return capture_plan(c.tables(), call);
}

}  // namespace

TEST_CASE("plans say what is copied and when") {
  CHECK(plan_of("read") ==
        "read(fd, buf, count)\n"
        "  unfinished before buf\n"
        "  exit  buf: bytes, ret bytes\n");
  CHECK(plan_of("execve") ==
        "execve(path, argv)\n"
        "  unfinished after all arguments\n"
        "  entry path: text up to NUL\n"
        "  entry argv: *cstr until 0\n"
        "  entry argv[]: text up to NUL\n");
  CHECK(plan_of("wait") ==
        "wait(status, options)\n"
        "  unfinished before status\n"
        "  exit  status: i32, 4 bytes when ret > 0\n");
  CHECK(plan_of("swap") ==
        "swap(value)\n"
        "  unfinished before value\n"
        "  entry value: u64, 8 bytes\n"
        "  exit  value: u64, 8 bytes\n");
}

TEST_CASE("plans have a block for each row") {
  CHECK(plan_of("ctl") ==
        "ctl(cmd)\n"
        "  unfinished after all arguments\n"
        "ctl GET(cmd, arg)\n"
        "  unfinished before arg\n"
        "  exit  arg: inner, 16 bytes\n"
        "  exit  arg.name: text up to NUL\n"
        "ctl SET(cmd, arg)\n"
        "  unfinished after all arguments\n"
        "  entry arg: inner, 16 bytes\n"
        "  entry arg.name: text up to NUL\n");
}

TEST_CASE("a call that nothing describes has no plan") {
  CHECK(plan_of("write").empty());
}

}  // namespace tracer::sysc::test
