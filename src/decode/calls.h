// A call: its arguments, each when it is known, and its result.
#pragma once

#include "decode/in_out_arguments.h"
#include "decode/resolve.h"

namespace tracer::decode {

struct FormatArgument;

/// Lives for one enter() or exit(); what must survive in between is in the CallState.
class CallDecoder {
 public:
  CallDecoder(const Setting& setting, CallState& state, const trace::Memory& memory, render::Emitter& out,
              const Outcome* outcome)
      : session_(setting, state, memory, out, outcome),
        tables_(setting.tables),
        state_(state),
        out_(out),
        evaluator_(session_),
        values_(session_, evaluator_),
        in_out_(session_, evaluator_, values_) {}

  void enter();
  void exit();
  bool siginfo(std::span<const std::byte> raw);

 private:
  // arguments.cpp
  void emit_unknown_call() const;
  void emit_guesses() const;
  void emit_raw_arguments() const;
  [[nodiscard]] const spec::Type* plain_type(const spec::Param& param) const;
  void emit_plain(std::span<const spec::Param> params);
  [[nodiscard]] bool waits_for_exit(const spec::Param& param) const;
  void emit_arguments();
  bool emit_other(const spec::Param& param);
  void announce(const spec::Param& param, std::uint64_t raw) const;
  void begin_argument(const spec::Param& param, std::uint64_t raw) const;
  void emit_argument(const spec::Param& param, std::uint64_t raw);

  // partial_structures.cpp
  [[nodiscard]] bool shows_at_entry(const spec::Param& param) const;
  bool emit_partial(const spec::Param& param, std::uint64_t bits);
  void emit_rest(const spec::Type& pointer, std::uint64_t bits, Context context);

  // result.cpp
  void emit_result();
  void emit_note(std::uint64_t bits);
  [[nodiscard]] bool explains_nothing(const spec::Type& note, std::uint64_t bits) const;

  // functions.cpp
  [[nodiscard]] bool returns_address() const;
  void emit_function_result();
  bool structure_of(const spec::Type& type, std::span<const std::uint64_t> words);
  void emit_variable_arguments();
  bool emit_format_argument(const FormatArgument& argument, std::span<const std::uint64_t> values, std::size_t index);

  Session session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  Evaluator evaluator_;
  ValueDecoder values_;
  InOutArguments in_out_;
};

/// Returns the type that says what a value consists of, where a `custom` type says only how it shows.
inline const spec::Type& stored_type(const spec::Tables& tables, const spec::Type& type) {
  return type.kind == spec::TypeKind::custom && type.target != spec::none ? tables.types[type.target] : type;
}

/// Emits a register as it is, for numbers without a description and for -e raw.
void emit_register(render::Emitter& out, std::uint64_t bits);
/// Emits what may be a number or an address.
void emit_guess(render::Emitter& out, std::uint64_t bits, Abi abi);

}  // namespace tracer::decode
