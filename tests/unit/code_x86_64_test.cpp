// Code that is replaced in programs: where a jump of ours may stand.
#include <cstdint>
#include <vector>

#include "arch/call_site.h"
#include "catch.h"
#include "skip.h"

namespace tracer {
namespace {

std::vector<std::byte> code_of(std::initializer_list<unsigned> bytes) {
  std::vector<std::byte> code;
  for (const unsigned byte : bytes) {
    code.push_back(std::byte(byte));
  }
  return code;
}

constexpr std::uint64_t start = 0x401000;

TEST_CASE("a call site is found, but not behind a breakpoint") {
  if (!arch::can_record_inside().ok()) {
    SKIP("calls cannot be recorded inside programs here");
  }
  // mov %rcx,%r10; mov $110,%eax; syscall
  auto code = code_of({0x49, 0x89, 0xca, 0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05});
  const auto site = arch::find_call_site(code, start, start + 8);
  REQUIRE(site);
  CHECK(site->patch == start + 3);
  // What is left of the first instruction is another one.
  code[0] = std::byte{0xcc};
  CHECK_FALSE(arch::find_call_site(code, start, start + 8));
}

}  // namespace
}  // namespace tracer
