#include "stack/call_frames.h"

#include <dwarf.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <span>

namespace tracer::stack {

namespace {

struct Free {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

constexpr std::size_t max_expression_size = 1024;  // operations

Rule keep_expression(Rule rule, std::span<const Dwarf_Op> operations, Rule::Kind kind) {
  if (operations.size() > max_expression_size) {
    rule.kind = Rule::Kind::undefined;
    return rule;
  }
  rule.kind = kind;
  rule.expression.assign(operations.begin(), operations.end());
  return rule;
}

/// Nearly all CFA rules are `register + offset`.
Rule cfa_rule(std::span<const Dwarf_Op> operations) {
  Rule rule;
  if (operations.size() == 1) {
    const Dwarf_Op& only = operations.front();
    const bool short_form = only.atom >= DW_OP_breg0 && only.atom <= DW_OP_breg31;
    const std::uint64_t number = short_form ? std::uint64_t{only.atom} - DW_OP_breg0 : only.number;
    if ((short_form || only.atom == DW_OP_bregx) && number < arch::FrameRegisters::capacity) {
      rule.kind = Rule::Kind::other;
      rule.other = static_cast<std::uint8_t>(number);
      rule.offset = static_cast<std::int64_t>(short_form ? only.number : only.number2);
      return rule;
    }
  }
  return keep_expression(rule, operations, Rule::Kind::expression);
}

/// Converts the location that dwarf_frame_register() returns.
Rule register_rule(unsigned number, std::span<const Dwarf_Op> operations) {
  Rule rule;
  rule.number = static_cast<std::uint8_t>(number);
  const bool is_value = operations.back().atom == DW_OP_stack_value;
  const auto body = is_value ? operations.first(operations.size() - 1) : operations;
  if (!body.empty() && body.front().atom == DW_OP_call_frame_cfa &&
      (body.size() == 1 || (body.size() == 2 && body[1].atom == DW_OP_plus_uconst))) {
    rule.kind = is_value ? Rule::Kind::cfa : Rule::Kind::at_cfa;
    rule.offset = body.size() == 2 ? static_cast<std::int64_t>(body[1].number) : 0;
    return rule;
  }
  if (body.size() == 1 && !is_value) {
    const Dwarf_Op& only = body.front();
    const bool short_form = only.atom >= DW_OP_reg0 && only.atom <= DW_OP_reg31;
    const std::uint64_t other = short_form ? std::uint64_t{only.atom} - DW_OP_reg0 : only.number;
    if ((short_form || only.atom == DW_OP_regx) && other < arch::FrameRegisters::capacity) {
      rule.kind = Rule::Kind::other;
      rule.other = static_cast<std::uint8_t>(other);
      return rule;
    }
  }
  return keep_expression(std::move(rule), body, is_value ? Rule::Kind::expression : Rule::Kind::at_expression);
}

}  // namespace

const Row& CallFrames::at(std::uint64_t address) {
  if (const auto found = rows_.find(address); found != rows_.end()) {
    return found->second;
  }
  if (rows_.size() == max_rows) {
    rows_.clear();
  }
  return rows_.emplace(address, make(address)).first->second;
}

Row CallFrames::make(std::uint64_t address) const {
  Row row;
  Dwarf_Frame* result = nullptr;
  if (!cfi_ || ::dwarf_cfi_addrframe(cfi_.get(), address, &result) != 0) {
    return row;
  }
  const std::unique_ptr<Dwarf_Frame, Free> frame(result);
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const int return_address = ::dwarf_frame_info(frame.get(), &start, &end, &row.signal);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (return_address < 0 || return_address >= static_cast<int>(arch::FrameRegisters::capacity) ||
      ::dwarf_frame_cfa(frame.get(), &operations, &count) != 0 || count == 0) {
    return row;
  }
  row.return_address = static_cast<std::uint8_t>(return_address);
  row.cfa = cfa_rule({operations, count});
  row.kind = Row::Kind::frame;
  for (unsigned number = 0; number < arch::FrameRegisters::capacity; ++number) {
    std::array<Dwarf_Op, 3> buffer{};
    if (::dwarf_frame_register(frame.get(), static_cast<int>(number), buffer.data(), &operations, &count) != 0) {
      continue;
    }
    if (count != 0) {
      row.rules.push_back(register_rule(number, {operations, count}));
    } else if (operations == buffer.data()) {
      row.undefined |= std::uint64_t{1} << number;
      if (number == row.return_address) {
        row.kind = Row::Kind::outermost;
      }
    }
  }
  return row;
}

}  // namespace tracer::stack
