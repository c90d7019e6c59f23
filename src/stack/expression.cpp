#include "stack/expression.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stack/unwind_row.h"

namespace tracer::stack {

namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_steps = 4096;  // an expression may loop forever

class Machine {
 public:
  Machine(std::span<const Dwarf_Op> operations, const arch::FrameRegisters& registers, const trace::Memory& memory,
          std::optional<std::uint64_t> cfa)
      : operations_(operations), registers_(registers), memory_(memory), cfa_(cfa) {}

  std::optional<std::uint64_t> run() {
    for (std::size_t steps = 0; next_ < operations_.size(); ++steps) {
      if (steps == max_steps || !execute(operations_[next_++])) {
        return std::nullopt;
      }
    }
    return size_ == 0 ? std::nullopt : std::optional(stack_[size_ - 1]);
  }

 private:
  bool push(std::uint64_t value) {
    if (size_ == max_depth) {
      return false;
    }
    stack_[size_++] = value;
    return true;
  }
  bool push_register(std::uint64_t number, std::uint64_t offset) {
    return registers_.has(number) && push(registers_.values[number] + offset);
  }
  /// DW_OP_pick: pushes a copy of the entry at `depth`, where 0 is the top.
  bool pick(std::uint64_t depth) { return depth < size_ && push(stack_[size_ - 1 - depth]); }

  bool jump(const Dwarf_Op& operation) {
    constexpr std::uint64_t length = 3;  // of DW_OP_skip and DW_OP_bra
    const std::uint64_t target =
        operation.offset + length + static_cast<std::uint64_t>(static_cast<std::int16_t>(operation.number));
    const auto at = std::lower_bound(operations_.begin(), operations_.end(), target,
                                     [](const Dwarf_Op& each, std::uint64_t offset) { return each.offset < offset; });
    if (at != operations_.end() && at->offset != target) {
      return false;
    }
    next_ = static_cast<std::size_t>(at - operations_.begin());
    return true;
  }

  bool dereference(std::uint64_t size) {
    std::uint64_t value = 0;
    if (size_ == 0 || size == 0 || size > sizeof value ||
        !read_word(memory_, stack_[size_ - 1], static_cast<unsigned>(size), value)) {
      return false;
    }
    stack_[size_ - 1] = value;
    return true;
  }

  bool unary(std::uint8_t atom, std::uint64_t operand) {
    if (size_ == 0) {
      return false;
    }
    std::uint64_t& top = stack_[size_ - 1];
    switch (atom) {
      case DW_OP_neg:
        top = 0 - top;
        break;
      case DW_OP_not:
        top = ~top;
        break;
      case DW_OP_abs:
        top = static_cast<std::int64_t>(top) < 0 ? 0 - top : top;
        break;
      default:
        top += operand;  // DW_OP_plus_uconst
        break;
    }
    return true;
  }

  bool binary(std::uint8_t atom) {
    if (size_ < 2) {
      return false;
    }
    const std::uint64_t b = stack_[--size_];
    std::uint64_t& a = stack_[size_ - 1];
    const auto signed_a = static_cast<std::int64_t>(a);
    const auto signed_b = static_cast<std::int64_t>(b);
    constexpr std::uint64_t width = 64;
    switch (atom) {
      case DW_OP_and:
        a &= b;
        return true;
      case DW_OP_or:
        a |= b;
        return true;
      case DW_OP_xor:
        a ^= b;
        return true;
      case DW_OP_plus:
        a += b;
        return true;
      case DW_OP_minus:
        a -= b;
        return true;
      case DW_OP_mul:
        a *= b;
        return true;
      case DW_OP_div:
        if (b == 0) {
          return false;
        }
        a = signed_b == -1 ? 0 - a : static_cast<std::uint64_t>(signed_a / signed_b);
        return true;
      case DW_OP_mod:
        if (b == 0) {
          return false;
        }
        a %= b;
        return true;
      case DW_OP_shl:
        a = b < width ? a << b : 0;
        return true;
      case DW_OP_shr:
        a = b < width ? a >> b : 0;
        return true;
      case DW_OP_shra:
        a = static_cast<std::uint64_t>(signed_a >> std::min(b, width - 1));
        return true;
      case DW_OP_eq:
        a = a == b ? 1 : 0;
        return true;
      case DW_OP_ne:
        a = a != b ? 1 : 0;
        return true;
      case DW_OP_lt:
        a = signed_a < signed_b ? 1 : 0;
        return true;
      case DW_OP_le:
        a = signed_a <= signed_b ? 1 : 0;
        return true;
      case DW_OP_gt:
        a = signed_a > signed_b ? 1 : 0;
        return true;
      case DW_OP_ge:
        a = signed_a >= signed_b ? 1 : 0;
        return true;
      default:
        return false;
    }
  }

  bool execute(const Dwarf_Op& operation) {
    const std::uint8_t atom = operation.atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
      return push(std::uint64_t{atom} - DW_OP_lit0);
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
      return push_register(std::uint64_t{atom} - DW_OP_breg0, operation.number);
    }
    switch (atom) {
      case DW_OP_nop:
      case DW_OP_stack_value:
        return true;
      case DW_OP_addr:
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_const4u:
      case DW_OP_const4s:
      case DW_OP_const8u:
      case DW_OP_const8s:
      case DW_OP_constu:
      case DW_OP_consts:
        return push(operation.number);
      case DW_OP_bregx:
        return push_register(operation.number, operation.number2);
      case DW_OP_call_frame_cfa:
        return cfa_ && push(*cfa_);
      case DW_OP_dup:
        return pick(0);
      case DW_OP_over:
        return pick(1);
      case DW_OP_pick:
        return pick(operation.number);
      case DW_OP_drop:
        return size_ != 0 && size_-- != 0;
      case DW_OP_swap:
        if (size_ < 2) {
          return false;
        }
        std::swap(stack_[size_ - 1], stack_[size_ - 2]);
        return true;
      case DW_OP_rot:
        if (size_ < 3) {
          return false;
        }
        std::rotate(stack_.begin() + static_cast<std::ptrdiff_t>(size_ - 3),
                    stack_.begin() + static_cast<std::ptrdiff_t>(size_ - 1),
                    stack_.begin() + static_cast<std::ptrdiff_t>(size_));
        return true;
      case DW_OP_deref:
        return dereference(registers_.word_size);
      case DW_OP_deref_size:
        return dereference(operation.number);
      case DW_OP_skip:
        return jump(operation);
      case DW_OP_bra:
        return size_ != 0 && (stack_[--size_] == 0 || jump(operation));
      case DW_OP_neg:
      case DW_OP_not:
      case DW_OP_abs:
      case DW_OP_plus_uconst:
        return unary(atom, operation.number);
      default:
        return binary(atom);
    }
  }

  std::span<const Dwarf_Op> operations_;
  const arch::FrameRegisters& registers_;
  const trace::Memory& memory_;
  std::optional<std::uint64_t> cfa_;
  std::array<std::uint64_t, max_depth> stack_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<std::uint64_t> evaluate(std::span<const Dwarf_Op> operations, const arch::FrameRegisters& registers,
                                      const trace::Memory& memory, std::optional<std::uint64_t> cfa) {
  return Machine(operations, registers, memory, cfa).run();
}

}  // namespace tracer::stack
