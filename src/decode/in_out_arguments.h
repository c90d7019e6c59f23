// Arguments that show twice: what went in and what came out.
#pragma once

#include "decode/values.h"

namespace tracer::decode {

class InOutArguments {
 public:
  InOutArguments(Session& session, const Evaluator& evaluator, ValueDecoder& values)
      : session_(session),
        tables_(session.tables),
        state_(session.state),
        out_(session.out),
        evaluator_(evaluator),
        values_(values) {}

  /// Whether an argument shows twice.
  [[nodiscard]] bool includes(const spec::Param& param) const {
    const spec::Type& type = tables_.types[param.type];
    return type.kind == spec::TypeKind::pointer && type.direction != spec::Direction::out &&
           (type.direction == spec::Direction::inout || has_late_fields(type));
  }
  /// Keeps what pointers led to at the entry, as far as the exit needs it.
  void save_targets() const;
  /// Whether nothing of it shows at the entry, as its `when` does not hold.
  [[nodiscard]] bool defers(const spec::Param& param) const;
  /// What went in. False if nothing is to come out.
  [[nodiscard]] bool emit_before(const spec::Param& param) const;
  void emit_after(const spec::Param& param) const;
  /// Both at the exit, after an argument that had to wait for it: `[128 => 16]`, or `[16]` if it did not change.
  void emit_both(const spec::Param& param, std::uint64_t bits) const;
  /// What the pointer of an argument led to at entry.
  [[nodiscard]] bool was_kept(const spec::Param& param, std::uint64_t bits) const;

 private:
  [[nodiscard]] bool has_late_fields(const spec::Type& pointer) const;
  void save_target(const spec::Param& param, spec::ParamId id) const;
  [[nodiscard]] bool shows_failure(const spec::Param& param) const;
  [[nodiscard]] bool shows_address_again(const spec::Param& param) const;
  [[nodiscard]] bool is_number_changed(const spec::Type& pointer) const;
  [[nodiscard]] bool emit_number_before(const spec::Type& pointer, RemoteAddr address) const;
  void emit_number_after(const spec::Param& param) const;
  [[nodiscard]] bool is_filled(const spec::Param& param) const;
  [[nodiscard]] bool nothing_after(const spec::Type& type, RemoteAddr address) const;
  template <typename Found>
  void for_each_after_field(const spec::Type& pointer, std::uint64_t bits, const Found& found) const;
  [[nodiscard]] bool has_after_fields(const spec::Type& pointer, std::uint64_t bits) const;
  void emit_after_fields(const spec::Type& pointer, std::uint64_t bits) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
  ValueDecoder& values_;
};

}  // namespace tracer::decode
