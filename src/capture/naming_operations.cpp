#include "capture/naming_operations.h"

namespace tracer::capture {

using namespace spec;

template <typename Use>
void NamingOperations::for_each_kind(const Type& type, const Use& use, unsigned depth) const {
  if (type.kind == TypeKind::custom && type.target != none && depth < deepest_followed) {
    for_each_kind(t_.types[type.target], use, depth + 1);
  } else if (type.kind == TypeKind::choice && depth < deepest_followed) {
    for (const ChoiceRow& row : Tables::slice(t_.choice_rows, t_.choices[type.index].rows)) {
      for_each_kind(t_.types[row.type], use, depth + 1);
    }
  } else if (type.kind == TypeKind::scalar) {
    const Style style = type.style;
    if (style == Style::fd && type.args.count != 0) {
      // Of another process only a pidfd is followed in the kernel.
      if (limits_.descriptors && t_.text(t_.exprs[t_.expr_lists[type.args.first]].a) == "pidfd") {
        use(named_behind_pidfd);
      }
    } else if (limits_.descriptors && (style == Style::fd || style == Style::dirfd)) {
      use(named_descriptor);
    } else if (limits_.processes && (style == Style::tid || style == Style::tgid || style == Style::pgid)) {
      use(named_process);
    }
  }
}

void NamingOperations::named(const Type& type, std::uint8_t slot) {
  for_each_kind(type, [&](named_kind kind) {
    capture_operation op = operation(capture_named, slot, 0);
    op.to = kind;
    op.length = kind == named_behind_pidfd ? pidfd_ : std::uint8_t{slot_none};
    add(op);
  });
}

void NamingOperations::named_in_memory(const Type& type, std::uint8_t base, std::uint32_t offset) {
  for_each_kind(type, [&](named_kind kind) {
    capture_operation op = operation(capture_there_named, base, offset);
    op.to = kind;
    add(op);
  });
}

void NamingOperations::named_by_custom(const Type& type, std::uint8_t base, std::uint32_t offset) {
  const std::string_view name = t_.text(t_.customs[type.custom]);
  if (limits_.descriptors && name == "fd_set") {
    capture_operation op = operation(capture_fd_set, base, offset);
    op.length = set_size_;
    op.count_width = sizeof(std::int32_t);
    add(op);
  } else if (limits_.processes && name == "siginfo") {
    capture_operation op = operation(capture_there_named, base, offset + (word_size(abi_) == 8 ? 16 : 12));  // si_pid
    op.to = named_process;
    add(op);
  }
}

void NamingOperations::passed_on(const Type& array, std::uint8_t base, std::uint32_t offset,
                                 const std::optional<Length>& size) {
  const Type& element = t_.types[array.target];
  if ((!limits_.descriptors && !limits_.processes) || !size || size->slot == slot_none ||
      element.kind != TypeKind::structure || t_.text(t_.structs[element.index].name) != "cmsg") {
    return;
  }
  capture_operation op = operation(capture_passed, base, offset);
  op.length = size->slot;
  op.count_width = size->width;
  op.width = static_cast<std::uint8_t>(word_size(abi_));
  add(op);
}

void NamingOperations::look_at_name(const Param& param) {
  if (t_.text(param.name) == "nfds") {
    set_size_ = slot_of(param);
  } else if (t_.text(param.name) == "pidfd") {
    pidfd_ = slot_of(param);
  }
}

}  // namespace tracer::capture
