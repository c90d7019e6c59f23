// Expressions of the descriptions, evaluated over one call.
#pragma once

#include "decode/session.h"

namespace tracer::decode {

class Evaluator {
 public:
  explicit Evaluator(Session& session) : session_(session), tables_(session.tables), state_(session.state) {}

  [[nodiscard]] Value evaluate(spec::ExprId id, const Context& context) const;
  [[nodiscard]] bool holds(spec::ExprId condition, const Context& context) const {
    if (condition == spec::none) {
      return true;
    }
    const auto result = evaluate(condition, context);
    return result && *result != 0;
  }
  /// The values of a struct's or a table's arguments, on the scratch.
  [[nodiscard]] std::span<std::int64_t> evaluate_params(spec::Range args, const Context& context) const;
  /// How many elements or bytes a type has by its description, cut to its `max` and its budget.
  Count length(const spec::Type& type, const Context& context) const;
  /// Whether the tracee's length goes beyond the type's own limit.
  [[nodiscard]] bool says_more(const spec::Type& type, const Context& context) const;
  [[nodiscard]] const spec::Type* chosen(const spec::Type& type, const Context& inner) const;
  [[nodiscard]] bool mentions_result(spec::ExprId id) const;
  [[nodiscard]] bool is_constant(spec::ExprId id) const;
  [[nodiscard]] std::optional<std::uint64_t> argument_named(std::string_view name) const;
  /// The value of a parameter of the call, and its type if it has one.
  struct NamedParameter {
    std::uint64_t value = 0;
    const spec::Type* type = nullptr;
  };
  [[nodiscard]] std::optional<NamedParameter> parameter_named(std::string_view name) const;
  [[nodiscard]] std::uint64_t raw_argument(const spec::Param& param) const {
    const auto slot = param.slot[index_of(session_.abi)];
    if (state_.entry.function != nullptr) [[unlikely]] {
      return slot < state_.values.size() ? state_.values[slot] : 0;
    }
    const auto& args = state_.entry.args;
    if (slot >= args.size()) [[unlikely]] {
      return 0;
    }
    if (param.wide && register_size(session_.abi) == 4) [[unlikely]] {
      const auto high = slot + 1U < args.size() ? args[slot + 1U] : 0;
      return (args[slot] & 0xffffffff) | high << 32;
    }
    return args[slot];
  }

 private:
  [[nodiscard]] Value binary(const spec::Expr& expr, const Context& context) const;
  [[nodiscard]] Value field_value(spec::FieldId field, const Scope* scope, std::uint64_t offset = 0,
                                  const spec::Type* type = nullptr) const;
  [[nodiscard]] Value outer_value(spec::StringRef name, const Scope* scope) const;
  [[nodiscard]] Value target_value(const spec::Type& pointer, std::uint64_t address) const;
  [[nodiscard]] bool is_asked_for(spec::Option option) const;
  [[nodiscard]] Value look_up(spec::Lookup fact, Value number) const;
  [[nodiscard]] Value sibling_value(std::uint64_t kind, const Scope* scope) const;
  [[nodiscard]] Count saved_value(spec::ParamId param) const;
  [[nodiscard]] Count saved_field(spec::FieldId id, const Scope* scope) const;
  [[nodiscard]] std::int64_t argument_value(const spec::Param& param) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
};

}  // namespace tracer::decode
