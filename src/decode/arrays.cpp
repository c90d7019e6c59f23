// Arrays by count, by bytes, terminated.
#include <algorithm>

#include "decode/walker.h"

namespace tracer::decode {

using spec::LengthKind;
using spec::StructKind;
using spec::Type;
using spec::TypeKind;

namespace {

/// Bytes of an array that one read fetches.
constexpr std::uint64_t chunk_size = 4096;

/// An array of a fixed number of structures and the like, no more than these, is like a structure: all of it is
/// there, or it is not.
constexpr std::uint64_t most_like_fields = 4;

}  // namespace

Count Walker::length(const Type& type, const Scope* scope) {
  std::uint64_t n = unlimited;
  if (type.length != spec::none) {
    const auto said = evaluate(type.length, scope);
    if (!said) {
      return std::nullopt;
    }
    n = static_cast<std::uint64_t>(*said);
    // Where the tracee says how much room there is and the call how much there would be, the smaller counts.
    const auto& expr = tables_.exprs[type.length];
    if (expr.op == spec::ExprOp::deref) {
      n = std::min(n, saved_value(expr.a).value_or(unlimited));
    }
  }
  if (type.budget != spec::none) {
    const auto index = tables_.exprs[type.budget].a;
    for (const Scope* s = scope; s != nullptr; s = s->outer) {
      if (index < s->params.size()) {
        const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(s->params[index], 0));
        n = std::min(n, left);
        s->params[index] = left == unlimited ? s->params[index] : static_cast<std::int64_t>(left - n);
        break;
      }
    }
  }
  return type.max != 0 ? std::min<std::uint64_t>(n, type.max) : n;
}

void Walker::unreadable_rest(RemoteAddr address) {
  if (state_.budget.exhausted()) {
    out_.more();
    return;
  }
  out_.begin_element();
  TextBuffer& text = state_.words;
  text.clear();
  text.hex(address.value());
  out_.symbol("...");
  out_.comment(text.view());
}

bool Walker::array(const Type& type, const Place& place, const Scope* scope) {
  if (place.kind == Place::Kind::reg) {
    return false;
  }
  if (type.brief != spec::none && state_.depth.abbreviate) {
    if (tables_.text(type.brief) == spec::brief_none) {
      return brief_none(type, scope);
    }
    return brief_count(type, place, scope);
  }
  if (type.length_kind == LengthKind::until_zero) {
    return terminated(type, place, scope);
  }
  const Type& element = tables_.types[type.target];
  auto n = length(type, scope);
  if (!n) {
    return false;
  }
  if (type.length_kind == LengthKind::byte_count) {
    const bool is_stream =
        element.kind == TypeKind::structure && tables_.structs[element.index].kind == StructKind::stream;
    if (is_stream) {
      return records(element, place, scope, std::min(*n, rest_));
    }
    if (element.kind == TypeKind::structure || element.kind == TypeKind::choice || element.kind == TypeKind::custom) {
      const auto enclosing_rest = rest_;
      rest_ = *n;
      const bool done = value(element, place, scope);
      rest_ = enclosing_rest;
      return done;
    }
    const auto size = size_of(element);
    n = size == 0 ? 0 : *n / size;
  }
  return counted(type, place, scope, *n);
}

/// Whether the tracee says that there is less of a structure than there has to be.
bool Walker::says_too_little(const Type& type, const Place& place, const Scope* scope) {
  const spec::Struct& layout = tables_.structs[type.index];
  if (layout.sized_by == spec::none) {
    return false;
  }
  Scope inner;
  inner.outer = scope;
  inner.type = &layout;
  inner.place = place;
  const auto said = evaluate(layout.sized_by, &inner);
  return !said || static_cast<std::uint64_t>(*said) < layout.min_size;
}

