#include "decode/session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "format/floating.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Type;
using spec::TypeKind;

namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t first_piece = 256;

}  // namespace

Place Session::saved_at(RemoteAddr address, std::size_t size) const {
  for (const SavedTarget& saved : state.saved) {
    const auto offset = address.value() - saved.address.value();
    if (offset < saved.size && size <= saved.size - offset) {
      return Place::copied(std::span(state.saved_bytes).subspan(saved.offset + offset, saved.size - offset), address);
    }
  }
  return Place::remote(address);
}

std::optional<std::span<const std::byte>> Session::copy(const Place& place, std::uint64_t size) const {
  return copy_part(place, size, size);
}

std::optional<std::span<const std::byte>> Session::copy_part(const Place& place, std::uint64_t size,
                                                             std::uint64_t least) const {
  if (place.kind == Place::Kind::reg) {
    return std::nullopt;
  }
  if (place.kind == Place::Kind::copied && size <= place.bytes.size()) {
    return place.bytes.first(size);
  }
  if (!state.budget.affords(size)) {
    return std::nullopt;
  }
  const auto into = state.scratch.take(size);
  const auto got = memory.read(place.address, into);
  return got < least ? std::nullopt : std::optional(into.first(got));
}

/// Up to `wanted` bytes, up to and including a NUL; nothing if neither is readable.
std::optional<std::span<const std::byte>> Session::read_text(RemoteAddr address, std::uint64_t wanted) const {
  const auto into = state.scratch.take(wanted);
  std::uint64_t got = 0;
  std::uint64_t most = first_piece;  // then more and more: texts are short, and the budget counts what is asked for
  for (; got < wanted; most *= 2) {
    const RemoteAddr from = address + got;
    const auto piece = into.subspan(got, std::min({wanted - got, page_size - from.value() % page_size, most}));
    const auto read = memory.read(from, piece);
    const auto fresh = piece.first(read);
    got += read;
    const auto end = std::find(fresh.begin(), fresh.end(), std::byte{0});
    if (end != fresh.end()) {
      memory.used(static_cast<std::size_t>(end - fresh.begin()) + 1);
      break;
    }
    if (read != piece.size()) {
      return std::nullopt;
    }
  }
  return into.first(got);
}

/// As size_of; what a table chooses has the size of the table's first row, where all rows are of one size.
std::uint64_t Session::size_of_any_row(const Type& type) const {
  const bool by_table = type.kind == TypeKind::choice && tables.choices[type.index].rows.count != 0;
  return size_of(by_table ? tables.types[tables.choice_rows[tables.choices[type.index].rows.first].type] : type);
}

std::uint64_t Session::size_of(const Type& type) const {
  const auto fixed_count = [&]() -> std::uint64_t {
    if (type.length == spec::none || type.length_kind == spec::LengthKind::until_zero) {
      return 0;
    }
    const auto& length = tables.exprs[type.length];
    return length.op == spec::ExprOp::literal && length.value > 0 ? static_cast<std::uint64_t>(length.value) : 0;
  };
  switch (type.kind) {
    case TypeKind::scalar:
    case TypeKind::pointer:
      return scalar_width(type);
    case TypeKind::array:
      return type.length_kind == spec::LengthKind::byte_count ? fixed_count()
                                                              : fixed_count() * size_of(tables.types[type.target]);
    case TypeKind::bytes:
    case TypeKind::cstr:
      return fixed_count();
    case TypeKind::structure:
      return tables.structs[type.index].layout.size[index_of(abi)];
    case TypeKind::custom:
      return type.target == spec::none ? scalar_width(type) : size_of(tables.types[type.target]);
    case TypeKind::choice:
      return 0;
  }
  return 0;
}

bool Session::load(const Type& type, const Place& place, std::uint64_t& bits) const {
  if (type.kind == TypeKind::custom && type.target != spec::none) {
    return load(tables.types[type.target], place, bits);
  }
  bits = place.bits;
  if (type.kind == TypeKind::choice && tables.choices[type.index].rows.count != 0) {
    // Of a table of sets, whatever the set, the number is the same.
    const Type& any = tables.types[tables.choice_rows[tables.choices[type.index].rows.first].type];
    return (any.kind == TypeKind::scalar || any.kind == TypeKind::choice) && load(any, place, bits);
  }
  if (type.kind != TypeKind::scalar && type.kind != TypeKind::pointer && type.kind != TypeKind::custom) {
    return place.kind == Place::Kind::reg;
  }
  const unsigned width = scalar_width(type);
  if (type.width == spec::long_double_wide && type.kind == TypeKind::scalar) {
    if (place.kind != Place::Kind::reg) {
      const auto number = load_long_double(place, width);
      bits = number.value_or(0);
      return number.has_value();
    }
    return true;
  }
  if (place.kind != Place::Kind::reg) {
    bits = 0;
    const auto into = std::as_writable_bytes(std::span(&bits, 1)).first(width);
    if (place.kind == Place::Kind::copied && place.bytes.size() >= sizeof bits) {
      std::memcpy(&bits, place.bytes.data(), sizeof bits);  // what is more than the width is cut off below
    } else if (place.kind == Place::Kind::copied && place.bytes.size() >= width) {
      std::copy_n(place.bytes.begin(), width, into.begin());
    } else if (memory.read(place.address, into) != width) {
      return false;
    }
  }
  if (type.bit_count != 0 && place.kind != Place::Kind::reg) {
    const unsigned above = 64U - std::min(64U, unsigned{type.bit_offset} + type.bit_count);
    const unsigned beside = 64U - std::min<unsigned>(64U, type.bit_count);
    const std::uint64_t up = bits << above;
    bits = type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(up) >> beside) : up >> beside;
    return true;
  }
  bits = format::cut(bits, width, type.is_signed);
  return true;
}

/// As a double.
std::optional<std::uint64_t> Session::load_long_double(const Place& place, unsigned size) const {
  std::array<std::byte, 16> raw{};
  const auto into = std::span(raw).first(size);
  if (place.kind == Place::Kind::copied && place.bytes.size() >= size) {
    std::copy_n(place.bytes.begin(), size, into.begin());
  } else if (memory.read(place.address, into) != size) {
    return std::nullopt;
  }
  return format::double_of_long_double(into, abi);
}

/// How many bytes there must be for it to show: fewer than it has if it is `sized by` and says so.
std::uint64_t Session::least_of(const Type& type) const {
  const bool says = type.kind == TypeKind::structure && tables.structs[type.index].min_size != 0;
  return says ? tables.structs[type.index].min_size : size_of(type);
}

}  // namespace tracer::decode
