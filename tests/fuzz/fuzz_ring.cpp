// Rings that programs may have written anything into: records as the recorder makes them, with fields at an edge and
// bytes that change at any time, also while they are decoded. Nothing may crash, every text must be printable, and
// every JSON valid.
//
//   fuzz_ring SECONDS [SEED]
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "capture/captured_stack.h"
#include "decoded_calls.h"
#include "inprocess/layout.h"
#include "inprocess/recorded_memory.h"
#include "inprocess/ring_reader.h"

namespace {

using namespace tracer;
using namespace tracer::inprocess;
using Random = std::mt19937_64;

std::uint64_t any_number(Random& random) {
  const std::uint64_t edges[] = {0, 1, 7, 8, 4095, ~std::uint64_t{99}, ~std::uint64_t{0}, registers_address};
  return random() % 4 == 0 ? edges[random() % std::size(edges)] : 0x1000 * (1 + random() % 3) + random() % 32;
}

/// A thread that records calls, and writes into its ring what it likes.
class HostileThread {
 public:
  HostileThread(Area& area, Random& random, const fuzz::DecodedCalls& calls)
      : area_(area), random_(random), calls_(calls) {}

  void record_call() {
    EnterRecord entry{};
    entry.head.kind = record_enter;
    entry.number = random_() % 16 == 0 ? random_() : calls_.any_number(random_);
    for (std::uint64_t& argument : entry.args) {
      argument = any_number(random_);
    }
    add(&entry, sizeof entry);
    ExitRecord exit{};
    exit.head.kind = record_leave;
    exit.result = static_cast<std::int64_t>(any_number(random_));
    add(&exit, sizeof exit);
  }

  void change_bytes() {
    const std::uint64_t written = area_.thread.written;
    for (std::size_t i = random_() % 8; i != 0; --i) {
      area_.ring[(written - random_() % 2048) % ring_size] = static_cast<std::byte>(random_() % 3 == 0 ? random_() : 0);
    }
    if (random_() % 512 == 0) {
      area_.thread.written += any_number(random_);
    }
  }

 private:
  void add(const void* front, std::size_t size) {
    const std::uint64_t start = area_.thread.written;
    std::uint64_t end = start;
    const auto put = [&](const void* bytes, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        area_.ring[(end + i) % ring_size] = static_cast<const std::byte*>(bytes)[i];
      }
      end += (count + 7) / 8 * 8;
    };
    put(front, size);
    for (std::size_t left = random_() % 6; left != 0; --left) {
      std::array<char, 256> bytes;
      for (char& byte : bytes) {
        byte = static_cast<char>(random_() % 3 == 0 ? random_() : 0);
      }
      constexpr std::string_view hostile = "/x\x1b[2J\n\"<>\xff (deleted)";
      std::memcpy(bytes.data() + random_() % 2 * 64, hostile.data(), hostile.size());
      const std::size_t length = random_() % bytes.size();
      const auto kind = static_cast<std::uint32_t>(random_() % (chunk_command + 2));
      const std::uint64_t address = kind == chunk_memory ? any_number(random_) : random_() % 8;
      const Chunk chunk{address, static_cast<std::uint32_t>(random_() % 32 == 0 ? random_() : length), kind};
      put(&chunk, sizeof chunk);
      put(bytes.data(), length);
    }
    const auto whole = static_cast<std::uint32_t>(end - start);
    std::memcpy(&area_.ring[start % ring_size], &whole, std::min(sizeof whole, ring_size - start % ring_size));
    area_.thread.written = end;
  }

  Area& area_;
  Random& random_;
  const fuzz::DecodedCalls& calls_;
};

/// Takes the events, and lets the thread run meanwhile.
class Taker final : public ptrace::RecordedCalls {
 public:
  Taker(fuzz::DecodedCalls& calls, HostileThread& thread, std::uint64_t seed)
      : calls_(calls), thread_(thread), seed_(seed) {}

  void on_recorded(pid_t tid, trace::Event& event, const trace::Memory& memory) override {
    thread_.change_bytes();
    if (const auto* enter = std::get_if<trace::SyscallEnter>(&event.what)) {
      entry_ = decode::Entry{};
      entry_.tid = tid;
      entry_.abi = event.abi;
      entry_.number = enter->number;
      entry_.args = enter->args;
      return;
    }
    const auto& exit = std::get<trace::SyscallExit>(event.what);
    calls_.decode(entry_, {.value = exit.value, .is_error = exit.is_error}, memory, seed_);
    std::array<std::byte, 300> registers;
    static_cast<void>(event.stack->registers(registers));
    static_cast<void>(memory.snapshot()->command(tid));
    ++taken_;
  }
  void on_recorded(const trace::FunctionRecorder::Hit& hit) override {
    thread_.change_bytes();
    std::array<std::byte, 64> bytes;
    static_cast<void>(hit.memory->read(RemoteAddr(hit.stack_pointer), bytes));
    ++taken_;
  }
  void on_damaged(pid_t) override {}
  void on_left(ptrace::Tracee&, const trace::SyscallExit&) override {}
  void on_counted(std::span<const trace::CallTotals>) override {}
  void report_signal(ptrace::Tracee&, int, const siginfo_t*) override {}
  ptrace::Tracee* find_tracee(pid_t) override { return nullptr; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  fuzz::DecodedCalls& calls_;
  HostileThread& thread_;
  std::uint64_t seed_;
  decode::Entry entry_;
  std::uint64_t taken_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 5);
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  const auto area = std::make_unique<Area>();
  fuzz::DecodedCalls calls;
  std::uint64_t taken = 0;
  for (std::uint64_t rounds = 0; rounds < 50 || std::chrono::steady_clock::now() < end; ++rounds, ++seed) {
    Random random(seed);
    std::memset(area->head, 0, sizeof area->head);
    HostileThread thread(*area, random, calls);
    Taker taker(calls, thread, seed);
    ThreadRing ring(1, *area);
    std::vector<ThreadRing*> rings{&ring};
    TickClock clock;
    for (unsigned i = 0; i < 64; ++i) {
      for (std::size_t left = random() % 16; left != 0; --left) {
        thread.record_call();
      }
      if (random() % 8 == 0) {
        thread.change_bytes();
      }
      report_all(rings, clock, taker);
    }
    taken += taker.taken();
  }
  std::printf("%llu calls\n", static_cast<unsigned long long>(taken));
  return taken == 0 ? 1 : 0;
}