bool Walker::counted(const Type& type, const Place& place, const Scope* scope, std::uint64_t count) {
  const Type& element = tables_.types[type.target];
  const auto size = size_of_any_row(element);
  if (size == 0 && count != 0) {
    return false;
  }
  if (count != 0 && (place.address + count * size < place.address || count > unlimited / size)) {
    return false;
  }
  const ScratchGuard guard(state_.scratch);
  const auto params =
      element.kind == TypeKind::structure ? evaluate_params(element.args, scope) : std::span<std::int64_t>{};
  const std::uint64_t shown =
      state_.depth.abbreviate ? std::min<std::uint64_t>(count, setting_.options.string_limit) : count;
  const auto per_chunk = std::max<std::uint64_t>(1, chunk_size / std::max<std::uint64_t>(size, 1));
  const auto enclosing_rest = rest_;
  const auto enclosing_nth = nth_;
  const auto buffer = place.kind == Place::Kind::remote && size != 0
                          ? state_.scratch.take(std::min(per_chunk, shown) * size)
                          : std::span<std::byte>{};
  const bool like_fields = element.kind != TypeKind::scalar && type.length != spec::none && count <= most_like_fields &&
                           tables_.exprs[type.length].op == spec::ExprOp::literal;
  if (like_fields && element.kind == TypeKind::structure && count == 1 && says_too_little(element, place, scope)) {
    return false;
  }
  if (like_fields && shown < count && !copy(place.at((count - 1) * size), size)) {
    return false;
  }
  bool begun = false;
  const auto begin = [&] {
    begun ? void() : out_.begin_array();
    begun = true;
  };
  std::uint64_t i = 0;
  bool readable = true;
  bool ends_here = false;
  while (i < shown && readable && !state_.budget.exhausted()) {
    Place chunk = place.at(i * size);
    std::uint64_t there = shown - i;
    if (chunk.kind == Place::Kind::remote) {
      there = std::min(there, per_chunk);
      const auto got = memory_.read(chunk.address, buffer.first(there * size));
      readable = got == there * size;
      if (!readable && like_fields) {
        return false;
      }
      there = got / size;
      chunk = Place::copied(buffer.first(there * size), chunk.address);
    } else {
      there = std::min(there, chunk.bytes.size() / size);
      // A structure that says its size may end before its elements do.
      ends_here = there == 0;
      readable = !ends_here;
    }
    for (std::uint64_t end = i + there; i < end && !state_.budget.exhausted(); ++i, chunk = chunk.at(size)) {
      begin();
      out_.begin_element();
      rest_ = size;
      nth_ = i;
      const Place one = Place::copied(chunk.bytes.first(size), chunk.address);
      const bool done = element.kind == TypeKind::structure && spend() ? structure(element, one, scope, params)
                                                                       : value(element, one, scope);
      if (!done) {
        out_.address(one.address);
      }
    }
  }
  nth_ = enclosing_nth;
  rest_ = enclosing_rest;
  if (readable && i == shown && i < count && place.kind == Place::Kind::remote) {
    readable = copy(place.at(i * size), size).has_value();
  }
  if (!begun && !readable) {
    return false;
  }
  begin();
  if (!readable && !ends_here) {
    unreadable_rest(place.address + i * size);
  } else if (i < count) {
    std::byte next{};
    const bool goes_on =
        i * size < place.bytes.size() || memory_.read(place.address + i * size, std::span(&next, 1)) == 1;
    goes_on ? out_.more() : unreadable_rest(place.address + i * size);
  }
  out_.end_array();
  return true;
}

bool Walker::terminated(const Type& type, const Place& place, const Scope* scope) {
  const Type& element = tables_.types[type.target];
  const auto size = size_of(element);
  const std::uint64_t limit = state_.depth.abbreviate ? setting_.options.string_limit : max_counted;
  bool begun = false;
  for (std::uint64_t i = 0;; ++i) {
    const Place one = place.at(i * size);
    const auto bits = load(element, one);
    if (!bits && i == 0) {
      return false;
    }
    if (!begun) {
      out_.begin_array();
      begun = true;
    }
    if (!bits) {
      unreadable_rest(one.address);
      break;
    }
    if (*bits == 0) {
      break;
    }
    if (i >= limit || state_.budget.exhausted()) {
      out_.more();
      break;
    }
    out_.begin_element();
    value(element, Place::in_register(*bits), scope);
  }
  out_.end_array();
  return true;
}

/// `[...]`, or `[]` if there are no elements, without a look at them.
bool Walker::brief_none(const Type& type, const Scope* scope) {
  const auto n = length(type, scope);
  if (!n) {
    return false;
  }
  out_.begin_array();
  *n != 0 ? out_.more() : void();
  out_.end_array();
  return true;
}

bool Walker::brief_count(const Type& type, const Place& place, const Scope* scope) {
  const Type& element = tables_.types[type.target];
  std::uint64_t n = 0;
  bool unterminated = false;
  if (type.length_kind == LengthKind::until_zero) {
    const auto size = size_of(element);
    for (;; ++n) {
      const auto bits = load(element, place.at(n * size));
      if (!bits && n == 0) {
        return false;
      }
      unterminated = !bits || n == max_counted;
      if (unterminated || *bits == 0) {
        break;
      }
    }
  } else {
    const auto said = length(type, scope);
    if (!said) {
      return false;
    }
    n = *said;
    const bool is_stream =
        element.kind == TypeKind::structure && tables_.structs[element.index].kind == StructKind::stream;
    if (is_stream && type.length_kind == LengthKind::byte_count) {
      n = count_records(element, place, scope, *said);
    } else if (type.length_kind == LengthKind::byte_count) {
      n = *said / std::max<std::uint64_t>(size_of(element), 1);
    }
  }
  const auto word = tables_.text(type.brief);
  TextBuffer& text = state_.words;
  text.clear();
  text.decimal(n);
  text.append(' ');
  text.append(word);
  if (n != 1 && !word.empty() && word.back() != 's') {
    text.append('s');
  }
  if (unterminated) {
    text.append(", unterminated");
  }
  out_.address(place.address);
  out_.comment(text.view());
  return true;
}

}  // namespace tracer::decode
