// What a function behind `custom NAME` gets to work with. Such functions live in src/decoders.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "decode/decoder.h"
#include "format/constants.h"

namespace tracer::decode {

/// One value that no table can say: where it is, the call that it belongs to, and where to emit it.
class CustomContext {
 public:
  CustomContext() = default;
  CustomContext(const CustomContext&) = delete;
  CustomContext& operator=(const CustomContext&) = delete;
  virtual ~CustomContext() = default;

  // The value: a register's, or `size` bytes at an address.
  [[nodiscard]] virtual bool in_memory() const = 0;
  [[nodiscard]] virtual std::uint64_t value() const = 0;  ///< not in memory
  [[nodiscard]] virtual RemoteAddr address() const = 0;   ///< in memory
  [[nodiscard]] virtual std::uint64_t size() const = 0;   ///< bytes that the description says; tracee data
  /// Copies the first bytes of the value; false if they are not all there.
  [[nodiscard]] virtual bool copy(std::span<std::byte> into) const = 0;

  // The call.
  [[nodiscard]] virtual const Entry& entry() const = 0;           ///< arguments by register
  [[nodiscard]] virtual const Outcome* outcome() const = 0;       ///< null before the exit
  [[nodiscard]] virtual std::uint64_t next_register() const = 0;  ///< behind that of the argument in question
  [[nodiscard]] virtual Depth depth() const = 0;
  [[nodiscard]] virtual const Options& options() const = 0;
  /// Name of the call of a number on an ABI; empty if there is none.
  [[nodiscard]] virtual std::string_view call_numbered(Abi abi, std::uint64_t number) const = 0;
  [[nodiscard]] virtual std::string_view call_name() const = 0;
  [[nodiscard]] virtual std::string_view previous_call() const = 0;  ///< of the same thread; may be empty
  /// The arguments that were printed with this name: value of the parameter, or nothing if the call has none such.
  [[nodiscard]] virtual std::optional<std::uint64_t> argument(std::string_view name) const = 0;

  // The means.
  /// Whether one more value may be emitted. To be asked for each element of what the tracee says the length of; where
  /// it is false, what is left shows as `...`.
  virtual bool spend() = 0;
  /// Emits what stands for the elements from that address on, which cannot be read: `... /* 0x7f00 */`.
  virtual void unreadable_rest(RemoteAddr address) = 0;
  [[nodiscard]] virtual const trace::Memory& memory() const = 0;
  [[nodiscard]] virtual names::Task task() const = 0;  ///< that makes the call, for questions to names()
  [[nodiscard]] virtual const names::Names& names() const = 0;
  [[nodiscard]] virtual render::Emitter& out() const = 0;
  /// Emits a constant of the named set; a number if the tables have no such set.
  virtual void constant(std::string_view set, std::uint64_t bits, unsigned width) = 0;
  /// Emits a number in the given style, its descriptor's or process' name included.
  virtual void number(std::uint64_t bits, spec::Style style, unsigned width, bool is_signed) = 0;
  /// Name of the type after the colon in `custom NAME : TYPE`.
  [[nodiscard]] virtual std::string_view described_name() const = 0;
  /// Emits what is in memory as that type says; false if it cannot be read.
  virtual bool described() = 0;
  /// The same of what is at an address.
  virtual bool described_at(RemoteAddr address) = 0;
  /// Name of a value of a set; empty if it has none.
  [[nodiscard]] virtual std::string_view constant_name(std::string_view set, std::uint64_t bits) const = 0;
  /// Emits a value as the type after the colon in `custom NAME : TYPE` says.
  virtual void described(std::uint64_t bits) = 0;
  /// Appends a value as that type says, for those who put more around it.
  virtual void append_constant(TextBuffer& text, std::uint64_t bits, format::ConstantForm form) const = 0;
  /// Appends a constant of the named set, by its name unless the form says otherwise.
  virtual void append_constant(TextBuffer& text, std::string_view set, std::uint64_t bits,
                               format::ConstantForm form = format::ConstantForm::abbreviate) const = 0;
  /// Emits a number that has a name; `style` is that of the number.
  virtual void named(std::string_view name, std::uint64_t bits, spec::Style style = spec::Style::hex,
                     bool is_signed = false) = 0;
};

/// Emits the value. False, with nothing emitted, if it cannot be read: then its address is shown.
using CustomFunction = bool (*)(CustomContext&);

struct Custom {
  std::string_view name;
  CustomFunction function = nullptr;
};

}  // namespace tracer::decode
