// Structs and unions: one read, then every field from the copy.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class ValueDecoder;

class StructDecoder {
 public:
  StructDecoder(Session& session, const Evaluator& evaluator, ValueDecoder& values)
      : session_(session),
        tables_(session.tables),
        state_(session.state),
        out_(session.out),
        evaluator_(evaluator),
        values_(values) {}

  bool structure(const spec::Type& type, const Place& place, const Context& context,
                 std::span<std::int64_t> params) const;
  void record_body(const Context& context) const;
  void remaining_bytes(const Place& place, std::uint64_t size) const;
  /// Whether a field of the struct around shows at all.
  [[nodiscard]] bool wanted(const spec::Field& field, const Context& context) const;

 private:
  bool is_recursion(const spec::Struct& layout, const Place& place, const Scope* scope) const;
  void fields(Context context, std::uint64_t available, bool in_part) const;
  void elements(const Context& context, std::uint64_t available) const;
  [[nodiscard]] bool is_part(const spec::Struct& layout, const Context& context) const;
  bool field(const spec::Field& field, const Context& context) const;
  void unread_rest(const Scope& scope) const;
  bool emit_field_once(const spec::Field& field, const Context& context) const;
  void emit_field_again(const spec::Field& field, const Context& context) const;
  [[nodiscard]] bool has_changed(const spec::Field& field, const Context& context) const;
  [[nodiscard]] bool has_row(const spec::Type& type, const Context& context) const;
  [[nodiscard]] std::uint64_t size_of_first_field(const spec::Struct& layout) const;
  [[nodiscard]] std::uint64_t least_readable(const spec::Struct& layout, std::uint64_t wanted,
                                             const Scope* scope) const;
  void unread_field(const spec::Struct& layout, const Place& place) const;
  [[nodiscard]] std::uint64_t end_of(const spec::Struct& layout, bool spec::Field::*listed) const;
  [[nodiscard]] std::uint64_t end_of_shown(const spec::Struct& layout) const;
  void unknown_bytes(const Context& context, std::uint64_t available) const;
  void extra_data(RemoteAddr address, std::uint64_t known, std::uint64_t available) const;
  [[nodiscard]] std::uint64_t chosen_size(const spec::Type& type, const Place& place, const Context& context) const;
  [[nodiscard]] std::uint64_t offset_of(const spec::Field& field, const Context& context) const;
  [[nodiscard]] const spec::Field* own_size(const spec::Struct& layout) const;
  [[nodiscard]] bool has_unnamed_rest(const spec::Struct& layout) const;
  [[nodiscard]] bool is_filled_up(const spec::Struct& layout) const;
  [[nodiscard]] std::uint64_t start_of_rest(const spec::Struct& layout) const;
  [[nodiscard]] bool says_all(const spec::Struct& layout) const;
  [[nodiscard]] bool shows_size_alone(const spec::Struct& layout) const;
  [[nodiscard]] std::span<const std::byte> filled_up(std::span<const std::byte> given, std::uint64_t size) const;
  [[nodiscard]] std::uint64_t end_of(const spec::Field& field) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
  ValueDecoder& values_;
};

}  // namespace tracer::decode
