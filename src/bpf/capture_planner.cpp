#include "bpf/capture_planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bpf/naming_operations.h"

namespace tracer {
namespace {

using namespace spec;

constexpr std::uint32_t path_size = largest_text;  // PATH_MAX, and one to see that it is longer
constexpr std::uint32_t unknown_size = 128;  // where a length is more than an operation can say; a page's end cuts it
constexpr std::uint32_t variable_size = 512;
constexpr std::uint32_t frame_size = 1024;   // of a signal, as much as sigreturn shows
constexpr std::uint32_t custom_size = 2048;  // of what a custom looks through, such as a netlink message
constexpr std::uint32_t size_fields = 8;     // the front of a struct that says how large it is
constexpr unsigned deepest = 4;

/// What of the descriptions leads where.
class Planner : public NamingOperations {
 public:
  Planner(const PlannerSetting& setting, Abi abi, CapturePhase phase)
      : NamingOperations(setting.tables, setting.limits, abi), setting_(setting), phase_(phase) {}

  /// `forms`: of a call whose forms with values of their own have plans of their own.
  void signature(Index index, bool forms = false) {
    const Signature& signature = t_.signatures[index];
    for (const Param& param : Tables::slice(t_.params, signature.params)) {
      look_at_name(param);
      if (param.type != none) {
        parameter(param, signature.note != none);
      }
      if (phase_ == CapturePhase::entry && param.type != none && slot_of(param) < slots) {
        named(t_.types[param.type], slot_of(param));
      }
      if (phase_ == CapturePhase::entry && slot_of(param) < slots && setting_.sockets.count(t_.text(param.name)) != 0) {
        add(operation(capture_netlink, slot_of(param), 0));
      }
    }
    if (phase_ == CapturePhase::exit && signature.result != none) {
      named(t_.types[signature.result], slot_result);
    }
    Index previous = none;
    for (const SignatureRow& row : Tables::slice(t_.signature_rows, signature.rows)) {
      if (row.signature != previous && (row.abis & mask_of(abi_)) != 0 && (!forms || row.open_bits != 0)) {
        previous = row.signature;
        this->signature(row.signature);
      }
    }
    if (signature.otherwise != none) {
      this->signature(signature.otherwise);
    }
  }

  /// A call whose real call's arguments lie in memory: socketcall.
  void redirects(const Call& call) {
    const Param& params = t_.params[call.redirect_args];
    const std::uint8_t array = params.slot[index_of(abi_)];
    matters_if_failed_ = true;
    capture_operation op = operation(capture_block, array, 0);
    op.most = slot_result * word_size(abi_);
    add(op);
    for (unsigned i = 0; i < slot_result; ++i) {
      load(array, i * word_size(abi_), word_size(abi_));
    }
    redirect();
    for (const Redirect& redirect : Tables::slice(t_.redirects, call.redirects)) {
      if (redirect.call != none && t_.calls[redirect.call].signature != none) {
        signature(t_.calls[redirect.call].signature);
      }
    }
  }

  void signal_frame() {
    capture_operation op = operation(capture_block, slot_stack, 0);
    op.most = frame_size;
    add(op);
  }

  [[nodiscard]] PlannedCapture result() const { return {operations(), matters_if_failed_}; }

 private:
  /// `noted`: the note after the result looks at the arguments again.
  void parameter(const Param& param, bool noted) {
    const Type& type = t_.types[param.type];
    if (type.kind != TypeKind::pointer) {
      return;
    }
    const std::uint8_t slot = slot_of(param);
    const bool at_entry = !param.at_exit || param.saved || type.direction == Direction::inout;
    const bool at_exit = param.at_exit || noted || t_.shows_after(type.target);
    if (slot < slots && (phase_ == CapturePhase::entry ? at_entry : at_exit)) {
      // What a call that fails has not filled shows as an address, unless the description says when it shows.
      matters_if_failed_ = matters_if_failed_ || type.direction != Direction::out || param.when != none;
      pointed(type, slot, nullptr, 0);
    }
  }

  /// What a pointer in `slot` leads to.
  void pointed(const Type& pointer, std::uint8_t slot, const Scope* scope, unsigned depth) {
    if (slot != slot_none && depth <= deepest && pointer.target != none) {
      std::optional<Length> room;
      if (pointer.sized_by != none) {
        room = length(pointer.sized_by, scope);
      }
      target(t_.types[pointer.target], slot, 0, room, scope, depth);
    }
  }

