#include "capture/planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "capture/naming_operations.h"

namespace tracer::capture {
namespace {

using namespace spec;

constexpr std::uint32_t path_size = largest_text;  // PATH_MAX, and one to see that it is longer
constexpr std::uint32_t variable_size = 512;
constexpr std::uint32_t frame_size = 1024;    // of a signal, as much as sigreturn shows
constexpr std::uint32_t custom_size = 2048;   // of what a custom looks through, such as a netlink message
constexpr std::uint32_t user_desc_size = 16;  // of a thread's area on i386
constexpr std::uint32_t size_fields = 8;      // the front of a struct that says how large it is

/// What of the descriptions leads where.
class Planner : public NamingOperations {
 public:
  Planner(const PlannerSetting& setting, Abi abi, CapturePhase phase)
      : NamingOperations(setting.tables, setting.limits, abi), setting_(setting), phase_(phase) {
    has_result_ = phase == CapturePhase::exit;
  }

  /// `forms`: of a call whose forms with values of their own have plans of their own.
  void signature(Index index, bool forms = false) {
    const Signature& signature = t_.signatures[index];
    params_ = signature.params;
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

  /// What the result points to.
  void result_of(Index index) {
    params_ = t_.signatures[index].params;
    const Type& type = t_.types[t_.signatures[index].result];
    if (type.kind == TypeKind::pointer) {
      pointed(type, slot_result, nullptr, 0);
    } else if (type.kind == TypeKind::structure) {
      target(type, slot_result, 0, std::nullopt, nullptr, 0);  // if it is returned in memory
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
  void parameter(const Param& param, bool noted) { parameter(param, t_.types[param.type], noted, 0); }

  void parameter(const Param& param, const Type& type, bool noted, unsigned depth) {
    if (type.kind == TypeKind::choice && depth <= deepest_followed) {
      for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[type.index].rows)) {
        parameter(param, t_.types[row.type], noted, depth + 1);
      }
      return;
    }
    const std::uint8_t slot = slot_of(param);
    if (type.style == Style::tls && abi_ == Abi::i386 && phase_ == CapturePhase::entry) {
      block(slot, 0, std::nullopt, user_desc_size);
    }
    if (type.kind != TypeKind::pointer) {
      return;
    }
    const bool at_entry = !param.at_exit || param.saved || param.begins || type.direction == Direction::inout;
    const bool at_exit = param.at_exit || noted || t_.shows_after(type.target);
    if (slot < slots && (phase_ == CapturePhase::entry ? at_entry : at_exit)) {
      // What a call that fails has not filled shows as an address, unless the description says when it shows.
      matters_if_failed_ = matters_if_failed_ || type.direction != Direction::out || param.when != none;
      noted_ = noted && phase_ == CapturePhase::exit && !param.at_exit;
      pointed(type, slot, nullptr, 0);
      noted_ = false;
    }
  }

  /// What a pointer in `slot` leads to.
  void pointed(const Type& pointer, std::uint8_t slot, const Scope* scope, unsigned depth) {
    if (slot != slot_none && depth <= deepest_followed && pointer.target != none) {
      std::optional<Length> room;
      if (pointer.sized_by != none) {
        room = length(pointer.sized_by, scope);
      }
      const bool outside = std::exchange(overlaid_, false);
      target(t_.types[pointer.target], slot, 0, room, scope, depth);
      overlaid_ = outside;
    }
  }

  void block(std::uint8_t base, std::uint32_t offset, const std::optional<Length>& size, std::uint32_t most) {
    capture_operation op = operation(capture_block, base, offset);
    op.most = std::min<std::uint32_t>(most, largest_block);
    if (size && size->slot != slot_none) {
      op.length = size->slot;
      op.count_width = size->width;
      op.scale = size->scale;
      op.more = size->more;
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
    const std::uint32_t shown = within_custom_ ? custom_size : limits_.string_limit + 2;
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
          const bool whole = type.style == Style::path || type.style == Style::whole;
          op.most = whole ? path_size : std::min(shown, path_size);
          add(op);
        }
        break;
      case TypeKind::bytes:
        block(base, offset, own ? own : room, own && !type.hex ? shown : type.hex ? block_size : unknown_size);
        break;
      case TypeKind::array:
        array(type, base, offset, own ? own : room, scope, depth);
        break;
      case TypeKind::structure:
        structure(type, base, offset, room, scope, depth);
        break;
      case TypeKind::choice:
        if (room) {
          const Beyond beyond = beyond_room(type);
          block(base, offset, multiplied(*room, beyond.factor), variable_size);
          block(base, offset, std::nullopt, beyond.least);
        } else {
          block(base, offset, std::nullopt, std::max(unknown_size, size_of_largest(type)));
        }
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

  /// What is shown beyond the bytes that the program says to have.
  struct Beyond {
    std::uint32_t factor = 1;  ///< so many times as many
    std::uint32_t least = 0;   ///< bytes, however few they are
  };

  /// Of what a table may choose: `bytes[rest * 8]`, `i32[1]`.
  [[nodiscard]] Beyond beyond_room(const Type& choice, unsigned depth = 0) const {
    Beyond most;
    const auto is = [this](ExprId id, ExprOp op) { return t_.exprs[id].op == op; };
    for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[choice.index].rows)) {
      const Type& type = t_.types[row.type];
      const bool within = type.kind == TypeKind::custom && type.target != none;
      const ExprId length = within ? t_.types[type.target].length : type.length;
      Beyond found;
      if (type.kind == TypeKind::choice && depth < deepest_followed) {
        found = beyond_room(type, depth + 1);
      } else if (type.kind == TypeKind::array && length != none && is(length, ExprOp::literal)) {
        found.least = static_cast<std::uint32_t>(t_.exprs[length].value) * size_of(t_.types[type.target]);
      } else if (length != none && is(length, ExprOp::multiply) && is(t_.exprs[length].a, ExprOp::rest) &&
                 is(t_.exprs[length].b, ExprOp::literal)) {
        found.factor = static_cast<std::uint32_t>(t_.exprs[t_.exprs[length].b].value);
      }
      most = {std::max(most.factor, found.factor), std::max(most.least, found.least)};
    }
    return most;
  }

