// Hostile objects and stacks: programs with bytes changed are unwound from, named and looked up, from registers and
// memory that make no sense. Nothing may crash or take long.
//
//   fuzz_stack PROGRAM ROUNDS [FIRST]    FIRST: the seed of the first round
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "change_bytes.h"
#include "change_dwarf.h"
#include "change_elf.h"
#include "stack/elf_object.h"
#include "stack/unwind_row.h"

namespace {

using namespace tracer;
using namespace tracer::stack;

/// Something everywhere, mostly small numbers and addresses near by.
class Noise final : public trace::Memory {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    if (random_() % 16 == 0) {
      return 0;
    }
    const std::uint64_t value = random_() % 2 == 0 ? address.value() + random_() % 256 : random_();
    const auto bytes = std::as_bytes(std::span(&value, 1));
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = bytes[i % bytes.size()];
    }
    return into.size();
  }

 private:
  mutable std::mt19937_64 random_;
};

void use(ElfObject& object, std::size_t size, std::uint64_t seed, debuginfo::Reader& reader) {
  std::mt19937_64 random(seed);
  const Noise memory(seed);
  for (int i = 0; i < 40; ++i) {
    // Code stands at the front.
    const std::uint64_t code_end = std::min<std::uint64_t>(size, 16384);
    const auto address = object.address_of(random() % code_end);
    if (!address) {
      continue;
    }
    arch::FrameRegisters registers;
    registers.count = 17;
    registers.stack_pointer = 7;
    registers.frame_pointer = 6;
    for (unsigned number = 0; number < registers.count; ++number) {
      registers.set(number, random() % 2 == 0 ? random() : *address);
    }
    (void)apply(object.row(*address), registers, memory);
    (void)object.function(*address, "/nonexistent/program", ::getpid(), reader);
    if (i % 4 == 0) {
      (void)object.sources("/nonexistent/program", ::getpid(), reader)->at(*address, static_cast<unsigned>(i) / 4 % 2);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("fuzz_stack PROGRAM ROUNDS [FIRST]\n", stderr);
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  const std::vector<char> original{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const unsigned long rounds = std::strtoul(argv[2], nullptr, 10);
  const unsigned long first = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  unsigned long opened = 0;
  unsigned long refused = 0;
  debuginfo::Reader reader([&refused](std::string_view) { ++refused; });
  constexpr double hang = 20;  // seconds, on a machine that has other work
  double longest = 0;
  for (unsigned long seed = first; seed < first + rounds; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<char> file = original;
    switch (seed % 4) {
      case 0:
        fuzz::change_bytes(file, random, [size = file.size()](std::mt19937_64& dice) { return dice() % size; });
        break;
      case 1:
        fuzz::ElfChanger(file, random).change();
        break;
      default:
        fuzz::DwarfChanger(file, random).change();
        break;
    }
    const std::size_t size = file.size();
    const auto started = std::chrono::steady_clock::now();
    if (const auto object = ElfObject::from_image(std::move(file))) {
      ++opened;
      use(*object, size, seed, reader);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    if (took.count() > longest) {
      longest = took.count();
      std::fprintf(stderr, "seed %lu took %.3f s\n", seed, longest);
    }
  }
  std::fprintf(stderr, "%lu rounds, %lu objects opened, %lu too hard to read, the longest took %.3f s\n", rounds,
               opened, refused, longest);
  return opened != 0 && longest < hang ? 0 : 1;
}
