// Instructions under breakpoints on aarch64. The words are what the GNU assembler makes of the text beside them.

#include "arch/breakpoint.h"
#include "catch.h"

namespace tracer {
namespace {

constexpr std::uint64_t here = 0x400000;
constexpr std::uint64_t literal = 0xfedcba9887654321;

/// One word of memory, `literal`, 0x20 behind the instruction.
class OneWord final : public trace::Memory {
 public:
  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    if (address.value() != here + 0x20 || into.size() > sizeof literal) {
      return 0;
    }
    const auto bytes = std::as_bytes(std::span(&literal, 1));
    std::copy_n(bytes.begin(), into.size(), into.begin());
    return into.size();
  }
};

std::vector<std::byte> code_of(std::initializer_list<std::uint32_t> words) {
  const auto bytes = std::as_bytes(std::span(words.begin(), words.size()));
  return {bytes.begin(), bytes.end()};
}

struct After {
  arch::StepStrategy strategy;
  std::uint64_t to = 0;
  arch::Registers registers;
};

After run(std::uint32_t instruction, arch::Registers registers = {}) {
  registers.set_instruction_pointer(here);
  const auto code = code_of({instruction});
  After after{arch::step_strategy(Abi::aarch64, code), 0, registers};
  if (after.strategy == arch::StepStrategy::emulated) {
    const auto write = arch::emulate(Abi::aarch64, code, here, after.registers, OneWord());
    CHECK((write && write->size == 0));
    after.to = after.registers.instruction_pointer();
  }
  return after;
}

arch::Registers with(unsigned number, std::uint64_t value) {
  arch::Registers registers;
  registers.set_general(number, value);
  return registers;
}

arch::Registers with_state(std::uint64_t state) {
  arch::Registers registers;
  registers.set_state(state);
  return registers;
}

constexpr std::uint64_t negative = std::uint64_t{1} << 31;
constexpr std::uint64_t zero = std::uint64_t{1} << 30;
constexpr std::uint64_t carry = std::uint64_t{1} << 29;
constexpr std::uint64_t overflow = std::uint64_t{1} << 28;

}  // namespace

TEST_CASE("branches are emulated") {
  CHECK(run(0x14000400).to == here + 0x1000);  // b .+0x1000
  const After call = run(0x97fff800);          // bl .-0x2000
  CHECK(call.to == here - 0x2000);
  CHECK(call.registers.general(30) == here + 4);
  const After indirect = run(0xd63f0100, with(8, 0x1234560));  // blr x8
  CHECK(indirect.to == 0x1234560);
  CHECK(indirect.registers.general(30) == here + 4);
  const After back = run(0xd65f03c0, with(30, 0x7654320));  // ret
  CHECK(back.to == 0x7654320);
  CHECK(back.registers.general(30) == 0x7654320);
  CHECK(run(0xd61f0220, with(17, 0x88)).to == 0x88);  // br x17
}

TEST_CASE("conditional branches are taken as the processor takes them") {
  const auto eq = [](std::uint64_t state) { return run(0x54000200, with_state(state)).to; };  // b.eq .+0x40
  CHECK(eq(zero) == here + 0x40);
  CHECK(eq(carry) == here + 4);
  const auto gt = [](std::uint64_t state) { return run(0x54fffe0c, with_state(state)).to; };  // b.gt .-0x40
  CHECK(gt(0) == here - 0x40);
  CHECK(gt(negative | overflow) == here - 0x40);
  CHECK(gt(negative) == here + 4);
  CHECK(gt(zero) == here + 4);
  const auto ls = [](std::uint64_t state) { return run(0x54000209, with_state(state)).to; };  // b.ls .+0x40
  CHECK(ls(0) == here + 0x40);
  CHECK(ls(carry) == here + 4);
  CHECK(ls(carry | zero) == here + 0x40);
  constexpr std::uint64_t only_high = std::uint64_t{1} << 40;
  CHECK(run(0x34000403, with(3, only_high)).to == here + 0x80);  // cbz w3, .+0x80
  CHECK(run(0x34000403, with(3, 1)).to == here + 4);
  CHECK(run(0xb5fffc03, with(3, only_high)).to == here - 0x80);  // cbnz x3, .-0x80
  CHECK(run(0xb5fffc03, with(3, 0)).to == here + 4);
  CHECK(run(0xb6400805, with(5, only_high)).to == here + 4);  // tbz x5, #40, .+0x100
  CHECK(run(0xb6400805, with(5, ~only_high)).to == here + 0x100);
  CHECK(run(0x371ff805, with(5, 8)).to == here - 0x100);  // tbnz w5, #3, .-0x100
  CHECK(run(0x371ff805, with(5, 7)).to == here + 4);
}

TEST_CASE("what counts from its own place is emulated") {
  const After address = run(0x70ff6e42);  // adr x2, .-0x1235
  CHECK(address.to == here + 4);
  CHECK(address.registers.general(2) == here - 0x1235);
  CHECK(run(0xd0000090).registers.general(16) == here + 0x12000);     // adrp x16, 18 pages on
  CHECK(run(0x58000101).registers.general(1) == literal);             // ldr x1, .+0x20
  CHECK(run(0x18000101).registers.general(1) == 0x87654321);          // ldr w1, .+0x20
  CHECK(run(0x98000101).registers.general(1) == 0xffffffff87654321);  // ldrsw x1, .+0x20
  CHECK(run(0xd8000100).to == here + 4);                              // prfm pldl1keep, .+0x20
  CHECK(run(0x5c000101).strategy == arch::StepStrategy::in_place);    // ldr d1, .+0x20
  CHECK(run(0xd65f0bff).strategy == arch::StepStrategy::in_place);    // retaa
  arch::Registers registers;
  CHECK_FALSE(
      arch::emulate(Abi::aarch64, code_of({0x58000201}), here, registers, OneWord()));  // ldr x1, .+0x40: unreadable
}

