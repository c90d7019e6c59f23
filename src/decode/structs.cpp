// Structs and unions: one read, then every field from the copy.
#include <algorithm>
#include <array>

#include "decode/values.h"
#include "format/escape.h"

namespace tracer::decode {

using spec::Direction;
using spec::Field;
using spec::Struct;
using spec::StructKind;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

namespace {

/// More than any struct has; a stream's record may claim anything.
constexpr std::uint64_t max_struct_size = 64 * 1024;
constexpr std::uint64_t largest_struct = 4096;  // the kernel takes no structure that is larger

}  // namespace

/// Whether what is in these scopes is an element of a list.
static bool is_element(const Scope* scope) {
  while (scope != nullptr && scope->type == nullptr) {
    scope = scope->outer;
  }
  return scope != nullptr && scope->type->is_list;
}

/// With less than this, nothing of the struct can show.
std::uint64_t StructDecoder::size_of_first_field(const Struct& layout) const {
  return layout.fields.count != 0 ? session_.size_of(tables_.types[tables_.fields[layout.fields.first].type]) : 0;
}

/// The field that says how large its structure is, alone or plus something; null: none does.
const spec::Field* StructDecoder::own_size(const Struct& layout) const {
  const auto* said = layout.sized_by != spec::none ? &tables_.exprs[layout.sized_by] : nullptr;
  if (said != nullptr && said->op == spec::ExprOp::add) {
    said = &tables_.exprs[said->a];
  }
  return said != nullptr && said->op == spec::ExprOp::field ? &tables_.fields[said->a] : nullptr;
}

/// Whether it ends with `_: bytes[rest]`: there may be more, of which nothing is known.
bool StructDecoder::has_unnamed_rest(const Struct& layout) const {
  const auto fields = Tables::slice(tables_.fields, layout.fields);
  const Type* last = fields.empty() || !fields.back().hidden ? nullptr : &tables_.types[fields.back().type];
  return last != nullptr && last->kind == TypeKind::bytes && last->length != spec::none &&
         tables_.exprs[last->length].op == spec::ExprOp::rest;
}

/// Whether an argument says how large it is, or it is filled, so that the kernel takes for zero what the program does
/// not give of it.
bool StructDecoder::is_filled_up(const Struct& layout) const {
  return layout.sized_by != spec::none && (!layout.variable || layout.filled_size != 0 || has_unnamed_rest(layout)) &&
         (layout.filled_size != 0 || tables_.exprs[layout.sized_by].op == spec::ExprOp::outer);
}

/// Whether an argument says the size of a structure that is filled.
bool StructDecoder::says_all(const Struct& layout) const {
  return layout.filled_size != 0 && tables_.exprs[layout.sized_by].op == spec::ExprOp::outer;
}

/// Of one that says itself how large it is that size shows even if the rest cannot be read: `{size=24, ???}`.
bool StructDecoder::shows_size_alone(const Struct& layout) const {
  return layout.filled_size != 0 && tables_.exprs[layout.sized_by].op != spec::ExprOp::outer &&
         end_of(tables_.fields[layout.fields.first]) == layout.filled_size;
}

/// Where the unnamed field begins that stands for all behind the others.
std::uint64_t StructDecoder::start_of_rest(const Struct& layout) const {
  const Field& rest = Tables::slice(tables_.fields, layout.fields).back();
  const std::uint64_t known = layout.layout.size[index_of(session_.abi)];
  return rest.at == spec::none
             ? known
             : std::max(known, static_cast<std::uint64_t>(evaluator_.evaluate(rest.at, {}).value_or(0)));
}

std::span<const std::byte> StructDecoder::filled_up(std::span<const std::byte> given, std::uint64_t size) const {
  const auto all = state_.scratch.take(size);
  std::fill(std::copy(given.begin(), given.end(), all.begin()), all.end(), std::byte{0});
  return all;
}

std::uint64_t StructDecoder::end_of(const Field& field) const {
  return field.offset[index_of(session_.abi)] + session_.size_of_any_row(tables_.types[field.type]);
}

/// Emits a note, as ltrace does, if pointers led to more structures of its type around it than show, or if it is one of
/// them: `recurse^` for the next but one. One that is passed by value has no address, and no pointer led to it.
bool StructDecoder::is_recursion(const Struct& layout, const Place& place, const Scope* scope) const {
  std::uint32_t around = 0;
  std::string ups;
  std::string note;
  for (const Scope* outer = scope; outer != nullptr; outer = outer->outer, ups += '^') {
    around += outer->type == &layout && !outer->place.address.is_null() ? 1 : 0;
    if (note.empty() && outer->type == &layout && layout.kind == StructKind::plain && !place.address.is_null() &&
        outer->place.address == place.address) {
      note = "recurse" + ups;
    }
  }
  note = place.address.is_null() || around < session_.setting.options.most_nested ? note : "...";
  if (!note.empty()) {
    out_.symbol(note);
  }
  return !note.empty();
}

bool StructDecoder::structure(const Type& type, const Place& place, const Context& context,
                              std::span<std::int64_t> params) const {
  const Struct& layout = tables_.structs[type.index];
  if (place.kind == Place::Kind::reg) {
    return false;
  }
  if (layout.kind == StructKind::stream) {
    return values_.records().records(type, place, context, context.remaining);
  }
  const bool in_part = is_part(layout, context);
  if (in_part && !layout.has_short) {
    return false;
  }
  if (is_recursion(layout, place, context.scope)) {
    return true;
  }
  const ScratchGuard guard(state_.scratch);
  Scope inner{context.scope, &layout, place, params, {}, 0};
  const Context within = context.in(inner);
  std::uint64_t available = context.remaining;
  if (layout.sized_by != spec::none) {
    const auto said = evaluator_.evaluate(layout.sized_by, within);
    if (!said) {
      return false;
    }
    // The field that says how much there is is there in any case.
    const Field* own = own_size(layout);
    const std::uint64_t least = own != nullptr ? end_of(*own) : 0;
    available = std::min({available, std::max(static_cast<std::uint64_t>(*said), least), unlimited - 1});
  }
  const std::uint64_t least = layout.filled_size != 0 ? 1 : size_of_first_field(layout);
  if (available < std::max<std::uint64_t>(layout.min_size, least) && !layout.is_list) {
    return false;
  }
  const std::uint64_t fixed = layout.layout.size[index_of(session_.abi)];
  const std::uint64_t full = layout.variable ? std::max<std::uint64_t>(fixed, layout.filled_size) : fixed;
  std::uint64_t wanted = std::min(full, available);
  // What is always of one size is there to its end, whatever of it is described.
  if ((layout.variable && available != unlimited) || evaluator_.is_constant(layout.sized_by)) {
    wanted = std::min(available, max_struct_size);
  }
  const auto read = session_.copy_part(place, wanted, least_readable(layout, wanted, context.scope));
  if (!read && !context.inline_into.empty()) {
    unread_field(layout, place);
    return true;
  }
  // Of a structure that is filled, all that the program says to have must be there.
  const bool has_more = says_all(layout) && available > full && available <= largest_struct;
  if (!read || (has_more && !session_.copy(place, available))) {
    return false;
  }
  const bool fills = is_filled_up(layout) && wanted < full && read->size() == wanted;
  inner.place = Place::copied(fills ? filled_up(*read, full) : *read, place.address);
  available = std::max<std::uint64_t>(available, std::min<std::uint64_t>(full, layout.filled_size));
  TextBuffer text;
  const bool has_text =
      layout.show != spec::no_show && values_.numbers().append_parts(text, tables_.shows[layout.show], within);
  if (has_text && tables_.shows[layout.show].kind == spec::ShowKind::always) {
    out_.symbol(text.view());
    return true;
  }
  layout.is_list ? elements(within, available) : fields(within, available, in_part);
  if (has_text) {
    out_.comment(text.view());
  }
  return true;
}

/// Whether of an element of a list only a part is there.
bool StructDecoder::is_part(const Struct& layout, const Context& context) const {
  return is_element(context.scope) && layout.kind == StructKind::plain && !layout.is_list && !layout.variable &&
         layout.sized_by == spec::none && context.remaining < layout.layout.size[index_of(session_.abi)];
}

/// A record of a stream: its header is copied, and what there is behind it.
void StructDecoder::record_body(const Context& context) const {
  const Scope& record = *context.scope;
  const std::uint64_t size = context.remaining;
  record.type->is_list ? elements(context, size) : fields(context, size, false);
}

/// The fields of a list: `[{…}, {…}]`, one alone without brackets.
void StructDecoder::elements(const Context& context, std::uint64_t available) const {
  struct Shown {
    const Field* field = nullptr;
    std::uint64_t offset = 0;
  };
  constexpr std::size_t max_elements = 8;
  std::array<Shown, max_elements> shown;
  std::size_t count = 0;
  std::size_t spliced = 0;
  const Scope& scope = *context.scope;
  Context within = context;
  within.enter_value();
  // Behind an element that is not readable to its end nothing shows.
  std::uint64_t end = 0;
  for (const Field& f : Tables::slice(tables_.fields, scope.type->fields)) {
    const auto offset = offset_of(f, within);
    if (count == max_elements || offset > available || end > scope.place.bytes.size()) {
      continue;
    }
    within.remaining = available - offset;
    if (wanted(f, within)) {
      shown[count++] = {&f, offset};
      spliced += f.inlined ? 1 : 0;
      const Type& type = tables_.types[f.type];
      const bool has_short = type.kind == TypeKind::structure && tables_.structs[type.index].has_short;
      end = offset + (has_short ? end_of_shown(tables_.structs[type.index]) : session_.size_of(type));
    }
  }
  // What is spliced into the list around has no brackets of its own; of what is spliced in, something shows.
  const bool bare = context.splice != nullptr || scope.type->is_spliced;
  const bool alone = count == 1 && spliced == 0;
  bare ? void() : out_.begin_series(alone);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [f, offset] = shown[i];
    Splice splice;
    within.remaining = available - offset;
    within.splice = f->inlined ? &splice : nullptr;
    if (!f->inlined && (i != 0 || !scope.type->is_spliced)) {
      out_.begin_element();  // the list around has begun the first one of what is spliced into it
    }
    if (!values_.value(tables_.types[f->type], scope.place.at(offset), within)) {
      if (f->inlined && !splice.element_begun) {
        out_.begin_element();
      }
      remaining_bytes(scope.place.at(offset), within.remaining);
    }
  }
  bare ? void() : out_.end_series(alone);
}