  void block(std::uint8_t base, std::uint32_t offset, const std::optional<Length>& size, std::uint32_t most) {
    capture_operation op = operation(capture_block, base, offset);
    op.most = std::min<std::uint32_t>(most, largest_block);
    if (size && size->slot != slot_none) {
      op.length = size->slot;
      op.count_width = size->width;
      op.scale = size->scale;
    } else if (size) {
      op.most = static_cast<std::uint32_t>(std::min<std::uint64_t>(size->constant * size->scale, op.most));
    }
    if (op.most != 0) {
      add(op);
    }
  }

  void target(const Type& type, std::uint8_t base, std::uint32_t offset, const std::optional<Length>& room,
              const Scope* scope, unsigned depth) {
    const std::optional<Length> own = type.length == none ? std::nullopt : length(type.length, scope);
    const std::uint32_t shown = within_custom_ ? custom_size : setting_.limits.string_limit + 2;
    switch (type.kind) {
      case TypeKind::scalar:
        block(base, offset, std::nullopt, bytes_of(type.width, abi_));
        named_in_memory(type, base, offset);
        break;
      case TypeKind::pointer: {
        block(base, offset, std::nullopt, pointer_width(type));
        pointed(type, load(base, offset, pointer_width(type)), scope, depth + 1);
        break;
      }
      case TypeKind::cstr:
        if (type.length_kind != LengthKind::none) {
          block(base, offset, own, path_size);
        } else {
          capture_operation op = operation(capture_text, base, offset);
          op.most = type.style == Style::path ? path_size : std::min(shown, path_size);
          add(op);
        }
        break;
      case TypeKind::bytes:
        block(base, offset, own ? own : room, own && !type.hex ? shown : type.hex ? block_size : unknown_size);
        break;
      case TypeKind::array:
        array(type, base, offset, own ? own : room, depth);
        break;
      case TypeKind::structure:
        structure(type, base, offset, room, scope, depth);
        break;
      case TypeKind::choice:
        block(base, offset, room, room ? variable_size : std::max(unknown_size, size_of_largest(type)));
        pointers(type, base, offset, scope, depth + 1);
        break;
      case TypeKind::custom:
        named_by_custom(type, base, offset);
        block(base, offset, type.target == none ? room : std::nullopt, room ? variable_size : unknown_size);
        if (type.target != none) {
          const bool already = std::exchange(within_custom_, true);
          target(t_.types[type.target], base, offset, room, scope, depth);
          within_custom_ = already;
        }
        break;
    }
  }

  [[nodiscard]] std::uint32_t size_of(const Type& type) const {
    switch (type.kind) {
      case TypeKind::scalar:
        return bytes_of(type.width, abi_);
      case TypeKind::pointer:
        return pointer_width(type);
      case TypeKind::structure:
        return t_.structs[type.index].layout.size[index_of(abi_)];
      case TypeKind::custom:
        return type.target == none ? 0 : size_of(t_.types[type.target]);
      default:
        return 0;
    }
  }

  /// Of what a table may choose.
  [[nodiscard]] std::uint32_t size_of_largest(const Type& choice, unsigned depth = 0) const {
    std::uint32_t largest = 0;
    for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[choice.index].rows)) {
      const Type& type = t_.types[row.type];
      const bool nested = type.kind == TypeKind::choice && depth < deepest;
      largest = std::max(largest, nested ? size_of_largest(type, depth + 1) : size_of(type));
    }
    return largest;
  }

