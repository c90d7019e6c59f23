// A call as a whole: what is emitted when.
#include "decode/calls.h"

#include "decode/customs.h"

namespace tracer::decode {

void CallDecoder::enter() {
  CallResolver(session_, evaluator_).resolve();
  if (state_.call == nullptr) {
    emit_unknown_call();
    return;
  }
  const bool is_renamed = state_.signature->shown != spec::none;
  out_.begin_call(!state_.entry.function_name.empty()
                      ? state_.entry.function_name
                      : tables_.text(is_renamed ? state_.signature->shown : state_.call->name));
  in_out_.save_targets();
  emit_arguments();
}

void CallDecoder::exit() {
  emit_arguments();
  out_.end_arguments();
  emit_result();
}

bool CallDecoder::siginfo(std::span<const std::byte> raw) {
  CustomValue value(values_, nullptr, Place::copied(raw, RemoteAddr()), raw.size(), no_context);
  return session_.setting.siginfo != nullptr && session_.setting.siginfo(value);
}

}  // namespace tracer::decode
