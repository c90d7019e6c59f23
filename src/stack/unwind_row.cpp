#include "stack/unwind_row.h"

#include <array>
#include <cstring>
#include <optional>

#include "stack/expression.h"

namespace tracer::stack {

namespace {

std::optional<std::uint64_t> value_of(const Rule& rule, const arch::FrameRegisters& registers,
                                      const trace::Memory& memory, std::optional<std::uint64_t> cfa) {
  const auto offset = static_cast<std::uint64_t>(rule.offset);
  std::optional<std::uint64_t> address;
  switch (rule.kind) {
    case Rule::Kind::same:
    case Rule::Kind::undefined:
      return std::nullopt;
    case Rule::Kind::cfa:
      return *cfa + offset;
    case Rule::Kind::other:
      return registers.has(rule.other) ? std::optional(registers.values[rule.other] + offset) : std::nullopt;
    case Rule::Kind::expression:
      return evaluate(rule.expression, registers, memory, cfa);
    case Rule::Kind::at_cfa:
      address = *cfa + offset;
      break;
    case Rule::Kind::at_expression:
      address = evaluate(rule.expression, registers, memory, cfa);
      break;
  }
  std::uint64_t value = 0;
  if (!address || !read_word(memory, *address, registers.word_size, value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool read_word(const trace::Memory& memory, std::uint64_t address, unsigned size, std::uint64_t& value) {
  std::array<std::byte, sizeof value> bytes{};
  const auto wanted = std::span(bytes).first(size);
  if (memory.read(RemoteAddr(address), wanted) != size) {
    return false;
  }
  // All supported architectures are little-endian.
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

bool apply(const Row& row, arch::FrameRegisters& registers, const trace::Memory& memory) {
  if (row.kind != Row::Kind::frame) {
    return false;
  }
  auto cfa = value_of(row.cfa, registers, memory, std::nullopt);
  if (!cfa) {
    return false;
  }
  const std::uint64_t word_mask = registers.word_size == 4 ? 0xffffffffU : ~std::uint64_t{0};
  cfa = *cfa & word_mask;
  arch::FrameRegisters caller = registers;
  caller.known &= ~row.undefined;
  caller.set(registers.stack_pointer, *cfa);
  for (const Rule& rule : row.rules) {
    const auto value = value_of(rule, registers, memory, cfa);
    if (value) {
      caller.set(rule.number, *value & word_mask);
    } else {
      caller.forget(rule.number);
    }
  }
  if (!caller.has(row.return_address)) {
    return false;
  }
  caller.instruction_pointer = caller.values[row.return_address] & registers.address_mask;
  registers = caller;
  return true;
}

}  // namespace tracer::stack