/// Bytes that make no element of a list. Where they are not all there, they may well make one.
void StructDecoder::remaining_bytes(const Place& place, std::uint64_t size) const {
  const ScratchGuard guard(state_.scratch);
  const auto length = std::min<std::uint64_t>(size, session_.setting.options.string_limit);
  const auto data = session_.copy(place, size);
  if (!data) {
    out_.address(place.address);
    return;
  }
  render::StringForm form;
  form.hex = true;
  form.cut = length < size;
  out_.bytes(data->first(length), form);
}

void StructDecoder::fields(Context context, std::uint64_t available, bool in_part) const {
  const Scope& scope = *context.scope;
  const bool braces = context.inline_into.empty();  // else these are shown as the enclosing struct's own
  const Portion portion = context.portion;
  context.enter_value();
  if (braces && portion != Portion::rest) {
    out_.begin_struct();
  }
  const bool brief = scope.type->has_brief && (scope.type->is_part || state_.depth.abbreviate);
  bool left_out = in_part;
  // Of a message whose family can be read and the rest cannot, the family shows, and where the rest is.
  const bool no_more_than_size =
      shows_size_alone(*scope.type) &&
      scope.place.bytes.size() < std::min<std::uint64_t>(available, scope.type->layout.size[index_of(session_.abi)]);
  const bool unread =
      scope.type->has_short && !in_part && scope.place.bytes.size() < std::min(available, end_of_shown(*scope.type));
  const bool fills = is_filled_up(*scope.type);
  const auto all = Tables::slice(tables_.fields, scope.type->fields);
  for (spec::Index i = 0; i < all.size(); ++i) {
    const Field& f = all[i];
    if (brief && !f.in_brief && left_out && !no_more_than_size && !unread) {
      continue;  // one more changes nothing
    }
    const auto offset = offset_of(f, context);
    const bool begins = fills && offset < available;
    const bool there = offset <= available && (begins || session_.size_of(tables_.types[f.type]) <= available - offset);
    if ((in_part && !f.in_short) || !there) {
      continue;
    }
    if (no_more_than_size && i != 0) {
      out_.begin_bare_field("unknown", "bytes");
      out_.symbol("???");
      break;
    }
    if (unread && !f.in_short) {
      if (portion != Portion::rest) {  // else it has shown at the entry
        unread_rest(scope);
      }
      break;
    }
    if (brief && !f.in_brief) {
      left_out = left_out || wanted(f, context);
      continue;
    }
    context.remaining = available == unlimited ? unlimited : available - offset;
    if (begins && says_all(*scope.type) && tables_.types[f.type].kind == TypeKind::cstr) {
      // Text ends where the program says that the structure does, not where zeros fill it up.
      const auto said = static_cast<std::uint64_t>(evaluator_.evaluate(scope.type->sized_by, context).value_or(0));
      context.remaining = std::min(context.remaining, said - std::min(said, offset));
    }
    if (portion == Portion::at_entry && f.at_exit) {
      state_.fields_emitted = i;
      state_.field_emitted_once = emit_field_once(f, context);
      return;
    }
    if ((portion == Portion::rest && i < state_.fields_emitted) || !wanted(f, context)) {
      continue;
    }
    if (state_.budget.exhausted()) {
      left_out = true;
      break;
    }
    const bool again = portion == Portion::rest && i == state_.fields_emitted && state_.field_emitted_once;
    const bool unread_before = state_.partly_unread;
    again ? emit_field_again(f, context) : void(field(f, context));
    // What comes out shows again only if all of it that went in could be read; other fields do not matter.
    if (f.direction == Direction::in && (scope.outer == nullptr || scope.outer->type == nullptr)) {
      state_.partly_unread = unread_before;
    }
  }
  if (portion == Portion::at_entry) {
    state_.fields_emitted = static_cast<spec::Index>(all.size());
    state_.field_emitted_once = false;
    return;
  }
  if (left_out) {
    out_.more();
  } else if (!no_more_than_size && (braces || has_unnamed_rest(*scope.type))) {
    unknown_bytes(context, available);
  }
  if (braces) {
    out_.end_struct();
  }
}

