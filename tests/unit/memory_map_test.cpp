#include "proc/memory_map.h"
#include "catch.h"

#include <string>

using namespace tracer;

TEST_CASE("lines of /proc/PID/maps") {
  const auto code =
      proc::parse_mapped_range("7f0000001000-7f0000003000 r-xp 00002000 08:01 1234    /usr/lib/a b\\012c.so (deleted)");
  REQUIRE(code);
  CHECK(code->start == 0x7f0000001000);
  CHECK(code->end == 0x7f0000003000);
  CHECK(code->is_executable());
  CHECK(code->protection == "r-xp");
  CHECK(code->file_offset == 0x2000);
  CHECK(code->inode == 1234);
  CHECK(code->map_files_name() == "7f0000001000-7f0000003000");
  CHECK(code->offset_of(0x7f0000001234) == 0x2234);
  CHECK(code->contains(0x7f0000002fff));
  CHECK_FALSE(code->contains(0x7f0000003000));
  CHECK(code->path == "/usr/lib/a b\\012c.so (deleted)");
  const auto data = proc::parse_mapped_range("00400000-00401000 rw-p 00000000 00:00 0 ");
  REQUIRE(data);
  CHECK_FALSE(data->is_executable());
  CHECK(data->path.empty());
  CHECK(data->map_files_name() == "400000-401000");
  for (const char* bad : {"", "x", "1-2", "1-2 r-x", "1-2 r-xp", "1-2 r-xp 0 0:0", "1-2 r-xp g 0:0 0 /a"}) {
    CHECK_FALSE(proc::parse_mapped_range(bad));
  }
}

TEST_CASE("a map is read range by range, without what is no line of it") {
  std::string starts;
  proc::for_each_range("1000-2000 r--p 0 0:0 0 \nnonsense\n2000-3000 r-xp 0 0:0 0 [vdso]",
                       [&](const proc::MappedRange& range) { starts += std::to_string(range.start) + ' '; });
  CHECK(starts == "4096 8192 ");
  bool any = false;
  proc::for_each_range(proc::read_memory_map(0), [&](const proc::MappedRange&) { any = true; });
  CHECK_FALSE(any);  // there is no thread 0
}
