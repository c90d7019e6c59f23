// Arrays by count, by bytes, terminated.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class ValueDecoder;

class ArrayDecoder {
 public:
  ArrayDecoder(Session& session, const Evaluator& evaluator, ValueDecoder& values)
      : session_(session),
        tables_(session.tables),
        state_(session.state),
        out_(session.out),
        evaluator_(evaluator),
        values_(values) {}

  bool array(const spec::Type& type, const Place& place, const Context& context) const;
  /// Says from which address on nothing could be read.
  void unreadable_rest(RemoteAddr address) const;

 private:
  struct Elements;
  [[nodiscard]] bool is_like_fields(const spec::Type& type, std::uint64_t count) const;
  [[nodiscard]] bool is_whole(const spec::Type& type) const;
  [[nodiscard]] Place fetch(Elements& all, std::uint64_t room) const;
  void begin_indexed(spec::SetId names, std::uint64_t index) const;
  void emit_elements(Elements& all, Place there, Context context) const;
  void emit_missing(const Elements& all) const;
  bool counted(const spec::Type& type, const Place& place, const Context& context, std::uint64_t count) const;
  bool terminated(const spec::Type& type, const Place& place, const Context& context) const;
  bool brief_count(const spec::Type& type, const Place& place, const Context& context) const;
  [[nodiscard]] bool says_too_little(const spec::Type& type, const Place& place, const Context& context) const;
  bool brief_none(const spec::Type& type, const Context& context) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
  ValueDecoder& values_;
};

}  // namespace tracer::decode
