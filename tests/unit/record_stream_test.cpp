// Records of several CPUs come out in the order of their times, and none before what it may follow from.
#include <linux/bpf.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "bpf/record_stream.h"
#include "bpf/tracing.h"
#include "catch.h"

namespace tracer::test {

namespace {

constexpr std::uint64_t far_off = std::numeric_limits<std::uint64_t>::max() / 4;

/// A record of one byte more than a multiple of eight, with zeros behind its front.
std::vector<std::byte> record(std::uint64_t time, std::size_t behind = 1) {
  trace_record head{};
  head.size = static_cast<__u32>(sizeof head + behind);
  head.time = time;
  std::vector<std::byte> bytes(head.size);
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

/// Writes as the programs of one CPU do.
class Cpu {
 public:
  explicit Cpu(std::span<record_block> blocks) : blocks_(blocks) {}

  bool put(const std::vector<std::byte>& bytes) {
    record_block& block = blocks_[block_ % blocks_.size()];
    if (at_ == 0 && block.end != 0) {
      return false;
    }
    std::memcpy(block.bytes + at_, bytes.data(), bytes.size());
    at_ += (bytes.size() + 7) / 8 * 8;
    const bool full = at_ > block_room;
    block.end = full ? at_ | block_is_full : at_;
    at_ = full ? 0 : at_;
    block_ += full ? 1 : 0;
    return true;
  }

 private:
  std::span<record_block> blocks_;
  std::size_t block_ = 0;
  std::size_t at_ = 0;
};

/// A file that looks as the kernel's ring buffer does to its reader.
class Ring {
 public:
  static constexpr std::size_t size = 65536;

  Ring() : fd_(::memfd_create("ring", MFD_CLOEXEC)) {
    REQUIRE(fd_.valid());
    REQUIRE(::ftruncate(fd_.get(), static_cast<off_t>(2 * page_ + 2 * size)) == 0);
    mapping_ = static_cast<std::byte*>(
        ::mmap(nullptr, 2 * page_ + 2 * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0));
    REQUIRE(mapping_ != MAP_FAILED);
  }
  ~Ring() { ::munmap(mapping_, 2 * page_ + 2 * size); }

  bpf::RecordRing reader() { return bpf::RecordRing::open(fd_.get(), size).value(); }

  /// Returns the place of its head.
  std::uint64_t put(const std::vector<std::byte>& bytes, bool busy) {
    const std::uint64_t at = end_;
    set_head(at, static_cast<std::uint32_t>(bytes.size()), busy);
    std::memcpy(mapping_ + 2 * page_ + at + BPF_RINGBUF_HDR_SZ, bytes.data(), bytes.size());
    end_ += (bytes.size() + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    std::memcpy(mapping_ + page_, &end_, sizeof end_);
    return at;
  }
  void set_head(std::uint64_t at, std::uint32_t length, bool busy) {
    const std::uint32_t head = busy ? length | BPF_RINGBUF_BUSY_BIT : length;
    std::memcpy(mapping_ + 2 * page_ + at, &head, sizeof head);
  }

 private:
  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  UniqueFd fd_;
  std::byte* mapping_ = nullptr;
  std::uint64_t end_ = 0;
};

constexpr std::size_t each = 2;

/// Two CPUs with two blocks each, and one that nobody looks into, and the ring.
struct Machine {
  std::vector<record_block> blocks = std::vector<record_block>(2 * (each + 1));
  Cpu first{std::span(blocks).first(each)};
  Cpu second{std::span(blocks).subspan(each + 1, each)};
  Ring ring;
  bpf::RecordStream stream{ring.reader(), blocks, each};

  std::vector<std::uint64_t> take(std::size_t most = 1000000) {
    std::vector<std::uint64_t> times;
    stream.consume(most, [&times](std::span<const std::byte> bytes) {
      trace_record head{};
      REQUIRE(bytes.size() >= sizeof head);
      std::memcpy(&head, bytes.data(), sizeof head);
      REQUIRE(bytes.size() == head.size);
      times.push_back(head.time);
    });
    return times;
  }
};

using Times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("records of all CPUs and of the ring come in the order of their times") {
  Machine machine;
  for (const std::uint64_t time : Times{1, 4, 5, 9}) {
    REQUIRE(machine.first.put(record(time)));
  }
  for (const std::uint64_t time : Times{2, 6, 7}) {
    REQUIRE(machine.second.put(record(time)));
  }
  machine.ring.put(record(3), false);
  machine.ring.put(record(8), false);
  CHECK(machine.stream.waiting() != 0);
  CHECK(machine.take(4) == Times{1, 2, 3, 4});
  CHECK(machine.take() == Times{5, 6, 7, 8, 9});
  CHECK(machine.take().empty());
  CHECK(machine.stream.waiting() == 0);
  REQUIRE(machine.first.put(record(10)));
  CHECK(machine.take() == Times{10});
}

TEST_CASE("a record from after the look at the clock waits, as what it follows from may have been missed") {
  Machine machine;
  REQUIRE(machine.first.put(record(1)));
  REQUIRE(machine.first.put(record(far_off)));
  REQUIRE(machine.second.put(record(far_off + 1)));
  CHECK(machine.take() == Times{1});
  CHECK(machine.take().empty());
  machine.stream.set_clock_offset(std::chrono::nanoseconds(far_off));
  CHECK(machine.take() == Times{far_off, far_off + 1});
}

TEST_CASE("nothing passes a record that is still being written") {
  Machine machine;
  const std::uint64_t place = machine.ring.put(record(1), true);
  REQUIRE(machine.first.put(record(2)));
  CHECK(machine.take().empty());
  machine.ring.set_head(place, static_cast<std::uint32_t>(record(1).size()), false);
  CHECK(machine.take() == Times{1, 2});
}

TEST_CASE("blocks are full one after the other, and free again when they have been read") {
  Machine machine;
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  const auto expect_rest = [&] {
    for (const std::uint64_t time : machine.take()) {
      REQUIRE(time == ++read);
    }
    REQUIRE(read == written);
  };
  for (int round = 0; round < 5; ++round) {
    std::size_t bytes = 0;
    for (;;) {
      const auto next = record(written + 1, written % 4000);
      if (!machine.first.put(next)) {
        break;
      }
      ++written;
      bytes += (next.size() + 7) / 8 * 8;
    }
    CHECK(bytes > block_room);
    CHECK(machine.stream.waiting() == bytes);
    expect_rest();
    // From the middle of a block on.
    for (int i = 0; i < 50; ++i) {
      REQUIRE(machine.first.put(record(++written)));
    }
    expect_rest();
  }
}

}  // namespace tracer::test
