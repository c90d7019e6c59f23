// Walks the tables along one call and emits what it finds: the inside of the Decoder. A walker lives for one enter()
// or exit(); what must survive in between is in the CallState.
//
// A function that emits a value returns false if the value could not be read; it has then emitted nothing, and
// whoever followed the pointer shows the address instead.
#pragma once

#include <optional>

#include "decode/call_state.h"
#include "decode/context.h"
#include "decode/custom.h"
#include "decode/value.h"

namespace tracer::decode {

struct FormatArgument;

/// What all calls have in common.
struct Setting {
  const spec::Tables& tables;
  Options options;
  Names& names;
  std::span<const Custom> customs;
  std::vector<CustomFunction> functions;  ///< by CustomId
  std::string_view missing_custom;
  CustomFunction wait_status = nullptr;
  CustomFunction siginfo = nullptr;
  CustomFunction user_desc = nullptr;
};

class Walker {
 public:
  Walker(const Setting& setting, CallState& state, const trace::Memory& memory, render::Emitter& out,
         const Outcome* outcome);

  void settle();
  void enter();
  void exit();
  bool siginfo(std::span<const std::byte> raw);

  // For custom decoders.
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] CallState& state() const { return state_; }
  [[nodiscard]] const trace::Memory& memory() const { return memory_; }
  [[nodiscard]] render::Emitter& out() const { return out_; }
  [[nodiscard]] const Outcome* outcome() const { return outcome_; }
  [[nodiscard]] std::optional<std::uint64_t> argument_named(std::string_view name);
  void emit_scalar(const spec::Type& type, std::uint64_t bits);
  bool value(const spec::Type& type, const Place& place, Context context);
  [[nodiscard]] spec::SetId find_set(std::string_view name) const;
  /// Whether one more value may be emitted: charges the budget with it and with what was written since.
  bool spend() {
    const std::size_t written = out_.written();
    state_.budget.spend_written(written - std::min(written_, written));
    written_ = written;
    return state_.budget.spend_value();
  }

 private:
  // calls.cpp
  void settle_on_call();
  void follow_redirect();
  [[nodiscard]] std::size_t words_taken() const;
  void settle_on_signature();
  [[nodiscard]] spec::Index find_row(const spec::Signature& signature, std::uint64_t value) const;
  [[nodiscard]] std::uint64_t raw_argument(const spec::Param& param) const {
    const auto slot = param.slot[index_of(abi_)];
    if (state_.entry.function != nullptr) {
      return slot < state_.values.size() ? state_.values[slot] : 0;
    }
    const auto& args = state_.entry.args;
    if (slot >= args.size()) {
      return 0;
    }
    if (param.wide && register_size(abi_) == 4) {
      const auto high = slot + 1U < args.size() ? args[slot + 1U] : 0;
      return (args[slot] & 0xffffffff) | high << 32;
    }
    return args[slot];
  }
  [[nodiscard]] bool succeeded() const { return outcome_ != nullptr && !outcome_->is_error && outcome_->known; }

  // arguments.cpp
  void emit_register(std::uint64_t bits);
  void emit_unknown_call();
  void emit_guesses();
  void emit_guess(std::uint64_t bits);
  void emit_raw_arguments();
  [[nodiscard]] bool waits_for_exit(const spec::Param& param);
  void emit_arguments();
  void begin_argument(const spec::Param& param, std::uint64_t raw);
  void emit_argument(const spec::Param& param, std::uint64_t raw);

  // halves.cpp
  void emit_as_it_was(const spec::Type& pointer, std::uint64_t bits);
  [[nodiscard]] bool comes_in_halves(const spec::Param& param) const;
  bool emit_first_half(const spec::Param& param);
  void emit_second_half(const spec::Param& param);
  [[nodiscard]] bool nothing_after(const spec::Type& type, RemoteAddr address);
  void emit_both_halves(const spec::Type& pointer, std::uint64_t bits);
  template <typename Found>
  void for_each_after_field(const spec::Type& pointer, std::uint64_t bits, const Found& found);
  [[nodiscard]] bool has_after_fields(const spec::Type& pointer, std::uint64_t bits);
  void emit_after_fields(const spec::Type& pointer, std::uint64_t bits);
  void save_targets();
  [[nodiscard]] Place saved_at(RemoteAddr address, std::size_t size) const;

