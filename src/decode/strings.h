// Buffers and strings.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class ValueDecoder;

class StringDecoder {
 public:
  StringDecoder(Session& session, const Evaluator& evaluator, ValueDecoder& values)
      : session_(session),
        tables_(session.tables),
        state_(session.state),
        out_(session.out),
        evaluator_(evaluator),
        values_(values) {}

  bool bytes(const spec::Type& type, const Place& place, const Context& context) const;
  bool text(const spec::Type& type, const Place& place, const Context& context) const;
  bool inet6_address(const spec::Type& type, const Place& place, std::string_view field) const;
  bool limited_text(RemoteAddr address, std::uint64_t most) const;
  bool limited_wide_text(RemoteAddr address, std::uint64_t most) const;

 private:
  bool hardware_address(const spec::Type& type, const Place& place, const Context& context) const;
  bool terminated_bytes(const Place& place, std::uint64_t size) const;
  bool uuid(const Place& place, std::uint64_t size) const;
  bool padded_bytes(const Place& place, std::uint64_t size) const;
  bool text_and_nul(const Place& place, std::uint64_t size) const;
  bool text_to_nul(const Place& place, std::uint64_t size) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
  ValueDecoder& values_;
};

}  // namespace tracer::decode
