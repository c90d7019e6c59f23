// Arrays by count, by bytes, terminated; streams of records that say their own length.
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

/// What a terminated array is counted up to for `brief count`; a bound for endless ones.
constexpr std::uint64_t max_counted = 1U << 20;

/// An array of a fixed number of structures and the like, no more than these, is like a structure: all of it is
/// there, or it is not.
constexpr std::uint64_t most_like_fields = 4;

/// Of one record of a stream no more than this is shown; the tracee may say anything.
constexpr std::uint64_t max_record = 1U << 20;

/// Bytes of records of one size: nobody has more than this.
constexpr std::uint64_t max_records = 0x7fffffff;

constexpr std::uint64_t smallest_page = 4096;

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

/// One record: its length (what of it is data) and the distance to the next one. Length 0: no record there. Step 0:
/// its header alone, which says a length that no record can have, so that nobody knows where the next one is.
Walker::RecordSize Walker::record_size(const Type& type, const Place& place, const Scope* scope, std::uint64_t left,
                                       std::span<std::int64_t> params) {
  const spec::Struct& layout = tables_.structs[type.index];
  const std::uint64_t header = layout.layout.size[index_of(abi_)];
  const auto read = header <= left ? copy(place, header) : std::nullopt;
  if (!read || layout.step == spec::none) {
    return {};
  }
  Scope inner;
  inner.outer = scope;
  inner.type = &layout;
  inner.place = Place::copied(*read, place.address);
  inner.params = params;
  const auto step = evaluate(layout.step, &inner);
  const auto& expr = tables_.exprs[layout.step];
  const auto data = expr.op == spec::ExprOp::align ? evaluate(expr.a, &inner) : step;
  if (!step || !data) {
    return {};
  }
  const auto length = static_cast<std::uint64_t>(*data);
  if (length < header) {
    // Of a list's element nothing follows, not even the remark that there is more.
    return {header, layout.is_list || left == header ? left : 0};
  }
  return {std::min({length, left, max_record}), std::min(static_cast<std::uint64_t>(*step), left)};
}

std::uint64_t Walker::count_records(const Type& type, const Place& place, const Scope* scope, std::uint64_t size) {
  std::uint64_t n = 0;
  for (std::uint64_t at = 0; at < size && n < max_counted; ++n) {
    const ScratchGuard guard(state_.scratch);
    const auto record = record_size(type, place.at(at), scope, size - at, evaluate_params(type.args, scope));
    if (record.step == 0) {
      break;
    }
    at += record.step;
  }
  return n;
}

/// As with any other piece of memory: records that are not there to their end show as an address.
bool Walker::is_there(const Place& place, std::uint64_t size) {
  if (size == 0) {
    return true;
  }
  if (place.address + size < place.address) {
    return false;
  }
  for (std::uint64_t at = 0; at < std::min(size, max_record); at += smallest_page) {
    if (!copy(place.at(at), 1)) {
      return false;
    }
  }
  return copy(place.at(size - 1), 1).has_value();
}

bool Walker::records(const Type& type, const Place& place, const Scope* scope, std::uint64_t size) {
  const ScratchGuard guard(state_.scratch);
  const auto params = evaluate_params(type.args, scope);
  const auto enclosing_rest = rest_;
  const auto enclosing_nth = nth_;
  const bool is_list = tables_.structs[type.index].is_list;
  // Records of one size are like the elements of an array, of which those show that are there to their ends.
  const auto step =
      is_constant(tables_.structs[type.index].step) ? evaluate(tables_.structs[type.index].step, scope) : Value{};
  if (step && *step > 0) {
    if (size > max_records) {
      return false;
    }
    size -= size % static_cast<std::uint64_t>(*step);
  }
  if (!is_list && !step && !is_there(place, size)) {
    return false;
  }
  const std::uint64_t limit = state_.depth.abbreviate ? setting_.options.string_limit : max_counted;
  bool alone = false;
  bool begun = false;
  std::uint64_t n = 0;
  for (std::uint64_t at = 0; at < size; ++n) {
    const ScratchGuard record_guard(state_.scratch);
    const Place here = place.at(at);
    nth_ = n;
    const auto record = record_size(type, here, scope, size - at, params);
    const auto bytes = record.length != 0 ? copy(here, record.length) : std::nullopt;
    const bool is_rest = is_list && record.length == 0;
    if (!bytes && !begun && !is_rest) {
      return false;
    }
    if (!begun) {
      alone = is_list && (is_rest || record.step >= size);
      is_list ? out_.begin_series(alone) : out_.begin_array();
      begun = true;
    }
    if (n >= limit || !spend()) {
      out_.more();
      break;
    }
    if (is_rest) {
      out_.begin_element();
      remaining_bytes(here, size - at);
      break;
    }
    if (!bytes) {
      unreadable_rest(here.address);
      break;
    }
    out_.begin_element();
    rest_ = record.length;
    record_body({scope, &tables_.structs[type.index], Place::copied(*bytes, here.address), params, place, size});
    if (record.step == 0) {
      unreadable_rest(here.address + record.length);
      break;
    }
    at += record.step;
  }
  rest_ = enclosing_rest;
  nth_ = enclosing_nth;
  if (!begun && is_list) {
    out_.bytes({}, {});
    return true;
  }
  if (!begun) {
    out_.begin_array();
  }
  is_list ? out_.end_series(alone) : out_.end_array();
  return true;
}

}  // namespace tracer::decode
