#include "decode/decoder.h"

#include <algorithm>

#include "decode/calls.h"

namespace tracer::decode {
namespace {

CustomFunction find_custom(std::span<const Custom> customs, std::string_view name) {
  const auto found = std::find_if(customs.begin(), customs.end(), [&](const Custom& c) { return c.name == name; });
  return found == customs.end() ? nullptr : found->function;
}

}  // namespace

struct Decoder::Implementation {
  Setting setting;
};

Decoder::Decoder(const spec::Tables& tables, Options options, const names::Names& names,
                 std::span<const Custom> customs)
    : implementation_(new Implementation{{tables,
                                          options,
                                          names,
                                          customs,
                                          names.descriptors.names_descriptors() || names.kernel.has_contexts(),
                                          {},
                                          {},
                                          nullptr,
                                          nullptr}}) {
  Setting& setting = implementation_->setting;
  setting.options.string_limit = std::min(setting.options.string_limit, Budget::most_string_bytes);
  setting.functions.reserve(tables.customs.size());
  for (const spec::StringRef custom : tables.customs) {
    const auto name = tables.text(custom);
    setting.functions.push_back(find_custom(customs, name));
    if (setting.functions.back() == nullptr) {
      setting.missing_custom = name;
    }
  }
  setting.wait_status = find_custom(customs, "wait_status");
  setting.siginfo = find_custom(customs, "siginfo");
  setting.user_desc = find_custom(customs, "user_desc");
}

Decoder::~Decoder() = default;

std::string_view Decoder::missing_custom() const {
  return implementation_->setting.missing_custom;
}

std::unique_ptr<CallState, void (*)(CallState*)> Decoder::make_state() const {
  return {new CallState, [](CallState* state) { delete state; }};
}

void Decoder::resolve(CallState& state, const Entry& entry, const trace::Memory& memory,
                      render::Emitter& unused) const {
  state.entry = entry;
  Session session(implementation_->setting, state, memory, unused, nullptr);
  const Evaluator evaluator(session);
  CallResolver(session, evaluator).resolve();
}

void Decoder::enter(CallState& state, const Entry& entry, Depth depth, const trace::Memory& memory,
                    render::Emitter& out) const {
  state.entry = entry;
  state.values.clear();
  if (!entry.values.empty()) {
    state.values.assign(entry.values.begin(), entry.values.end());
  }
  state.entry.values = {};
  state.depth = depth;
  CallDecoder(implementation_->setting, state, memory, out, nullptr).enter();
}

void Decoder::exit(CallState& state, const Outcome& outcome, const trace::Memory& memory, render::Emitter& out) const {
  CallDecoder(implementation_->setting, state, memory, out, &outcome).exit();
}

const spec::Call* Decoder::call_of(const CallState& state) {
  return state.call;
}

const spec::Signature* Decoder::signature_of(const CallState& state) {
  return state.signature;
}

bool Decoder::shows_in_part(const CallState& state) const {
  const spec::Tables& tables = implementation_->setting.tables;
  const auto params = state.signature == nullptr ? std::span<const spec::Param>{}
                                                 : spec::Tables::slice(tables.params, state.signature->params);
  return std::any_of(params.begin(), params.end(), [](const spec::Param& param) { return param.begins; });
}

const std::array<std::uint64_t, 6>& Decoder::arguments_of(const CallState& state) {
  return state.entry.args;
}

std::string_view Decoder::name_of(const CallState& state) const {
  if (!state.entry.function_name.empty()) {
    return state.entry.function_name;
  }
  if (state.call == nullptr) {
    return state.unknown_name.view();
  }
  const bool is_renamed = state.signature->shown != spec::none;
  return implementation_->setting.tables.text(is_renamed ? state.signature->shown : state.call->name);
}

void Decoder::siginfo(std::span<const std::byte> raw, Abi abi, std::int32_t tid, const trace::Memory& memory,
                      render::Emitter& out) const {
  CallState state;
  state.entry.abi = abi;
  state.entry.tid = tid;
  CallDecoder(implementation_->setting, state, memory, out, nullptr).siginfo(raw);
}

}  // namespace tracer::decode
