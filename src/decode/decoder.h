// The one decoder: tables + a call + its memory → a stream of typed values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "render/emitter.h"
#include "spec/spec.h"
#include "trace/memory.h"

namespace tracer::decode {

/// `</tmp/x>(deleted)`
struct DescriptorName {
  std::string_view text;  ///< for between the angle brackets, escaped; empty: none
  bool deleted = false;
  operator std::string_view() const { return text; }  // NOLINT(google-explicit-constructor)
};

/// What a descriptor or a process id stands for, by the tracee's own view (-y, -yy, -Y). Implemented over /proc;
/// faked in tests.
class Names {
 public:
  virtual ~Names() = default;
  // What these return stays valid until the next question.
  virtual DescriptorName descriptor(std::int32_t tid, std::int32_t fd) = 0;
  /// The path that a descriptor was opened with, as it is, whatever the user wants to see; for -P.
  virtual std::string_view path(std::int32_t tid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    return {};
  }
  /// Name of a process' program, escaped; empty for none.
  virtual std::string_view process(std::int32_t tid, std::int32_t pid) = 0;
  /// Name of a network interface, empty if unknown.
  virtual std::string_view interface(std::uint32_t index) = 0;
  /// The protocol (NETLINK_ROUTE, ...) of a descriptor that is a netlink socket, else -1.
  virtual std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    return -1;
  }
  /// Path of the tracee's current directory, for AT_FDCWD under -y.
  virtual std::string_view current_directory(std::int32_t tid) = 0;
};

/// What the user asked for that decides what is read and in which depth (not how it is spelled).
struct Options {
  std::uint32_t string_limit = 32;  ///< -s, bytes
  bool always_comment_unknown = true;
};

/// Per call: -e abbrev=, verbose=, raw=.
struct Depth {
  bool abbreviate = true;   ///< false under -v
  bool dereference = true;  ///< false: structures print as addresses (-e verbose=!X)
  bool raw = false;
};

/// One call as it is known at its entry.
struct Entry {
  std::int32_t tid = 0;
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
  std::uint64_t stack_pointer = 0;  ///< where sigreturn finds its frame; 0 if unknown
};

struct Outcome {
  std::int64_t value = 0;
  bool is_error = false;
  bool known = true;  ///< false: `= ?`
};

/// A call between its entry and its exit. Reused for the next call of the same thread: keeps its buffers.
struct CallState;

/// A function for `custom NAME` (decode/custom.h).
struct Custom;

class Decoder {
 public:
  /// `customs` is what src/decoders offers (decoders::all()); it must outlive the decoder, as must `tables` and
  /// `names`.
  Decoder(const spec::Tables& tables, Options options, Names& names, std::span<const Custom> customs);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// A custom that the tables ask for and that is not there (its values then show as their plain type); empty: none.
  [[nodiscard]] std::string_view missing_custom() const;

  [[nodiscard]] std::unique_ptr<CallState, void (*)(CallState*)> make_state() const;

  /// Emits `name(` and the arguments up to the first that has to wait for the exit.
  void enter(CallState& state, const Entry& entry, Depth depth, const Memory& memory, render::Emitter& out) const;
  /// Emits the other arguments, `)` and the result with its note.
  void exit(CallState& state, const Outcome& outcome, const Memory& memory, render::Emitter& out) const;
  /// The description that enter() settled on (after multiplexers); nullptr for a number beyond the table.
  [[nodiscard]] static const spec::Call* call_of(const CallState& state);
  [[nodiscard]] std::string_view name_of(const CallState& state) const;

  /// `{si_signo=SIGCHLD, …}` of a raw siginfo in the host's layout.
  void siginfo(std::span<const std::byte> raw, Abi abi, std::int32_t tid, const Memory& memory,
               render::Emitter& out) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tracer::decode
