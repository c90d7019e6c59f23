// Streams of records that say their own length.
#include <algorithm>

#include "decode/values.h"

namespace tracer::decode {

using spec::Type;

namespace {

/// At most so many bytes of one record are shown, whatever size the tracee claims.
constexpr std::uint64_t max_record = 1U << 20;

/// At most so many bytes of records of one size are read.
constexpr std::uint64_t max_records = 0x7fffffff;

constexpr std::uint64_t smallest_page = 4096;

}  // namespace

/// Returns the length of a record (its data) and the distance to the next one. Length 0: there is no record. Step 0:
/// there is only a header, whose length no record can have, so the place of the next record is unknown.
RecordDecoder::RecordSize RecordDecoder::record_size(const Type& type, const Place& place, const Context& context,
                                                     std::uint64_t left, std::span<std::int64_t> params) const {
  const spec::Struct& layout = tables_.structs[type.index];
  const std::uint64_t header = layout.layout.size[index_of(session_.abi)];
  const auto read = header <= left ? session_.copy(place, header) : std::nullopt;
  if (!read || layout.step == spec::none) {
    return {};
  }
  const Scope inner{context.scope, &layout, Place::copied(*read, place.address), params, {}, 0};
  const Context within = context.in(inner);
  const auto step = evaluator_.evaluate(layout.step, within);
  const auto& expr = tables_.exprs[layout.step];
  const auto data = expr.op == spec::ExprOp::align ? evaluator_.evaluate(expr.a, within) : step;
  if (!step || !data) {
    return {};
  }
  const auto length = static_cast<std::uint64_t>(*data);
  if (length < header) {
    // Of a list's element nothing follows, not even the remark that there is more.
    return {header, layout.is_list || layout.has_short || left == header ? left : 0};
  }
  return {std::min({length, left, max_record}), std::min(static_cast<std::uint64_t>(*step), left)};
}

RecordDecoder::Counted RecordDecoder::count_records(const Type& type, const Place& place, const Context& context,
                                                    std::uint64_t size) const {
  Counted counted;
  const ScratchGuard guard(state_.scratch);
  const auto params = evaluator_.evaluate_params(type.args, context);
  // One look at the memory of all, where there is not more of it than one record may have.
  const auto all = size <= max_record ? session_.copy(place, size) : std::nullopt;
  const Place first = all ? Place::copied(*all, place.address) : place;
  for (std::uint64_t at = 0; at < size && counted.number < max_counted; ++counted.number) {
    const ScratchGuard record_guard(state_.scratch);
    const auto record = record_size(type, first.at(at), context, size - at, params);
    if (record.step == 0) {
      counted.and_more = record.length == 0;
      break;
    }
    at += record.step;
  }
  return counted;
}

/// As with any other piece of memory: records that are not there to their end show as an address.
bool RecordDecoder::is_there(const Place& place, std::uint64_t size) const {
  if (size == 0) {
    return true;
  }
  if (place.address + size < place.address) {
    return false;
  }
  for (std::uint64_t at = 0; at < std::min(size, max_record); at += smallest_page) {
    if (!session_.copy(place.at(at), 1)) {
      return false;
    }
  }
  return session_.copy(place.at(size - 1), 1).has_value();
}

void RecordDecoder::emit_no_records(bool is_list) const {
  if (is_list) {
    out_.bytes({}, {});
  } else {
    out_.begin_array();
    out_.end_array();
  }
}

bool RecordDecoder::records(const Type& type, const Place& place, const Context& context, std::uint64_t size) const {
  const ScratchGuard guard(state_.scratch);
  const auto params = evaluator_.evaluate_params(type.args, context);
  const spec::Struct& layout = tables_.structs[type.index];
  const bool is_list = layout.is_list;
  const std::uint64_t header = layout.layout.size[index_of(session_.abi)];
  // Records of one size are like the elements of an array, of which those show that are there to their ends.
  const auto step = evaluator_.is_constant(layout.step) ? evaluator_.evaluate(layout.step, context) : Value{};
  if (step && *step > 0) {
    if (size > max_records) {
      return false;
    }
    size -= size % static_cast<std::uint64_t>(*step);
  }
  // With `short`, records show as far as they are there.
  const bool in_part = is_list || layout.has_short;
  if (!in_part && !step && !is_there(place, size)) {
    return false;
  }
  if (size == 0) {
    emit_no_records(is_list);
    return true;
  }
  // Records of any size that are no list, such as control messages, show to their end.
  const bool limited = state_.depth.abbreviate && (is_list || step);
  const std::uint64_t limit = limited ? session_.setting.options.string_limit : max_counted;
  Context of_record = context;
  bool alone = false;
  for (std::uint64_t at = 0, n = 0; at < size; ++n) {
    const ScratchGuard record_guard(state_.scratch);
    const Place here = place.at(at);
    of_record.index = n;
    const auto record = record_size(type, here, of_record, size - at, params);
    // Of an element of a list that is there in part that part shows, and for the rest its address.
    const auto bytes =
        record.length != 0 ? session_.copy_part(here, record.length, in_part ? header : record.length) : std::nullopt;
    const bool is_rest = is_list && size - at < header;
    if (!bytes && n == 0 && !is_rest && !layout.has_short) {
      return false;
    }
    if (n == 0) {
      alone = is_list && (is_rest || record.step >= size);
      is_list ? out_.begin_series(alone) : out_.begin_array();
    }
    if ((n >= limit && !(is_rest && n == 0)) || !session_.spend()) {
      out_.more();
      break;
    }
    if (is_rest) {
      out_.begin_element();
      values_.structs().remaining_bytes(here, size - at);
      break;
    }
    if (!bytes && layout.has_short && size - at < header) {
      out_.more();
      break;
    }
    if (!bytes) {
      values_.arrays().unreadable_rest(here.address);
      break;
    }
    out_.begin_element();
    of_record.remaining = record.length;
    const Scope scope{context.scope, &layout, Place::copied(*bytes, here.address), params, place, size};
    values_.structs().record_body(of_record.in(scope));
    if (record.step == 0) {
      values_.arrays().unreadable_rest(here.address + record.length);
      break;
    }
    at += record.step;
  }
  is_list ? out_.end_series(alone) : out_.end_array();
  return true;
}

}  // namespace tracer::decode
