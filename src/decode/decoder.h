// The one decoder: tables + a call + its memory → a stream of typed values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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
  /// From now on questions are about a moment that has passed, of which `capture` tells; null: about now. It has to
  /// outlive them.
  void look_back(const trace::Capture* capture) { capture_ = capture; }
  // What these return stays valid until the next question.
  virtual DescriptorName descriptor(std::int32_t tid, std::int32_t fd) = 0;
  /// The same of a descriptor of the process that `pidfd` of `tid` stands for.
  virtual DescriptorName descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(pidfd);
    static_cast<void>(fd);
    return {};
  }
  /// The same of a descriptor of the process that has the id `pid` where `tid` lives.
  virtual DescriptorName descriptor_of(std::int32_t tid, std::int32_t pid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(pid);
    static_cast<void>(fd);
    return {};
  }
  /// The path that a descriptor was opened with, as it is, whatever the user wants to see; for -P.
  virtual std::string_view path(std::int32_t tid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    return {};
  }
  /// Name of the program of a process that `tid` calls `pid`, escaped; empty for none.
  virtual std::string_view process(std::int32_t tid, std::int32_t pid) = 0;
  /// The same of a thread by its own id.
  virtual std::string_view command(std::int32_t tid) { return process(tid, tid); }
  /// What a process, or with `group` a process group, that `tid` calls `pid` is in the tracer's PID namespace; 0 if
  /// that is another way to say `pid`, is unknown or is not wanted.
  virtual std::int32_t process_here(std::int32_t tid, std::int32_t pid, bool group) {
    static_cast<void>(tid);
    static_cast<void>(pid);
    static_cast<void>(group);
    return 0;
  }
  /// Name of the function whose code begins at an address, escaped; empty if unknown.
  virtual std::string_view function(std::int32_t tid, RemoteAddr address) {
    static_cast<void>(tid);
    static_cast<void>(address);
    return {};
  }
  /// Name of a network interface, as it is; empty if unknown.
  virtual std::string_view interface(std::uint32_t index) = 0;
  /// The protocol (NETLINK_ROUTE, ...) of a descriptor that is a netlink socket (255 if it cannot be told), else -1.
  virtual std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    return -1;
  }
  /// What the kernel calls the generic netlink family of a number; empty if unknown.
  virtual std::string_view generic_family(std::uint16_t number) {
    static_cast<void>(number);
    return {};
  }
  /// Where the tracee has mapped what KVM tells of the virtual processor behind a descriptor; 0 if it has not, or that
  /// is not wanted.
  virtual RemoteAddr vcpu_area(std::int32_t tid, std::int32_t fd) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    return {};
  }
  /// Where the first entries that wait in the ring behind a descriptor are, no more than `most`; nothing if that cannot
  /// be told.
  virtual std::optional<std::span<const RemoteAddr>> ring_entries(std::int32_t tid, std::int32_t fd,
                                                                  std::uint64_t most) {
    static_cast<void>(tid);
    static_cast<void>(fd);
    static_cast<void>(most);
    return std::nullopt;
  }
  /// What a link in /proc/PID/ns says, such as `uts:[4026531838]`, of a process that `tid` calls `pid`, or with 0 of
  /// `tid` itself; empty if unknown or not wanted.
  virtual std::string_view name_space(std::int32_t tid, std::int32_t pid, std::string_view link) {
    static_cast<void>(tid);
    static_cast<void>(pid);
    static_cast<void>(link);
    return {};
  }
  // SELinux contexts, escaped; empty if there are none or they are not wanted. `pid` is as `tid` calls it, and 0 for
  // `tid` itself; a path starts at the descriptor `directory`, or AT_FDCWD.
  virtual std::string_view descriptor_context(std::int32_t /*tid*/, std::int32_t /*fd*/) { return {}; }
  virtual std::string_view process_context(std::int32_t /*tid*/, std::int32_t /*pid*/) { return {}; }
  virtual std::string_view path_context(std::int32_t /*tid*/, std::int32_t /*directory*/, std::string_view /*path*/) {
    return {};
  }
  /// Path of the tracee's current directory, for AT_FDCWD under -y.
  virtual std::string_view current_directory(std::int32_t tid) = 0;

 protected:
  /// What look_back() was told last.
  [[nodiscard]] const trace::Capture* capture() const { return capture_; }

 private:
  const trace::Capture* capture_ = nullptr;
};

/// What the user asked for that decides what is read and in which depth (not how it is spelled).
struct Options {
  std::uint32_t string_limit = 32;  ///< -s, bytes
  /// A structure within others of its own type (a list) shows down to this depth, and not again where it is already.
  std::uint32_t most_nested = 16;
  bool rings = false;       ///< --io-uring: what is submitted to rings
  bool whole_vcpu = false;  ///< --kvm=vcpu+: all that KVM_RUN leaves behind
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
  /// `names`.
  Decoder(const spec::Tables& tables, Options options, Names& names, std::span<const Custom> customs);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// A custom that the tables ask for and that is not there (its values then show as their plain type); empty: none.
  [[nodiscard]] std::string_view missing_custom() const;

  /// Whom it asks.
  [[nodiscard]] Names& names() const;

  [[nodiscard]] std::unique_ptr<CallState, void (*)(CallState*)> make_state() const;

  /// Finds the description alone, as enter() does: after it signature_of() and arguments_of() have an answer.
  void settle(CallState& state, const Entry& entry, const trace::Memory& memory, render::Emitter& unused) const;
  /// Emits `name(` and the arguments up to the first that has to wait for the exit.
  void enter(CallState& state, const Entry& entry, Depth depth, const trace::Memory& memory,
             render::Emitter& out) const;
  /// Emits the other arguments, `)` and the result with its note.
  void exit(CallState& state, const Outcome& outcome, const trace::Memory& memory, render::Emitter& out) const;
  /// The description that enter() settled on (after multiplexers); nullptr for a number beyond the table.
  [[nodiscard]] static const spec::Call* call_of(const CallState& state);
  /// Which form of that call it is; nullptr as above.
  [[nodiscard]] static const spec::Signature* signature_of(const CallState& state);
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
