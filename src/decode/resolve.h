// Which description holds for a call.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class CallResolver {
 public:
  CallResolver(Session& session, const Evaluator& evaluator)
      : session_(session), tables_(session.tables), state_(session.state), evaluator_(evaluator) {}

  /// Starts a call: sets the budget, the call and its signature in the state.
  void resolve() const;

 private:
  void resolve_call() const;
  void follow_redirect() const;
  void resolve_signature() const;
  [[nodiscard]] std::size_t words_taken() const;
  [[nodiscard]] bool has_name(const spec::Signature& signature, std::uint64_t request, std::string_view driver) const;
  [[nodiscard]] spec::Index choose(const spec::Signature& signature, std::span<const spec::SignatureRow> rows,
                                   std::uint32_t open_bits) const;
  [[nodiscard]] spec::Index find_row(const spec::Signature& signature, std::uint64_t value) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  const Evaluator& evaluator_;
};

}  // namespace tracer::decode
