// The one decoder: tables + a call + its memory → a stream of typed values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "names/names.h"
#include "render/emitter.h"
#include "spec/spec.h"
#include "trace/memory.h"

namespace tracer::decode {

/// What the user asked for that decides what is read and in which depth (not how it is formatted).
struct Options {
  std::uint32_t string_limit = 32;  ///< -s, bytes
  /// ltrace's -A, elements of an array; absent: -s limits them, too
  std::optional<std::uint32_t> element_limit = {};
  /// A structure within others of its own type (a list) shows down to this depth, and not again where it is already.
  std::uint32_t most_nested = 16;
  bool rings = false;       ///< --io-uring: what is submitted to rings
  bool whole_vcpu = false;  ///< --kvm=vcpu+: all that KVM_RUN leaves behind

  [[nodiscard]] std::uint32_t most_elements() const { return element_limit.value_or(string_limit); }
};

/// Per call: -e abbrev=, verbose=, raw=.
struct Depth {
  bool abbreviate = true;   ///< false under -v
  bool dereference = true;  ///< false: structures print as addresses (-e verbose=!X)
  bool raw = false;
};

/// One call as it is known at its entry: a system call by its number and registers, or a function of a library.
struct Entry {
  std::int32_t tid = 0;
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
  const spec::Call* function = nullptr;     ///< of a library: then `number` and `args` mean nothing, but …
  std::span<const std::uint64_t> values{};  ///< … its arguments (function_values.h), valid during enter()
  std::uint64_t stack_pointer = 0;          ///< where sigreturn finds its frame; 0 if unknown
  /// What a function is called in the text; one that no table knows has the first words that it may have been given in
  /// `args`. Empty: a system call. Valid until the exit.
  std::string_view function_name = {};
  std::optional<std::uint64_t> interrupted = std::nullopt;  ///< SyscallEnter::interrupted
};

struct Outcome {
  std::int64_t value = 0;
  bool is_error = false;
  bool known = true;  ///< false: `= ?`
  /// Of a function that returns a structure: its bytes, valid during exit(). Empty if they could not be read.
  std::span<const std::uint64_t> words{};
};

/// A call between its entry and its exit. Reused for the next call of the same thread: keeps its buffers.
struct CallState;

/// A function for `custom NAME` (decode/custom.h).
struct Custom;

class Decoder {
 public:
  /// `customs` is what src/decoders offers (decoders::all()); it must outlive the decoder, as must `tables` and
  /// what `names` refers to.
  Decoder(const spec::Tables& tables, Options options, const names::Names& names, std::span<const Custom> customs);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// A custom that the tables ask for and that is not there (its values then show as their plain type); empty: none.
  [[nodiscard]] std::string_view missing_custom() const;

  [[nodiscard]] std::unique_ptr<CallState, void (*)(CallState*)> make_state() const;

  /// Finds the description alone, as enter() does: after it signature_of() and arguments_of() have an answer.
  void resolve(CallState& state, const Entry& entry, const trace::Memory& memory, render::Emitter& unused) const;
  /// Emits `name(` and the arguments up to the first that has to wait for the exit.
  void enter(CallState& state, const Entry& entry, Depth depth, const trace::Memory& memory,
             render::Emitter& out) const;
  /// Emits the other arguments, `)` and the result with its note.
  void exit(CallState& state, const Outcome& outcome, const trace::Memory& memory, render::Emitter& out) const;
  /// The description that enter() found (after multiplexers); nullptr for a number beyond the table.
  [[nodiscard]] static const spec::Call* call_of(const CallState& state);
  /// Which form of that call it is; nullptr as above.
  [[nodiscard]] static const spec::Signature* signature_of(const CallState& state);
  /// Whether part of a structure that the call fills in shows at the entry, where an emitter shows what is unfinished.
  [[nodiscard]] bool shows_in_part(const CallState& state) const;
  /// The call's own arguments, wherever a multiplexer had them.
  [[nodiscard]] static const std::array<std::uint64_t, 6>& arguments_of(const CallState& state);
  /// What enter() calls it.
  [[nodiscard]] std::string_view name_of(const CallState& state) const;

  /// `{si_signo=SIGCHLD, …}` of a raw siginfo in the host's layout.
  void siginfo(std::span<const std::byte> raw, Abi abi, std::int32_t tid, const trace::Memory& memory,
               render::Emitter& out) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tracer::decode
