// Arrays by count, by bytes, terminated.
#include <algorithm>

#include "decode/values.h"
#include "format/scalars.h"
#include "spec/brief.h"

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

void ArrayDecoder::unreadable_rest(RemoteAddr address) const {
  if (state_.budget.exhausted()) {
    out_.more();
    return;
  }
  state_.partly_unread = true;
  out_.begin_element();
  TextBuffer& text = state_.words;
  text.clear();
  text.hex(address.value());
  out_.symbol("...");
  out_.comment(text.view());
}

bool ArrayDecoder::array(const Type& type, const Place& place, const Context& context) const {
  if (place.kind == Place::Kind::reg) {
    return false;
  }
  if (type.brief != spec::none && state_.depth.abbreviate && !is_whole(type)) {
    if (tables_.text(type.brief) == spec::brief_none) {
      return brief_none(type, context);
    }
    return brief_count(type, place, context);
  }
  if (type.length_kind == LengthKind::until_zero) {
    return terminated(type, place, context);
  }
  const Type& element = tables_.types[type.target];
  auto n = evaluator_.length(type, context);
  if (!n) {
    return false;
  }
  if (type.length_kind == LengthKind::byte_count) {
    const bool is_stream =
        element.kind == TypeKind::structure && tables_.structs[element.index].kind == StructKind::stream;
    if (is_stream) {
      return values_.records().records(element, place, context, std::min(*n, context.remaining));
    }
    if (element.kind == TypeKind::structure || element.kind == TypeKind::choice || element.kind == TypeKind::custom) {
      Context within = context;
      within.remaining = *n;
      return values_.value(element, place, within);
    }
    const auto size = session_.size_of(element);
    n = size == 0 ? 0 : *n / size;
    if (type.set != spec::none && *n == 0) {
      return false;  // fewer bytes than one number takes
    }
  }
  // One more than the type lets show stands for all that follow.
  const bool goes_on = *n == type.max && evaluator_.says_more(type, context);
  return counted(type, place, context, goes_on ? *n + 1 : *n);
}

/// Whether the tracee says that there is less of a structure than there has to be.
bool ArrayDecoder::says_too_little(const Type& type, const Place& place, const Context& context) const {
  const spec::Struct& layout = tables_.structs[type.index];
  if (layout.sized_by == spec::none) {
    return false;
  }
  Scope inner;
  inner.outer = context.scope;
  inner.type = &layout;
  inner.place = place;
  const auto said = evaluator_.evaluate(layout.sized_by, context.in(inner));
  return !said || static_cast<std::uint64_t>(*said) < layout.min_size;
}

/// The elements of an array whose number is known, and how far they have been shown.
struct ArrayDecoder::Elements {
  const Type& type;        ///< of each
  Place place;             ///< of the first
  std::uint64_t size = 0;  ///< of each, in bytes
  std::uint64_t count = 0;
  spec::SetId indexes = spec::none;  ///< names for the indexes
  std::uint64_t shown = 0;           ///< no more than these
  std::span<std::int64_t> params{};  ///< of each, if it is a structure
  std::span<std::byte> buffer{};     ///< for as many as one read fetches
  std::uint64_t next = 0;
  bool readable = true;    ///< as far as was looked
  bool ends_here = false;  ///< the structure around them says that it is smaller
};

bool ArrayDecoder::is_like_fields(const Type& type, std::uint64_t count) const {
  return tables_.types[type.target].kind != TypeKind::scalar && type.length != spec::none &&
         count <= most_like_fields && tables_.exprs[type.length].op == spec::ExprOp::literal;
}

/// Whether all elements show, whatever -s says.
bool ArrayDecoder::is_whole(const Type& type) const {
  return type.brief != spec::none && tables_.text(type.brief) == spec::brief_all;
}

/// The next elements, as many as there is a copy of or one read fetches. `room`: bytes that the structure around has.
Place ArrayDecoder::fetch(Elements& all, std::uint64_t room) const {
  const Place from = all.place.at(all.next * all.size);
  const std::uint64_t left = (all.shown - all.next) * all.size;
  if (from.kind == Place::Kind::remote) {
    const auto into = all.buffer.first(std::min(left, all.buffer.size()));
    const auto got = session_.memory.read(from.address, into);
    all.readable = got == into.size();
    return Place::copied(into.first(got - got % all.size), from.address);
  }
  // A copy ends where the structure does, or where the memory does.
  all.readable = from.bytes.size() >= all.size;
  all.ends_here = !all.readable && room - std::min(room, all.next * all.size) < all.size;
  return Place::copied(from.bytes.first(std::min(left, from.bytes.size())), from.address);
}

/// `[VINTR]=`
void ArrayDecoder::begin_indexed(spec::SetId names, std::uint64_t index) const {
  constexpr unsigned width = 4;
  Type type = format::scalar_type(width, false, spec::Style::number);
  type.set = names;
  TextBuffer& text = state_.words;
  text.clear();
  // Without a text for other values it is not a set of constants but the names of places, which -X leaves alone.
  const bool of_places = tables_.sets[names].unknown == spec::none;
  format::append_constant(text, tables_, type, index, session_.abi,
                          of_places ? format::ConstantForm::abbreviate : out_.constant_form());
  out_.begin_element(text.view());
}

