// Where a value is, and what holds while it is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/remote_addr.h"
#include "spec/spec.h"

namespace tracer::decode {

/// The size of a place for which no size is given.
constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Where a value is.
struct Place {
  enum class Kind : std::uint8_t {
    reg,     ///< `bits`
    copied,  ///< `bytes`, up to the end of what was copied; they came from `address`
    remote,  ///< at `address`
  };
  Kind kind = Kind::reg;
  std::uint64_t bits = 0;
  std::span<const std::byte> bytes;
  RemoteAddr address;

  static Place in_register(std::uint64_t bits) { return {Kind::reg, bits, {}, {}}; }
  static Place copied(std::span<const std::byte> bytes, RemoteAddr address) {
    return {Kind::copied, 0, bytes, address};
  }
  static Place remote(RemoteAddr address) { return {Kind::remote, 0, {}, address}; }

  /// The place `offset` bytes on. Past the end of a copy it is remote.
  [[nodiscard]] Place at(std::uint64_t offset) const {
    if (kind == Kind::copied && offset <= bytes.size()) {
      return copied(bytes.subspan(offset), address + offset);
    }
    return remote(address + offset);
  }
};

/// A struct, union, stream or table that is being decoded; they nest.
struct Scope {
  const Scope* outer = nullptr;
  const spec::Struct* type = nullptr;  ///< null for a table
  Place place;                         ///< the struct's copy
  std::span<std::int64_t> params;
  Place series;                   ///< of a stream's record: where the first one begins
  std::uint64_t series_size = 0;  ///< in bytes, of all records
};

/// Which of a struct's fields show: those that go in, or those that came out.
enum class View : std::uint8_t { input, output, before, after };

/// How much of a struct shows now: at the entry, what comes before the first field that waits for the exit; at the
/// exit, the rest.
enum class Portion : std::uint8_t { whole, at_entry, rest };

/// What a value reports to the list around it if its elements show as elements of that list.
struct Splice {
  bool element_begun = false;
};

/// What an argument's value reports of the pointers in it.
struct Unread {
  bool any = false;  ///< one that is not null showed as an address
};

/// What holds around a value. It is passed by value: a change holds for the values within alone.
struct Context {
  const Scope* scope = nullptr;         ///< around the value
  std::uint64_t remaining = unlimited;  ///< bytes left in the enclosing sized region
  std::uint64_t index = 0;              ///< of the element in its array
  std::uint64_t it = 0;                 ///< the number that shows in parts
  std::string_view inline_into;         ///< name of the field whose own fields show as its struct's; empty: none
  Splice* splice = nullptr;             ///< of the list that takes the value's elements as its own; null: none does
  Unread* unread = nullptr;             ///< of the argument; null: nobody asks
  unsigned depth = 0;                   ///< how many values are around it
  View view = View::input;
  Portion portion = Portion::whole;  ///< of the struct that the value is
  bool filled = false;               ///< an `out` argument holds something, whatever the result
  std::uint8_t slot = 0;             ///< register of the argument

  static Context of(View view) {
    Context context;
    context.view = view;
    return context;
  }
  /// The same for what is directly within a table or a struct.
  [[nodiscard]] Context in(const Scope& inner) const {
    Context context = *this;
    context.scope = &inner;
    return context;
  }
  /// Whether something holds for the value itself and not for the values within it.
  [[nodiscard]] bool is_in_place() const {
    return !inline_into.empty() || splice != nullptr || portion != Portion::whole;
  }
  /// Ends what holds for a value itself and not for the values within it.
  void enter_value() {
    inline_into = {};
    splice = nullptr;
    portion = Portion::whole;
  }
};

/// Outside all values.
inline constexpr Context no_context;

}  // namespace tracer::decode
