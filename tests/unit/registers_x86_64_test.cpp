// What system calls pass in registers, on the three ABIs of x86 (syscall(2)).
#include <sys/user.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "arch/arch.h"
#include "arch/breakpoint.h"
#include "catch.h"

namespace tracer {
namespace {

/// struct user_regs_struct32 of the kernel.
struct NarrowRegisters {
  std::uint32_t ebx, ecx, edx, esi, edi, ebp, eax, ds, es, fs, gs, orig_eax, eip, cs, eflags, esp, ss;
};

template <typename Set>
arch::Registers registers_of(const Set& set) {
  arch::Registers registers;
  std::memcpy(registers.buffer().data(), &set, sizeof set);
  REQUIRE(registers.resize(sizeof set));
  return registers;
}

std::vector<std::uint64_t> arguments(const arch::Registers& registers, Abi abi) {
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < 6; ++i) {
    found.push_back(registers.argument(i, abi));
  }
  return found;
}

const std::vector<std::uint64_t> one_to_six{1, 2, 3, 4, 5, 6};
constexpr std::uint64_t code_64 = 0x33;
constexpr std::uint64_t code_32 = 0x23;

TEST_CASE("a 64-bit call") {
  user_regs_struct set{};
  set.rdi = 1;
  set.rsi = 2;
  set.rdx = 3;
  set.r10 = 4;
  set.r8 = 5;
  set.r9 = 6;
  set.orig_rax = 257;
  set.rip = 0x401000;
  set.rsp = 0x7fff0000;
  set.cs = code_64;
  set.rax = static_cast<unsigned long long>(-ENOSYS);
  arch::Registers registers = registers_of(set);
  CHECK(arguments(registers, Abi::x86_64) == one_to_six);
  CHECK(registers.call_number() == 257);
  CHECK(registers.instruction_pointer() == 0x401000);
  CHECK(registers.stack_pointer() == 0x7fff0000);
  CHECK(registers.mode_abi() == Abi::x86_64);
  CHECK(registers.looks_like_entry());
  const std::byte syscall_code[] = {std::byte{0x0f}, std::byte{0x05}};
  const std::byte interrupt_code[] = {std::byte{0xcd}, std::byte{0x80}};
  CHECK(registers.call_abi(syscall_code) == Abi::x86_64);
  CHECK(registers.call_abi(interrupt_code) == Abi::i386);
  registers.set_call_number(0x40000101);
  CHECK(registers.call_abi(syscall_code) == Abi::x32);
  registers.set_result(-EPERM);
  CHECK(registers.result() == -EPERM);
  CHECK_FALSE(registers.looks_like_entry());
}

TEST_CASE("a 32-bit call in the registers of 64 bits") {
  user_regs_struct set{};
  set.rbx = 1;
  set.rcx = 2;
  set.rdx = 3;
  set.rsi = 4;
  set.rdi = 0xffffffff00000005;
  set.rbp = 6;
  set.cs = code_32;
  const arch::Registers registers = registers_of(set);
  CHECK(arguments(registers, Abi::i386) == one_to_six);
  CHECK(registers.mode_abi() == Abi::i386);
}

TEST_CASE("a 32-bit call in a register set of its own") {
  NarrowRegisters set{};
  set.ebx = 1;
  set.ecx = 2;
  set.edx = 3;
  set.esi = 4;
  set.edi = 5;
  set.ebp = 6;
  set.orig_eax = 295;
  set.eax = static_cast<std::uint32_t>(-ENOSYS);
  set.eip = 0x8048000;
  set.esp = 0xff000000;
  arch::Registers registers = registers_of(set);
  CHECK(arguments(registers, Abi::i386) == one_to_six);
  CHECK(registers.call_number() == 295);
  CHECK(registers.result() == -ENOSYS);
  CHECK(registers.instruction_pointer() == 0x8048000);
  CHECK(registers.stack_pointer() == 0xff000000);
  registers.set_argument(5, Abi::i386, 60);
  CHECK(registers.argument(5, Abi::i386) == 60);
  CHECK(registers.argument(4, Abi::i386) == 5);
}

TEST_CASE("a register set of another size is none of ours") {
  arch::Registers registers;
  CHECK_FALSE(registers.resize(0));
  CHECK_FALSE(registers.resize(sizeof(user_regs_struct) - 8));
  CHECK(registers.bytes().size() == sizeof(user_regs_struct));
}

std::optional<std::size_t> uprobe_at(std::initializer_list<unsigned char> code) {
  return arch::uprobe_offset(Abi::x86_64, std::as_bytes(std::span(code.begin(), code.size())), false);
}

TEST_CASE("no uprobe is placed where the kernel refuses it, which would refuse all others with it") {
  if (!arch::can_break_at_functions(Abi::x86_64)) {
    return;  // without the decoder of instructions
  }
  CHECK_FALSE(uprobe_at({0xf0, 0xff, 0x0f}));                   // lock decl (%rdi), glibc's pthread_spin_lock
  CHECK_FALSE(uprobe_at({0x3e, 0xff, 0xe0}));                   // notrack jmp *%rax
  CHECK_FALSE(uprobe_at({0x2e, 0x8b, 0x07}));                   // mov %cs:(%rdi),%eax
  CHECK_FALSE(uprobe_at({0xcd, 0x80}));                         // int $0x80
  CHECK_FALSE(uprobe_at({0xcc}));                               // int3
  CHECK_FALSE(uprobe_at({0xf4}));                               // hlt
  CHECK_FALSE(uprobe_at({0xec}));                               // in (%dx),%al
  CHECK(uprobe_at({0x55}) == 0);                                // push %rbp
  CHECK(uprobe_at({0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0}) == 0);  // mov %fs:0,%eax
  CHECK(uprobe_at({0xf3, 0x0f, 0x1e, 0xfa, 0x55}) == 4);        // endbr64, push %rbp
}

std::size_t emulated_at(std::initializer_list<unsigned char> code) {
  return arch::emulated_offset(Abi::x86_64, std::as_bytes(std::span(code.begin(), code.size())),
                               [](std::int64_t distance) { return distance == 0x40; });
}

TEST_CASE("a uprobe is placed where the kernel emulates, if every call comes there, and nothing else") {
  if (!arch::can_break_at_functions(Abi::x86_64)) {
    return;
  }
  CHECK(emulated_at({0x85, 0xff, 0x78, 0x01, 0xc3, 0xc3}) == 2);                          // test %edi,%edi; js
  CHECK(emulated_at({0x83, 0x3d, 0, 0, 0, 0, 0, 0x74, 0x01, 0xc3, 0xc3}) == 7);           // cmpl $0,x(%rip); je
  CHECK(emulated_at({0x48, 0x89, 0xf8, 0x85, 0xff, 0x78, 0x01, 0xc3, 0xc3}) == 0);        // mov %rdi,%rax before
  CHECK(emulated_at({0xf3, 0x0f, 0x1e, 0xfa, 0x85, 0xff, 0x78, 0x01, 0xc3, 0xc3}) == 0);  // endbr64 before
  CHECK(emulated_at({0x85, 0xff, 0x74, 0x04, 0xff, 0xcf, 0xeb, 0xf8, 0xc3}) == 2);        // a loop to the start
  CHECK(emulated_at({0x85, 0xff, 0x74, 0x04, 0xff, 0xcf, 0xeb, 0xfa, 0xc3}) == 0);        // one to the je
  CHECK(emulated_at({0x85, 0xff, 0x74, 0x02, 0xff, 0xe6, 0xc3}) == 0);                    // jmp *%rsi
  CHECK(emulated_at({0x85, 0xff, 0x74, 0x20, 0xc3}) == 0);                                // je out of it
  CHECK(emulated_at({0x85, 0xff, 0x7f, 0x3c, 0xc3}) == 2);                                // jg to a function
  CHECK(emulated_at({0x83, 0x3f, 0x00, 0x74, 0x01, 0xc3, 0xc3}) == 0);                    // cmpl $0,(%rdi)
  CHECK(emulated_at({0x85, 0xff, 0xc3}) == 0);
  CHECK(emulated_at({}) == 0);
}

}  // namespace
}  // namespace tracer