/// The end of the last field that `short` or `brief` lists, in bytes from the start of the structure.
std::uint64_t StructDecoder::end_of(const Struct& layout, bool Field::*listed) const {
  std::uint64_t end = 0;
  for (const Field& f : Tables::slice(tables_.fields, layout.fields)) {
    end = f.*listed ? std::max(end, end_of(f)) : end;
  }
  return end;
}

/// The end of the last field that shows: what lies behind it fills the structure up.
std::uint64_t StructDecoder::end_of_shown(const Struct& layout) const {
  std::uint64_t end = 0;
  for (const Field& f : Tables::slice(tables_.fields, layout.fields)) {
    end = f.hidden ? end : std::max(end, end_of(f));
  }
  return end;
}

/// `/* bytes 24..31 */ "\x05\x00"`: what a program says to have in a struct beyond what we know of, if it is not 0.
void StructDecoder::unknown_bytes(const Context& context, std::uint64_t available) const {
  const Scope& scope = *context.scope;
  const Struct& layout = *scope.type;
  const bool is_filled = says_all(layout);
  const std::int64_t filled = is_filled ? evaluator_.evaluate(layout.sized_by, context).value_or(0) : 0;
  available = is_filled ? std::min(available, static_cast<std::uint64_t>(filled)) : available;
  std::uint64_t known = layout.layout.size[index_of(session_.abi)];
  known = layout.variable ? std::max<std::uint64_t>(known, layout.filled_size) : known;
  if (is_filled && layout.fields.count == 1) {
    known = chosen_size(tables_.types[tables_.fields[layout.fields.first].type], scope.place, context);
  }
  if (has_unnamed_rest(layout) && available != unlimited) {
    if (available > start_of_rest(layout)) {
      out_.more();
      return;
    }
  }
  if (own_size(layout) != nullptr && tables_.exprs[layout.sized_by].op == spec::ExprOp::add && !layout.variable &&
      available > known) {
    out_.more();
    return;
  }
  if (!is_filled_up(layout) || available <= known) {
    return;
  }
  available = std::min(available, largest_struct);
  const ScratchGuard guard(state_.scratch);
  const auto data = available <= max_struct_size
                        ? session_.copy(Place::remote(scope.place.address + known), available - known)
                        : std::nullopt;
  if (data && std::all_of(data->begin(), data->end(), [](std::byte b) { return b == std::byte{0}; })) {
    return;
  }
  // A structure that is filled says how much of it there is always; the rest belongs to kernels that we do not know.
  if (is_filled) {
    state_.depth.abbreviate ? out_.more() : extra_data(scope.place.address, known, available);
    return;
  }
  TextBuffer& text = state_.words;
  text.clear();
  if (data) {
    const auto shown = data->first(std::min<std::size_t>(data->size(), session_.setting.options.string_limit));
    text.append("/* bytes ");
    text.decimal(known);
    text.append("..");
    text.decimal(available - 1);
    text.append(" */ \"");
    format::append_hex(text, shown);
    text.append(shown.size() < data->size() ? "\"..." : "\"");
  } else {
    text.append("???");
  }
  out_.begin_bare_field("unknown", "bytes");
  out_.symbol(text.view());
}