  // beginnings.cpp
  [[nodiscard]] bool shows_beginning(const spec::Param& param);
  bool emit_beginning(const spec::Param& param, std::uint64_t bits);
  void emit_rest(const spec::Type& pointer, std::uint64_t bits, Context context);
  bool emit_field_once(const spec::Field& field, const Context& context);
  void emit_field_again(const spec::Field& field, const Context& context);

  // result.cpp
  void emit_result();
  void emit_note(std::uint64_t bits);
  [[nodiscard]] bool has_flag(const spec::ConstantSet& set, std::uint64_t bits) const;
  [[nodiscard]] bool explains_nothing(const spec::Type& note, std::uint64_t bits) const;

  // functions.cpp
  [[nodiscard]] bool returns_address() const;
  void emit_function_result();
  bool structure_of(const spec::Type& type, std::span<const std::uint64_t> words);
  void emit_variable_arguments();
  bool emit_format_argument(const FormatArgument& argument, std::span<const std::uint64_t> values, std::size_t index);
  bool limited_text(RemoteAddr address, std::uint64_t most);
  bool limited_wide_text(RemoteAddr address, std::uint64_t most);

  // evaluate.cpp
  [[nodiscard]] Count saved_value(spec::ParamId param) const;
  [[nodiscard]] Count saved_field(spec::FieldId id, const Scope* scope) const;
  Value evaluate(spec::ExprId id, const Context& context);
  Value binary(const spec::Expr& expr, const Context& context);
  Value field_value(spec::FieldId field, const Scope* scope, std::uint64_t offset = 0,
                    const spec::Type* type = nullptr);
  Value outer_value(spec::StringRef name, const Scope* scope);
  Value target_value(const spec::Type& pointer, std::uint64_t address);
  Value sibling_value(std::uint64_t kind, const Scope* scope);
  [[nodiscard]] bool mentions_result(spec::ExprId id) const;
  [[nodiscard]] bool is_constant(spec::ExprId id) const;
  bool holds(spec::ExprId condition, const Context& context) {
    if (condition == spec::none) {
      return true;
    }
    const auto result = evaluate(condition, context);
    return result && *result != 0;
  }
  [[nodiscard]] std::int64_t argument_value(const spec::Param& param) const;

  // values.cpp
  [[nodiscard]] std::uint64_t least_of(const spec::Type& type) const;
  bool follow(const spec::Type& pointer, const Place& place, const Context& context);
  [[nodiscard]] bool counts_nothing(const spec::Type& type) const;
  bool target(const spec::Type& pointer, RemoteAddr address, Context context);
  bool choice(const spec::Type& type, const Place& place, const Context& context);
  [[nodiscard]] bool has_row(const spec::Type& type, const Context& context);
  const spec::Type* chosen(const spec::Type& type, const Context& inner);
  bool is_text(const spec::Type& type, const Context& context);
  [[nodiscard]] Count load(const spec::Type& type, const Place& place) const {
    // Returned as it is from a function of its own, an optional is read wider than it was written: slow enough to see.
    std::uint64_t bits = 0;
    return load(type, place, bits) ? Count(bits) : Count();
  }
  bool load(const spec::Type& type, const Place& place, std::uint64_t& bits) const;
  [[nodiscard]] std::optional<std::uint64_t> load_long_double(const Place& place, unsigned size) const;
  [[nodiscard]] std::uint64_t size_of_any_row(const spec::Type& type) const;
  [[nodiscard]] std::uint64_t size_of(const spec::Type& type) const;
  [[nodiscard]] unsigned scalar_width(const spec::Type& type) const {
    if (type.kind == spec::TypeKind::pointer) {
      return type.wide_pointer ? 8 : word_size(abi_);
    }
    return spec::bytes_of(type.width, abi_);
  }

  // numbers.cpp; emit_scalar() is there, too
  void annotate_descriptor(std::int64_t fd);
  void show_context(std::string_view context);
  void annotate_directory(std::int64_t fd);
  void annotate_process(std::int64_t pid, bool group);
  void emit_wait_status(const spec::Type& type, std::uint64_t bits);
  void emit_thread_area(const spec::Type& type, std::uint64_t bits);

  // customs.cpp
  bool custom(const spec::Type& type, const Place& place, const Context& context);

