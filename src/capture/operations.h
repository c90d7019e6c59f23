// The operations of a capture plan while it is made, and what expressions of the descriptions come to in them. Private
// to this directory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/plan.h"
#include "spec/spec.h"

namespace tracer::capture {

inline constexpr std::uint32_t block_size = largest_piece;
/// Bytes, where a length is more than an operation can say; a page's end cuts them.
inline constexpr std::uint32_t unknown_size = 128;
/// Levels of pointers, and of what tables choose; the plan leaves out what is deeper.
inline constexpr unsigned deepest_followed = 4;

/// How many: a constant, or a slot's value times a constant, and some more.
struct CaptureLength {
  std::uint8_t slot = slot_none;
  std::uint8_t width = 8;
  std::uint32_t scale = 1;
  std::uint64_t constant = 0;
  std::uint8_t more = 0;
};

/// The struct whose fields a length may name.
struct CaptureScope {
  std::uint8_t base = 0;
  std::uint32_t offset = 0;
  spec::Range fields;
  spec::Range parameters;  ///< expressions for the struct's own parameters, which `outer` gives a meaning
  const CaptureScope* outer = nullptr;
};

/// Of one call on one ABI, at its entry or at its exit.
class CaptureOperations {
 public:
  using Length = CaptureLength;
  using Scope = CaptureScope;

  CaptureOperations(const spec::Tables& tables, Abi abi) : t_(tables), abi_(abi) {}

  [[nodiscard]] const std::vector<capture_operation>& operations() const { return operations_; }

  /// From here on the arguments are those of another call, which have been loaded into slots.
  void redirect() { redirected_ = true; }

  /// One that copies or loads from `offset` behind the address in slot `base`; the rest is usual.
  static capture_operation operation(capture_kind kind, std::uint8_t base, std::uint32_t offset);

  /// What goes beyond the room of a plan is left out, and shows as an address.
  void add(const capture_operation& op);
  /// A loop over an array, `each`, whose body is what `add_body(slot)` adds, with the address of an element in the
  /// slot. Nothing, if the body is empty.
  template <typename AddBody>
  void add_loop(capture_operation each, const AddBody& add_body) {
    if (begin_loop(each)) {
      const std::size_t first = operations_.size();
      const std::size_t opened = open_from_;
      open_from_ = first;
      add_body(each.to);
      open_from_ = opened;
      end_loop(first);
    }
  }

  /// The slot that holds a number of the tracee's memory; slot_none if there are no more.
  std::uint8_t load(std::uint8_t base, std::uint32_t offset, unsigned width);

  /// What an expression comes to, if an operation can say it.
  std::optional<Length> length(spec::ExprId id, const Scope* scope);

  /// So many times as much; nothing if an operation cannot say it.
  static std::optional<Length> multiplied(Length length, std::uint64_t factor);

  [[nodiscard]] unsigned pointer_width(const spec::Type& pointer) const {
    return pointer.wide_pointer ? 8 : word_size(abi_);
  }
  [[nodiscard]] std::uint8_t slot_of(const spec::Param& param) const;
  /// Bytes of one value; 0 if that is not the same of all.
  [[nodiscard]] std::uint32_t size_of(const spec::Type& type) const;

 protected:
  const spec::Tables& t_;
  Abi abi_;
  spec::Range params_;      ///< of the form that is being planned
  bool has_result_ = true;  ///< at the exit, where slot_result holds it

 private:
  /// The first that stands in the same loop; what slots hold within loops inside of it is another matter.
  template <typename Wanted>
  capture_operation* find(const Wanted& wanted);
  bool begin_loop(capture_operation& each);
  void end_loop(std::size_t first);
  std::optional<Length> of_param(const spec::Param& param, bool through_pointer);
  std::optional<Length> of_field(const spec::Field& field, const Scope& scope);
  std::optional<Length> of_outer(spec::StringRef name, const Scope* scope);
  std::optional<Length> of_sum(const spec::Expr& sum, const Scope* scope);
  std::optional<Length> smaller(const spec::Expr& e, const Scope* scope);
  std::optional<Length> loaded(std::uint8_t base, std::uint32_t offset, const spec::Type& scalar);
  [[nodiscard]] bool names_result(spec::ExprId id) const;
  [[nodiscard]] std::optional<Length> roughly(spec::ExprId id) const;

  bool redirected_ = false;
  std::uint8_t next_slot_ = slot_first_loaded;
  std::vector<capture_operation> operations_;
  std::size_t open_from_ = 0;  ///< operations before it are not of the loop that is being made
};

}  // namespace tracer::capture
