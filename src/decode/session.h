// One enter() or exit() of a call: what is decoded, what it is read from, and where it is emitted.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "decode/call_state.h"
#include "decode/context.h"
#include "decode/custom.h"
#include "decode/value.h"
#include "format/constants.h"

namespace tracer::decode {

/// What all calls have in common.
struct Setting {
  const spec::Tables& tables;
  Options options;
  names::Names names;
  std::span<const Custom> customs;
  bool annotates_descriptors;             ///< there may be something to say of them
  std::vector<CustomFunction> functions;  ///< by CustomId
  std::string_view missing_custom;
  CustomFunction wait_status = nullptr;
  CustomFunction siginfo = nullptr;
  CustomFunction user_desc = nullptr;
};

/// What every part of the decoder works with. What must outlive it is in the CallState.
struct Session {
  Session(const Setting& settings, CallState& call_state, const trace::Memory& traced, render::Emitter& emitter,
          const Outcome* call_outcome)
      : setting(settings),
        tables(settings.tables),
        state(call_state),
        memory(traced, call_state.budget),
        out(emitter),
        outcome(call_outcome),
        abi(call_state.entry.abi),
        written(emitter.written()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether one more value may be emitted: charges the budget with it and with what was written since.
  bool spend() {
    charge();
    return state.budget.spend_value();
  }
  /// Charges the budget with what was written since it was last.
  void charge() {
    const std::size_t now = out.written();
    state.budget.spend_written(now - std::min(written, now));
    written = now;
  }
  [[nodiscard]] names::Task task() const { return {state.entry.tid, memory.snapshot()}; }
  /// Calls `is_it(name)` for what the first argument's descriptor is known as, the closest name first, until it says
  /// that it is it.
  template <typename IsIt>
  void find_driver(const IsIt& is_it) const {
    std::string_view known = setting.names.descriptors.drivers(task(), static_cast<std::int32_t>(state.entry.args[0]));
    while (!known.empty()) {
      const auto end = std::min(known.find(' '), known.size());
      if (is_it(known.substr(0, end))) {
        return;
      }
      known.remove_prefix(std::min(end + 1, known.size()));
    }
  }
  [[nodiscard]] bool succeeded() const { return outcome != nullptr && !outcome->is_error && outcome->known; }

  [[nodiscard]] unsigned scalar_width(const spec::Type& type) const {
    if (type.kind == spec::TypeKind::pointer) {
      return type.wide_pointer ? 8 : word_size(abi);
    }
    return spec::bytes_of(type.width, abi);
  }
  /// Whether values of the type are numbers that a register can hold.
  [[nodiscard]] static bool is_number(const spec::Type& type) {
    return type.kind == spec::TypeKind::scalar && type.width != spec::long_double_wide;
  }
  /// A number (is_number()) or a pointer that a register holds.
  [[nodiscard]] std::uint64_t in_register(const spec::Type& type, std::uint64_t bits) const {
    return format::cut(bits, scalar_width(type), type.is_signed);
  }
  [[nodiscard]] std::uint64_t size_of(const spec::Type& type) const;
  [[nodiscard]] std::uint64_t size_of_any_row(const spec::Type& type) const;
  [[nodiscard]] std::uint64_t least_of(const spec::Type& type) const;

  [[nodiscard]] Count load(const spec::Type& type, const Place& place) const {
    // Returned as it is from a function of its own, an optional is read wider than it was written: slow enough to see.
    std::uint64_t bits = 0;
    return load(type, place, bits) ? Count(bits) : Count();
  }
  bool load(const spec::Type& type, const Place& place, std::uint64_t& bits) const;
  [[nodiscard]] std::optional<std::uint64_t> load_long_double(const Place& place, unsigned size) const;
  /// Copies exactly `size` bytes, from the copy if they are there. Empty optional: not readable.
  [[nodiscard]] std::optional<std::span<const std::byte>> copy(const Place& place, std::uint64_t size) const;
  /// Copies what there is of the first `size` bytes, at least `least` of them. Empty optional: so many cannot be read.
  [[nodiscard]] std::optional<std::span<const std::byte>> copy_part(const Place& place, std::uint64_t size,
                                                                    std::uint64_t least) const;
  [[nodiscard]] std::optional<std::span<const std::byte>> read_text(RemoteAddr address, std::uint64_t wanted) const;
  /// What the memory at an address was at the entry, if that was saved, else the memory itself.
  [[nodiscard]] Place saved_at(RemoteAddr address, std::size_t size) const;

  const Setting& setting;
  const spec::Tables& tables;
  CallState& state;
  MeteredMemory memory;
  render::Emitter& out;
  const Outcome* outcome;  ///< null before the exit
  Abi abi;
  std::size_t written;  ///< by the emitter, as far as the budget is charged with it
};

}  // namespace tracer::decode
