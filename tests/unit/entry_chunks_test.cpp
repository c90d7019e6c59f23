// What is kept of the entries of calls that have not returned.
#include <vector>

#include "bpf/entry_chunks.h"
#include "catch.h"

namespace tracer::test {

TEST_CASE("the chunks of a call's entry are there when it returns, and those of a call that was left are not") {
  bpf::EntryChunks entries;
  const std::vector<std::byte> outer(3, std::byte{1});
  const std::vector<std::byte> inner(5, std::byte{2});
  entries.keep(1, 1000, 7, outer);
  for (int i = 0; i < 5000; ++i) {  // each is left by a jump
    entries.keep(1, 900, 8, inner);
  }
  CHECK(entries.take(1, 900, 8).size() == inner.size());
  CHECK(entries.take(1, 900, 8).empty());
  CHECK(entries.take(1, 1000, 7).size() == outer.size());
}

TEST_CASE("the chunks of entries are forgotten before they take too much memory") {
  bpf::EntryChunks entries;
  const std::vector<std::byte> large(32 << 10);
  entries.keep(1, 1, 7, large);
  for (int tid = 2; tid < 4000; ++tid) {
    entries.keep(tid, 1, 7, large);
  }
  CHECK(entries.take(1, 1, 7).empty());
  CHECK(entries.take(3999, 1, 7).size() == large.size());
}

}  // namespace tracer::test