/// `extra_data="\x05\x00" /* bytes 24..25 */`
void StructDecoder::extra_data(RemoteAddr address, std::uint64_t known, std::uint64_t available) const {
  const ScratchGuard guard(state_.scratch);
  const auto data = session_.copy(Place::remote(address + known), available - known);
  if (!data) {
    out_.more();
    return;
  }
  render::StringForm form;
  form.hex = true;
  out_.begin_field("extra_data", "bytes");
  out_.bytes(*data, form);
  TextBuffer& text = state_.words;
  text.clear();
  text.append("bytes ");
  text.decimal(known);
  text.append("..");
  text.decimal(available - 1);
  out_.comment(text.view());
}

/// The size of a value; of a table that of the row that is chosen, also of one that ends a structure.
std::uint64_t StructDecoder::chosen_size(const Type& type, const Place& place, const Context& context) const {
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = context.scope;
  inner.place = place;
  inner.params = evaluator_.evaluate_params(type.args, context);
  if (type.kind == TypeKind::choice) {
    const Type* found = evaluator_.chosen(type, context.in(inner));
    return found == nullptr ? 0 : session_.size_of(*found);
  }
  if (type.kind != TypeKind::structure) {
    return session_.size_of(type);
  }
  const Struct& layout = tables_.structs[type.index];
  inner.type = &layout;
  const Context within = context.in(inner);
  std::uint64_t size = 0;
  for (const Field& f : Tables::slice(tables_.fields, layout.fields)) {
    const Type& of_field = tables_.types[f.type];
    const auto offset = offset_of(f, within);
    size = std::max(size, offset + (of_field.kind == TypeKind::choice ? chosen_size(of_field, place.at(offset), within)
                                                                      : session_.size_of(of_field)));
  }
  return size;
}