  void array(const Type& type, std::uint8_t base, std::uint32_t offset, std::optional<Length> count, unsigned depth) {
    const Type& element = t_.types[type.target];
    const std::uint32_t size = size_of(element);
    if (type.length_kind == LengthKind::until_zero) {
      block(base, offset, std::nullopt, block_size);
      const bool text = element.kind == TypeKind::pointer && element.target != none &&
                        t_.types[element.target].kind == TypeKind::cstr;
      if (text && (setting_.limits.whole || type.brief == none)) {
        capture_operation op = operation(capture_texts, base, offset);
        op.width = static_cast<std::uint8_t>(pointer_width(element));
        op.most = std::min<std::uint32_t>(setting_.limits.string_limit + 2, block_size);
        add(op);
      }
      return;
    }
    if (count && type.length_kind == LengthKind::count) {
      count->scale *= std::max<std::uint32_t>(size, 1);
    }
    const bool by_bytes = type.length_kind == LengthKind::byte_count && element.kind == TypeKind::structure;
    const bool stream = element.kind == TypeKind::structure && t_.structs[element.index].kind == StructKind::stream;
    const std::uint64_t most = stream                              ? std::uint64_t{largest_block}
                               : size == 0 || within_custom_       ? custom_size
                               : setting_.limits.whole || by_bytes ? block_size
                                                                   : (setting_.limits.string_limit + 1ULL) * size;
    block(base, offset, count, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, largest_block)));
    if (count) {
      named_in_array(element, base, offset, *count, size);
      passed_on(type, base, offset, count);
    }
    if (element.kind == TypeKind::structure && count && depth < deepest) {
      vectors(t_.structs[element.index], base, offset, *count, size);
    }
  }

  /// Pointers in the elements of an array, where another field of the same element has the length; in structs within
  /// the elements, too, which begin at `shift`.
  void vectors(const Struct& element, std::uint8_t base, std::uint32_t offset, const Length& count, std::uint32_t size,
               std::uint32_t shift = 0, unsigned depth = 0) {
    for (const Field& field : Tables::slice(t_.fields, element.fields)) {
      const Type& type = t_.types[field.type];
      if (type.kind == TypeKind::structure && depth < deepest) {
        vectors(t_.structs[type.index], base, offset, count, size, shift + field.offset[index_of(abi_)], depth + 1);
        continue;
      }
      std::optional<capture_operation> op = vector(field, base, offset, size, shift);
      if (!op || count.slot == slot_none) {
        continue;
      }
      op->length = count.slot;
      op->count_width = count.width;
      if (const auto within = vector_within(type, base)) {
        op->kind = capture_vectors;
        add(*op, *within);
      } else {
        add(*op);
      }
    }
  }

  /// What a pointer in elements of `size` bytes leads to.
  std::optional<capture_operation> vector(const Field& field, std::uint8_t base, std::uint32_t offset,
                                          std::uint32_t size, std::uint32_t shift) {
    const Type& pointer = t_.types[field.type];
    if (pointer.kind != TypeKind::pointer || pointer.target == none || size == 0) {
      return std::nullopt;
    }
    const Type* data = &t_.types[pointer.target];
    while (data->kind == TypeKind::custom && data->target != none) {
      data = &t_.types[data->target];
    }
    ExprId said = data->length;
    if (said == none && data->args.count != 0) {
      said = t_.expr_lists[data->args.first];
    }
    said = said == none ? pointer.sized_by : said;
    if (said == none || t_.exprs[said].op != ExprOp::field) {
      return std::nullopt;
    }
    capture_operation op = operation(capture_vector, base, offset);
    op.width = static_cast<std::uint8_t>(pointer_width(pointer));
    const Field& length = t_.fields[t_.exprs[said].a];
    op.pointer_offset = static_cast<std::uint16_t>(shift + field.offset[index_of(abi_)]);
    op.length_offset = static_cast<std::uint16_t>(shift + length.offset[index_of(abi_)]);
    op.length_width = static_cast<std::uint8_t>(size_of(t_.types[length.type]));
    op.element = static_cast<std::uint16_t>(size);
    op.most =
        std::max<std::uint32_t>(setting_.limits.string_limit + 2, data->kind == TypeKind::bytes ? 0 : unknown_size);
    if (data->kind == TypeKind::array && data->length_kind == LengthKind::count) {
      op.scale = std::max<std::uint32_t>(size_of(t_.types[data->target]), 1);
      op.most = most_elements * op.scale;
    }
    op.most = std::min<std::uint32_t>(op.most, block_size);
    return op;
  }

  /// If a pointer in an element leads to an array of structs again: what their pointers lead to.
  std::optional<capture_operation> vector_within(const Type& pointer, std::uint8_t base) {
    const Type& array = t_.types[pointer.target];
    if (array.kind != TypeKind::array || t_.types[array.target].kind != TypeKind::structure) {
      return std::nullopt;
    }
    const Struct& element = t_.structs[t_.types[array.target].index];
    for (const Field& field : Tables::slice(t_.fields, element.fields)) {
      if (auto op = vector(field, base, 0, element.layout.size[index_of(abi_)], 0)) {
        op->kind = capture_within;
        return op;
      }
    }
    return std::nullopt;
  }

  void structure(const Type& type, std::uint8_t base, std::uint32_t offset, std::optional<Length> room,
                 const Scope* outer, unsigned depth) {
    const Struct& description = t_.structs[type.index];
    const Scope scope{base, offset, type.args, outer};
    const std::uint32_t size = description.layout.size[index_of(abi_)];
    if (description.sized_by != none) {
      room = length(description.sized_by, &scope);
      block(base, offset, std::nullopt, std::min(size, size_fields));  // whatever it says of itself
    }
    const bool open = description.variable || description.kind == StructKind::stream || size == 0;
    if (open) {
      block(base, offset, room, room ? block_size : std::max(size, variable_size));
    } else {
      // One that says how large it is may be larger than we know it, and then the rest shows as bytes.
      const bool sized = description.sized_by != none;
      const std::uint32_t most = room ? variable_size : unknown_size;
      block(base, offset, sized ? room : std::nullopt, sized ? std::max(size, most) : size);
    }
    if (description.kind != StructKind::plain) {
      return;
    }
    for (const Field& field : Tables::slice(t_.fields, description.fields)) {
      const Type& inner = t_.types[field.type];
      const std::uint32_t at = offset + field.offset[index_of(abi_)];
      if (field.at != none) {
        continue;
      }
      if (!field.after || phase_ == CapturePhase::exit) {
        pointers(inner, base, at, &scope, depth + 1);
      }
      if (inner.kind == TypeKind::structure && depth < deepest) {
        structure(inner, base, at, std::nullopt, &scope, depth + 1);
      }
      named_in_memory(inner, base, at);
    }
  }

  /// What a field leads to that is a pointer, or one of those that a table chooses from.
  void pointers(const Type& field, std::uint8_t base, std::uint32_t at, const Scope* scope, unsigned depth) {
    if (field.kind == TypeKind::pointer) {
      pointed(field, load(base, at, pointer_width(field)), scope, depth);
    } else if (field.kind == TypeKind::choice && depth <= deepest) {
      for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[field.index].rows)) {
        const Type& chosen = t_.types[row.type];
        chosen.kind == TypeKind::structure ? pointers_in(chosen, base, at, scope, depth + 1)
                                           : pointers(chosen, base, at, scope, depth + 1);
      }
    }
  }

  /// The same of the fields of a structure that a table chooses, whose bytes have been copied with the table's.
  void pointers_in(const Type& type, std::uint8_t base, std::uint32_t offset, const Scope* outer, unsigned depth) {
    const Struct& description = t_.structs[type.index];
    const Scope scope{base, offset, type.args, outer};
    if (description.kind != StructKind::plain) {
      return;
    }
    for (const Field& field : Tables::slice(t_.fields, description.fields)) {
      if (field.at == none && (!field.after || phase_ == CapturePhase::exit)) {
        pointers(t_.types[field.type], base, offset + field.offset[index_of(abi_)], &scope, depth);
        named_in_memory(t_.types[field.type], base, offset + field.offset[index_of(abi_)]);
      }
    }
  }

  const PlannerSetting& setting_;
  CapturePhase phase_;
  bool within_custom_ = false;
  bool matters_if_failed_ = false;
};

}  // namespace

PlannedCapture plan_call(const PlannerSetting& setting, Abi abi, CapturePhase phase, const Call& call, bool forms) {
  Planner planner(setting, abi, phase);
  if (call.signature != none) {
    planner.signature(call.signature, forms);
  }
  if (call.redirect != none && call.redirect_args != none) {
    planner.redirects(call);
  }
  if (phase == CapturePhase::entry && setting.tables.text(call.name).find("sigreturn") != std::string_view::npos) {
    planner.signal_frame();
  }
  return planner.result();
}

PlannedCapture plan_form(const PlannerSetting& setting, Abi abi, CapturePhase phase, Index signature) {
  Planner planner(setting, abi, phase);
  planner.signature(signature);
  return planner.result();
}

}  // namespace tracer
