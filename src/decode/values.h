// Values of every kind.
//
// A function that emits a value returns false if the value could not be read; it has then emitted nothing, and
// its caller, which followed the pointer, shows the address instead.
#pragma once

#include "decode/arrays.h"
#include "decode/numbers.h"
#include "decode/records.h"
#include "decode/strings.h"
#include "decode/structs.h"

namespace tracer::decode {

class ValueDecoder {
 public:
  ValueDecoder(Session& session, const Evaluator& evaluator)
      : session_(session), tables_(session.tables), state_(session.state), out_(session.out), evaluator_(evaluator) {}
  ValueDecoder(const ValueDecoder&) = delete;
  ValueDecoder& operator=(const ValueDecoder&) = delete;

  bool value(const spec::Type& type, const Place& place, const Context& around);
  /// A pointer and what it leads to.
  bool follow(const spec::Type& pointer, const Place& place, const Context& context);
  /// What a pointer leads to.
  bool target(const spec::Type& pointer, RemoteAddr address, const Context& around);
  [[nodiscard]] bool has_no_records(const spec::Type& type, const Context& context) const;

  [[nodiscard]] Session& session() const { return session_; }
  [[nodiscard]] const Evaluator& evaluator() const { return evaluator_; }
  // Made where they are used, as most calls use one or two.
  [[nodiscard]] NumberDecoder numbers() { return {session_, *this}; }
  [[nodiscard]] StringDecoder strings() { return {session_, evaluator_, *this}; }
  [[nodiscard]] ArrayDecoder arrays() { return {session_, evaluator_, *this}; }
  [[nodiscard]] RecordDecoder records() { return {session_, evaluator_, *this}; }
  [[nodiscard]] StructDecoder structs() { return {session_, evaluator_, *this}; }

 private:
  void begin(const spec::Type& type, Context& context) const;
  /// The same as value(), which may change the context.
  bool value_within(const spec::Type& type, const Place& place, Context& context);
  [[nodiscard]] bool counts_nothing(const spec::Type& type) const;
  bool choice(const spec::Type& type, const Place& place, const Context& context);
  bool custom(const spec::Type& type, const Place& place, const Context& context);
  template <typename Holds>
  [[nodiscard]] bool chosen_is(const spec::Type& type, const Context& context, const Holds& holds) const;
  [[nodiscard]] bool is_text(const spec::Type& type, const Context& context) const;
  [[nodiscard]] bool ends_in_bytes(const spec::Type& type, const Context& context) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
};

}  // namespace tracer::decode