TEST_CASE("an emulated instruction leaves no mark of an indirect branch") {
  constexpr std::uint64_t branch_type = std::uint64_t{3} << 10;
  CHECK(run(0x14000400, with_state(branch_type | carry)).registers.state() == carry);
}

TEST_CASE("other instructions run elsewhere and jump back") {
  const auto code = code_of({0xa9be7bfd});  // stp x29, x30, [sp, #-32]!
  CHECK(arch::step_strategy(Abi::aarch64, code) == arch::StepStrategy::displaced);
  const auto moved = arch::displace(Abi::aarch64, code, here, here - 0x10000);
  REQUIRE(moved);
  CHECK(moved->code == code_of({0xa9be7bfd, 0x14004000}));  // b .+0x10000, from 4 bytes on to 4 bytes on
  CHECK(moved->jump_back == 4);
  CHECK_FALSE(arch::displace(Abi::aarch64, code, here, here + (std::uint64_t{1} << 28)));
  CHECK(arch::step_strategy(Abi::aarch64, std::span(code).first(3)) == arch::StepStrategy::in_place);
}

TEST_CASE("stubs begin where they are called, with their marks; other jumps through a slot are found at the jump") {
  constexpr std::uint64_t slot = here + 0x12000 + 0xff8;
  const std::array<arch::SlotAddress, 2> slots = {{{slot, 7}, {slot + 8, 8}}};
  const auto stubs = [&](std::initializer_list<std::uint32_t> words) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
    for (const arch::FoundStub& stub : find_stubs(Abi::aarch64, code_of(words), here, slots, 0)) {
      found.emplace_back(stub.address, stub.slot);
    }
    return found;
  };
  using Stubs = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  constexpr std::uint32_t adrp = 0xd0000090;  // x16, 18 pages on
  constexpr std::uint32_t ldr = 0xf947fe11;   // x17, [x16, #0xff8]
  constexpr std::uint32_t add = 0x913fe210;   // x16, x16, #0xff8
  constexpr std::uint32_t br = 0xd61f0220;    // x17
  constexpr std::uint32_t bti = 0xd503245f;   // c
  constexpr std::uint32_t auth = 0xd503219f;  // autia1716
  constexpr std::uint32_t pop = 0xa8c27bfd;   // ldp x29, x30, [sp], #32
  CHECK(stubs({adrp, ldr, add, br}) == Stubs{{here, 7}});
  CHECK(stubs({bti, adrp, ldr, add, auth, br}) == Stubs{{here, 7}});
  CHECK(stubs({adrp, ldr, pop, br}) == Stubs{{here + 12, 7}});
  CHECK(stubs({adrp, ldr, add}).empty());
  CHECK(stubs({adrp, ldr, 0x14000400, br}).empty());   // b .+0x1000 in between
  CHECK(stubs({adrp, 0xf947fa11, add, br}).empty());   // ldr x17, [x16, #0xff0]: no slot
  CHECK(stubs({adrp, ldr, add, 0xd61f0200}).empty());  // br x16: of the slot's address
  CHECK(find_stubs(Abi::arm, code_of({adrp, ldr, add, br}), here, slots, 0).empty());
}

TEST_CASE("a function's registers are those of the procedure call standard") {
  arch::Registers registers;
  for (unsigned i = 0; i < 31; ++i) {
    registers.set_general(i, 100 + i);
  }
  const auto entry = arch::function_entry(registers, OneWord());
  REQUIRE(entry);
  CHECK(entry->integers[0] == 100);
  CHECK(entry->integers[7] == 107);
  CHECK(entry->result_address == 108);
  CHECK(entry->return_address == 130);
  CHECK(arch::function_result(registers) == std::array<std::uint64_t, 2>{100, 101});
}

namespace {

/// Code at `here`, and what one word behind it holds.
class Code final : public trace::Memory {
 public:
  explicit Code(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    const std::uint64_t at = address.value() - here;
    if (at >= bytes_.size() || into.size() > bytes_.size() - at) {
      return 0;
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), into.size(), into.begin());
    return into.size();
  }

 private:
  std::vector<std::byte> bytes_;
};

std::optional<std::uint64_t> errno_by(std::initializer_list<std::uint32_t> code) {
  return arch::errno_address(Abi::aarch64, here, Code(code_of(code)), 0x7000);
}

}  // namespace

TEST_CASE("errno is where the C library's function says") {
  // bti c; adrp x0, .; ldr x0, [x0, #0x18]; mrs x1, tpidr_el0; add x0, x1, x0; ret; and the word at 0x18
  CHECK(errno_by({0xd503245f, 0x90000000, 0xf9400c00, 0xd53bd041, 0x8b000020, 0xd65f03c0, 0x30, 0}) == 0x7030);
  CHECK(errno_by({0xd53bd040, 0xd102c000, 0xd65f03c0}) == 0x7000 - 0xb0);  // mrs; sub x0, x0, #0xb0; ret
  CHECK_FALSE(errno_by({0xd53bd040, 0xaa0203e0, 0xd65f03c0}));             // mov x0, x2 in between
  CHECK_FALSE(errno_by({0x8b000020, 0xd65f03c0}));                         // add of what is not known
  CHECK_FALSE(errno_by({0xd53bd040}));                                     // no end
}

}  // namespace tracer
