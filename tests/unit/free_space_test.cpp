// Where a tracee has room for what we put beside its code.
#include <sys/mman.h>
#include <unistd.h>

#include "arch/breakpoint.h"
#include "catch.h"
#include "functions/library/modules.h"

using namespace tracer;

TEST_CASE("there is room for displaced instructions within the reach of a jump") {
  const auto code = reinterpret_cast<std::uint64_t>(&functions::library::free_space_below);
  constexpr std::uint64_t size = 4096;
  const std::uint64_t room = functions::library::free_space_below(::getpid(), code, size, arch::displaced_reach());
  REQUIRE(room != 0);
  CHECK(room < code);
  CHECK(code - room < arch::displaced_reach());
  void* const there =
      ::mmap(reinterpret_cast<void*>(room), size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(there == reinterpret_cast<void*>(room));
  ::munmap(there, size);
}