  /// Of what a table may choose.
  [[nodiscard]] std::uint32_t size_of_largest(const Type& choice, unsigned depth = 0) const {
    std::uint32_t largest = 0;
    for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[choice.index].rows)) {
      const Type& type = t_.types[row.type];
      const bool nested = type.kind == TypeKind::choice && depth < deepest_followed;
      largest = std::max(largest, nested ? size_of_largest(type, depth + 1) : size_of(type));
    }
    return largest;
  }

  void array(const Type& type, std::uint8_t base, std::uint32_t offset, std::optional<Length> count, const Scope* scope,
             unsigned depth) {
    const Type& element = t_.types[type.target];
    const std::uint32_t size = size_of(element);
    if (type.length_kind == LengthKind::until_zero) {
      block(base, offset, std::nullopt, block_size);
      const bool text = element.kind == TypeKind::pointer && element.target != none &&
                        t_.types[element.target].kind == TypeKind::cstr;
      if (text && (limits_.whole || type.brief == none)) {
        capture_operation op = operation(capture_texts, base, offset);
        op.width = static_cast<std::uint8_t>(pointer_width(element));
        op.most = std::min<std::uint32_t>(limits_.string_limit + 2, block_size);
        add(op);
      }
      return;
    }
    if (count && type.length_kind == LengthKind::count) {
      count = multiplied(*count, size);
    }
    const bool by_bytes = type.length_kind == LengthKind::byte_count && element.kind == TypeKind::structure;
    const bool stream = element.kind == TypeKind::structure && t_.structs[element.index].kind == StructKind::stream;
    const std::uint64_t most = stream || noted_              ? std::uint64_t{largest_block}
                               : size == 0 || within_custom_ ? custom_size
                               : limits_.whole || by_bytes   ? block_size
                                                             : (limits_.string_limit + 1ULL) * size;
    block(base, offset, count, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, largest_block)));
    if (count && size != 0 && !stream) {
      elements(element, loop_over(base, offset, *count, size), scope, depth);
    }
    passed_on(type, base, offset, count);
  }

  /// A loop over so many elements of `size` bytes.
  [[nodiscard]] capture_operation loop_over(std::uint8_t base, std::uint32_t offset, const Length& count,
                                            std::uint32_t size) const {
    capture_operation each = operation(capture_each, base, offset);
    each.element = size;
    each.most = limits_.descriptors || limits_.processes ? std::uint32_t{most_names} : std::uint32_t{most_elements};
    each.width = 0;
    if (count.slot == slot_none) {
      each.most = static_cast<std::uint32_t>(std::min<std::uint64_t>(count.constant * count.scale / size, each.most));
    } else {
      each.length = count.slot;
      each.count_width = count.width;
      each.scale = count.scale;
      each.more = count.more;
    }
    return each;
  }

  /// What the elements of an array, whose bytes have been copied, lead to.
  void elements(const Type& element, capture_operation each, const Scope* scope, unsigned depth) {
    if (element.kind == TypeKind::pointer) {
      each.width = static_cast<std::uint8_t>(pointer_width(element));
    }
    add_loop(each, [&](std::uint8_t slot) {
      if (element.kind == TypeKind::pointer) {
        pointed(element, slot, scope, depth + 1);
      } else if (element.kind == TypeKind::structure) {
        inside(element, slot, 0, scope, depth);
      } else {
        named_in_memory(element, slot, 0);
      }
    });
  }

  void structure(const Type& type, std::uint8_t base, std::uint32_t offset, std::optional<Length> room,
                 const Scope* outer, unsigned depth) {
    const Struct& description = t_.structs[type.index];
    const Scope scope{base, offset, description.fields, type.args, outer};
    const std::uint32_t size = description.layout.size[index_of(abi_)];
    if (description.sized_by != none) {
      room = length(description.sized_by, &scope);
      block(base, offset, std::nullopt, std::min(size, size_fields));  // whatever it says of itself
    }
    const bool open = description.variable || description.kind == StructKind::stream || size == 0;
    if (open) {
      const bool constant = room && room->slot == slot_none;
      block(base, offset, room,
            constant ? std::uint32_t{largest_block}
            : room   ? block_size
                     : std::max(size, variable_size));
    } else {
      // One that says how large it is may be larger than we know it, and then the rest shows as bytes.
      const bool sized = description.sized_by != none;
      const std::uint32_t most = room ? variable_size : unknown_size;
      block(base, offset, sized ? room : std::nullopt, sized ? std::max(size, most) : size);
    }
    inside(type, base, offset, outer, depth);
  }

  /// What the fields of a structure, whose bytes have been copied, lead to.
  void inside(const Type& type, std::uint8_t base, std::uint32_t offset, const Scope* outer, unsigned depth) {
    const Struct& description = t_.structs[type.index];
    const Scope scope{base, offset, description.fields, type.args, outer};
    if (description.kind != StructKind::plain) {
      return;
    }
    for (const Field& field : Tables::slice(t_.fields, description.fields)) {
      const Type& inner = t_.types[field.type];
      std::uint32_t at = offset + field.offset[index_of(abi_)];
      if (field.at != none) {
        const std::optional<Length> place = length(field.at, nullptr);
        if (!place || place->slot != slot_none) {
          continue;
        }
        at = offset + static_cast<std::uint32_t>(place->constant * place->scale);
      }
      const bool outside = std::exchange(overlaid_, overlaid_ || field.at != none);
      if (!field.late || phase_ == CapturePhase::exit) {
        pointers(inner, base, at, &scope, depth + 1);
      }
      if (inner.kind == TypeKind::structure && depth < deepest_followed) {
        const Struct& within = t_.structs[inner.index];
        const bool copied = within.sized_by == none && !within.variable && within.kind == StructKind::plain;
        if (copied) {
          inside(inner, base, at, &scope, depth);
        } else if (!overlaid_) {
          structure(inner, base, at, std::nullopt, &scope, depth + 1);
        }
      }
      named_in_memory(inner, base, at);
      overlaid_ = outside;
    }
  }

  /// What a field leads to that is a pointer, or one of those that a table chooses from.
  void pointers(const Type& field, std::uint8_t base, std::uint32_t at, const Scope* scope, unsigned depth) {
    if (field.kind == TypeKind::pointer) {
      pointed(field, load(base, at, pointer_width(field)), scope, depth);
    } else if (field.kind == TypeKind::choice && depth <= deepest_followed) {
      for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[field.index].rows)) {
        const Type& chosen = t_.types[row.type];
        chosen.kind == TypeKind::structure ? inside(chosen, base, at, scope, depth)
                                           : pointers(chosen, base, at, scope, depth + 1);
      }
    }
  }

  const PlannerSetting& setting_;
  CapturePhase phase_;
  bool within_custom_ = false;
  bool overlaid_ = false;  ///< within a field that has a place of its own: others have copied what is there
  /// The note after the result chooses from all of what is pointed to, however little shows of it.
  bool noted_ = false;
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

PlannedCapture plan_result(const PlannerSetting& setting, Abi abi, Index signature) {
  Planner planner(setting, abi, CapturePhase::exit);
  planner.result_of(signature);
  return planner.result();
}

PlannedCapture plan_form(const PlannerSetting& setting, Abi abi, CapturePhase phase, Index signature) {
  Planner planner(setting, abi, phase);
  planner.signature(signature);
  return planner.result();
}

}  // namespace tracer::capture