  // structs.cpp
  bool structure(const spec::Type& type, const Place& place, const Context& context, std::span<std::int64_t> params);
  bool is_recursion(const spec::Struct& layout, const Place& place, const Scope* scope);
  void record_body(const Context& context);
  void fields(Context context, std::uint64_t available, bool in_part);
  void elements(const Context& context, std::uint64_t available);
  void remaining_bytes(const Place& place, std::uint64_t size);
  [[nodiscard]] bool is_part(const spec::Struct& layout, const Context& context) const;
  bool field(const spec::Field& field, const Context& context);
  [[nodiscard]] bool has_changed(const spec::Field& field, const Context& context);
  [[nodiscard]] std::uint64_t size_of_first_field(const spec::Struct& layout) const;
  void unknown_bytes(const Scope& scope, std::uint64_t available);
  [[nodiscard]] std::uint64_t offset_of(const spec::Field& field, const Context& context);
  [[nodiscard]] const spec::Field* own_size(const spec::Struct& layout) const;
  [[nodiscard]] bool has_unnamed_rest(const spec::Struct& layout) const;
  [[nodiscard]] bool is_filled_up(const spec::Struct& layout) const;
  std::span<const std::byte> filled_up(std::span<const std::byte> given, std::uint64_t size);
  [[nodiscard]] std::uint64_t end_of(const spec::Field& field) const;
  bool wanted(const spec::Field& field, const Context& context);
  std::span<std::int64_t> evaluate_params(spec::Range args, const Context& context);

  // arrays.cpp
  static constexpr std::uint64_t max_counted = 1U << 20;  ///< elements or records; a bound for endless ones
  bool array(const spec::Type& type, const Place& place, const Context& context);
  struct Elements;
  [[nodiscard]] bool is_like_fields(const spec::Type& type, std::uint64_t count) const;
  Place fetch(Elements& all);
  void emit_elements(Elements& all, Place there, Context context);
  void emit_missing(const Elements& all);
  bool counted(const spec::Type& type, const Place& place, const Context& context, std::uint64_t count);
  bool terminated(const spec::Type& type, const Place& place, const Context& context);
  bool brief_count(const spec::Type& type, const Place& place, const Context& context);
  [[nodiscard]] bool says_too_little(const spec::Type& type, const Place& place, const Context& context);
  bool brief_none(const spec::Type& type, const Context& context);
  void unreadable_rest(RemoteAddr address);
  /// How many elements or bytes a type has by its description, cut to its `max` and its budget.
  Count length(const spec::Type& type, const Context& context);

  // records.cpp
  struct RecordSize {
    std::uint64_t length = 0;  ///< bytes of data
    std::uint64_t step = 0;    ///< bytes to the next record
  };
  RecordSize record_size(const spec::Type& type, const Place& place, const Context& context, std::uint64_t left,
                         std::span<std::int64_t> params);
  bool is_there(const Place& place, std::uint64_t size);
  bool records(const spec::Type& type, const Place& place, const Context& context, std::uint64_t size);
  std::uint64_t count_records(const spec::Type& type, const Place& place, const Context& context, std::uint64_t size);

  // strings.cpp
  bool bytes(const spec::Type& type, const Place& place, const Context& context);
  bool holds_more(const spec::Type& type, const Context& context);
  bool hardware_address(const spec::Type& type, const Place& place, const Context& context);
  bool terminated_bytes(const Place& place, std::uint64_t size);
  bool inet6_address(const spec::Type& type, const Place& place, std::string_view field);
  void network_number(const spec::Type& type, std::uint64_t bits);
  bool text(const spec::Type& type, const Place& place, const Context& context);
  std::optional<std::span<const std::byte>> read_text(RemoteAddr address, std::uint64_t wanted);
  /// Copies exactly `size` bytes, from the copy if they are there. Empty optional: not readable.
  std::optional<std::span<const std::byte>> copy(const Place& place, std::uint64_t size);

  const Setting& setting_;
  const spec::Tables& tables_;
  CallState& state_;
  MeteredMemory memory_;
  render::Emitter& out_;
  const Outcome* outcome_;
  Abi abi_;
  std::size_t written_;  ///< by the emitter, as far as the budget is charged with it
};

}  // namespace tracer::decode