/// In bytes from the start of its struct; beyond any end if the tracee does not say.
std::uint64_t StructDecoder::offset_of(const Field& field, const Context& context) const {
  return field.at == spec::none ? field.offset[index_of(session_.abi)]
                                : static_cast<std::uint64_t>(evaluator_.evaluate(field.at, context).value_or(-1));
}

bool StructDecoder::wanted(const Field& field, const Context& context) const {
  if (field.hidden ||
      (field.direction == Direction::out && (context.view == View::input || context.view == View::before))) {
    return false;
  }
  if (context.view == View::after && field.direction == Direction::in) {
    const auto all = Tables::slice(tables_.fields, context.scope->type->fields);
    if (std::any_of(all.begin(), all.end(), [](const Field& f) { return f.direction != Direction::in; })) {
      return false;
    }
  }
  if (!evaluator_.holds(field.condition, context)) {
    return false;
  }
  if (tables_.types[field.type].kind == TypeKind::choice && !has_row(tables_.types[field.type], context)) {
    return false;
  }
  if (field.together != 0) {
    for (const Field& f : Tables::slice(tables_.fields, context.scope->type->fields)) {
      if (f.together != field.together) {
        continue;
      }
      const auto bytes = session_.copy(context.scope->place.at(offset_of(f, context)),
                                       session_.size_of_any_row(tables_.types[f.type]));
      if (bytes && std::any_of(bytes->begin(), bytes->end(), [](std::byte b) { return b != std::byte{0}; })) {
        return true;
      }
    }
    return false;
  }
  return true;
}