void ArrayDecoder::emit_elements(Elements& all, Place there, Context context) const {
  context.remaining = all.size;
  for (; there.bytes.size() >= all.size && !state_.budget.exhausted(); there = there.at(all.size), ++all.next) {
    if (all.next == 0) {
      out_.begin_array();
    }
    all.indexes != spec::none ? begin_indexed(all.indexes, all.next) : out_.begin_element();
    context.index = all.next;
    const Place one = Place::copied(there.bytes.first(all.size), there.address);
    const bool done = all.type.kind == TypeKind::structure && session_.spend()
                          ? values_.structs().structure(all.type, one, context, all.params)
                          : values_.value(all.type, one, context);
    if (!done) {
      out_.address(one.address);
    }
  }
}

/// What stands for the elements that did not show.
void ArrayDecoder::emit_missing(const Elements& all) const {
  const RemoteAddr end = all.place.address + all.next * all.size;
  if (!all.readable && !all.ends_here) {
    unreadable_rest(end);
  } else if (all.next < all.count) {
    std::byte next{};
    const bool goes_on = all.ends_here || all.next * all.size < all.place.bytes.size() ||
                         session_.memory.read(end, std::span(&next, 1)) == 1;
    goes_on ? out_.more() : unreadable_rest(end);
  }
}

bool ArrayDecoder::counted(const Type& type, const Place& place, const Context& context, std::uint64_t count) const {
  const Type& element = tables_.types[type.target];
  const auto size = session_.size_of_any_row(element);
  if (count != 0 && (size == 0 || count > unlimited / size || place.address + count * size < place.address)) {
    return false;
  }
  const ScratchGuard guard(state_.scratch);
  const bool is_structure = element.kind == TypeKind::structure;
  const bool is_remote = place.kind == Place::Kind::remote;
  const bool like_fields = is_like_fields(type, count);
  Elements all{element, place, size, count, type.set};
  all.shown = state_.depth.abbreviate && !is_whole(type)
                  ? std::min<std::uint64_t>(count, session_.setting.options.most_elements())
                  : count;
  if (type.max != 0) {
    all.shown = std::min<std::uint64_t>(all.shown, type.max);
  }
  if (is_structure) {
    all.params = evaluator_.evaluate_params(element.args, context);
  }
  if (is_remote && count != 0) {
    const auto at_once = like_fields ? count : std::max<std::uint64_t>(1, chunk_size / size);
    all.buffer = state_.scratch.take(std::min(at_once, all.shown) * size);
  }
  if (like_fields && is_structure && count == 1 && says_too_little(element, place, context)) {
    return false;
  }
  if (like_fields && all.shown < count && !session_.copy(place.at((count - 1) * size), size)) {
    return false;
  }
  while (all.next < all.shown && all.readable && !state_.budget.exhausted()) {
    const Place there = fetch(all, context.remaining);
    if (like_fields && is_remote && !all.readable) {
      return false;
    }
    emit_elements(all, there, context);
  }
  const bool is_cut = type.max != 0 && all.next == type.max;
  if (is_remote && all.readable && all.next == all.shown && all.next < count && !is_cut) {
    all.readable = session_.copy(place.at(all.next * size), size).has_value();
  }
  if (all.next == 0) {
    if (!all.readable) {
      return false;
    }
    out_.begin_array();
  }
  emit_missing(all);
  out_.end_array();
  return true;
}

bool ArrayDecoder::terminated(const Type& type, const Place& place, const Context& context) const {
  const Type& element = tables_.types[type.target];
  const auto size = session_.size_of(element);
  const std::uint64_t limit = state_.depth.abbreviate ? session_.setting.options.most_elements() : max_counted;
  std::uint64_t most = unlimited;
  if (type.length != spec::none) {
    const auto count = evaluator_.length(type, context);
    if (!count) {
      return false;
    }
    most = *count;
  }
  bool begun = false;
  for (std::uint64_t i = 0;; ++i) {
    if (i == most) {
      if (!begun) {
        out_.begin_array();
      }
      break;
    }
    const Place one = place.at(i * size);
    const auto bits = session_.load(element, one);
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
    values_.value(element, Place::in_register(*bits), context);
  }
  out_.end_array();
  return true;
}

/// `[...]`, or `[]` if there are no elements, without a look at them.
bool ArrayDecoder::brief_none(const Type& type, const Context& context) const {
  const auto n = evaluator_.length(type, context);
  if (!n) {
    return false;
  }
  out_.begin_array();
  if (*n != 0) {
    out_.more();
  }
  out_.end_array();
  return true;
}

bool ArrayDecoder::brief_count(const Type& type, const Place& place, const Context& context) const {
  const Type& element = tables_.types[type.target];
  std::uint64_t n = 0;
  bool unterminated = false;
  bool and_more = false;
  if (type.length_kind == LengthKind::until_zero) {
    const auto size = session_.size_of(element);
    for (;; ++n) {
      const auto bits = session_.load(element, place.at(n * size));
      if (!bits && n == 0) {
        return false;
      }
      unterminated = !bits || n == max_counted;
      if (unterminated || *bits == 0) {
        break;
      }
    }
  } else {
    const auto said = evaluator_.length(type, context);
    if (!said) {
      return false;
    }
    n = *said;
    const bool is_stream =
        element.kind == TypeKind::structure && tables_.structs[element.index].kind == StructKind::stream;
    if (is_stream && type.length_kind == LengthKind::byte_count) {
      const auto counted = values_.records().count_records(element, place, context, *said);
      n = counted.number;
      and_more = counted.and_more;
    } else if (type.length_kind == LengthKind::byte_count) {
      n = *said / std::max<std::uint64_t>(session_.size_of(element), 1);
    }
  }
  const auto word = tables_.text(type.brief);
  TextBuffer& text = state_.words;
  text.clear();
  text.decimal(n);
  text.append(and_more ? "+ " : " ");
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