/// Whether what a field was at entry shows beside what it is.
bool StructDecoder::has_changed(const Field& field, const Context& context) const {
  if (field.direction != Direction::inout) {
    return false;
  }
  const Type& type = tables_.types[field.type];
  const Place place = context.scope->place.at(offset_of(field, context));
  const Place before = session_.saved_at(place.address, session_.size_of(type));
  const auto old_bits = session_.load(type, before);
  const bool shows = type.kind == TypeKind::pointer || evaluator_.holds(field.when, context);
  return shows && before.kind == Place::Kind::copied && old_bits && old_bits != session_.load(type, place);
}

bool StructDecoder::field(const Field& field, const Context& context) const {
  const Type& type = tables_.types[field.type];
  Place place = context.scope->place.at(offset_of(field, context));
  if (context.remaining == unlimited && place.kind == Place::Kind::copied && place.bytes.empty()) {
    // What follows the part whose size is known; nobody says where it ends.
    place = Place::remote(place.address);
  }
  if (field.inlined) {
    Context within = context;
    within.inline_into = tables_.text(field.name);
    return values_.value(type, place, within);
  }
  if (type.kind == TypeKind::bytes && type.style == spec::Style::inet6) {
    values_.strings().inet6_address(type, place, tables_.text(field.name)) ? void() : out_.address(place.address);
    return true;
  }
  out_.begin_field(tables_.text(field.name), tables_.text(type.name));
  const bool address_only = field.late || (type.kind == TypeKind::pointer && !evaluator_.holds(field.when, context));
  if (address_only) {
    out_.address(RemoteAddr(session_.load(type, place).value_or(0)));
    return true;
  }
  if (context.view == View::output && has_changed(field, context)) {
    values_.value(type, session_.saved_at(place.address, session_.size_of(type)), context);
    out_.changed();
  }
  if (!values_.value(type, place, context)) {
    out_.address(place.address);
    state_.partly_unread = state_.partly_unread || context.view == View::before;
  }
  return true;
}

/// Whether a table says what to make of the bytes that are left, and there are enough.
bool StructDecoder::has_row(const Type& type, const Context& context) const {
  const ScratchGuard guard(state_.scratch);
  const Scope& scope = *context.scope;
  Scope inner;
  inner.outer = &scope;
  inner.params = evaluator_.evaluate_params(type.args, context);
  const Type* found = evaluator_.chosen(type, context.in(inner));
  // Of a list those elements show that are there; what is too short for an element shows as bytes.
  const bool of_list = scope.type != nullptr && scope.type->is_list && context.remaining != 0;
  return found != nullptr && (of_list || session_.size_of(*found) <= context.remaining);
}

}  // namespace tracer::decode
