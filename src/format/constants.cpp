#include "format/constants.h"

#include <utility>

#include "format/scalars.h"

namespace tracer::format {
namespace {

using spec::Constant;
using spec::ConstantGroup;
using spec::ConstantSet;
using spec::Tables;

bool shows_sign(spec::Style style) {
  return style != spec::Style::hex && style != spec::Style::octal && style != spec::Style::binary;
}

/// True for a bit field without named values, which is shown after all names as NUMBER<<LABEL.
bool is_label(const ConstantGroup& group) {
  return group.label != spec::none && group.constants.count == 0;
}

void comment(TextBuffer& text, std::string_view what) {
  text.append(" /* ");
  text.append(what);
  text.append(" */");
}

/// Formats a word of flags as one list of names with `|` between them. Groups that are `apart` are formatted
/// separately, with their own number or comment under -X raw and -X verbose.
class FlagFormatter {
 public:
  FlagFormatter(TextBuffer& text, const Tables& tables, const ConstantSet& set, unsigned width, Abi abi)
      : text_(text),
        tables_(tables),
        set_(set),
        groups_(Tables::slice(tables.groups, set.groups)),
        width_(width),
        whole_(cut(~std::uint64_t{0}, width, false)),
        abi_(mask_of(abi)) {}

  void format(std::uint64_t bits, bool is_signed, ConstantForm form) {
    bool first = true;
    const auto separate = [&] { std::exchange(first, false) ? void() : text_.append('|'); };
    const auto stands_apart = [&](const ConstantGroup& group) {
      return group.apart && !is_label(group) &&
             (group.label != spec::none
                  ? (bits & group.mask) != 0
                  : group.unknown != spec::none || is_number(group) || !name_of(group, bits & group.mask).empty());
    };
    std::uint64_t labels = 0;
    std::uint64_t rest = bits;
    bool alone = true;
    for (const ConstantGroup& group : groups_) {
      labels |= group.apart && is_label(group) ? bits & group.mask : 0;
      rest &= stands_apart(group) || (group.apart && is_label(group)) ? ~group.mask : ~std::uint64_t{0};
      alone = alone && !stands_apart(group);
    }
    bool due = rest != 0 || (alone && labels == 0);
    const auto main_part_once = [&] {
      if (std::exchange(due, false)) {
        separate();
        main_part(rest, is_signed, form);
      }
    };
    bool after_main = false;
    for (const ConstantGroup& group : groups_) {
      after_main = after_main || !group.apart;
      if (stands_apart(group)) {
        if (after_main) {
          main_part_once();
        }
        separate();
        if (group.label != spec::none) {
          shifted_value(group, (bits & group.mask) >> group.shift, form);
          continue;
        }
        own_value(group, bits & group.mask, name_of(group, bits & group.mask), form);
      }
    }
    main_part_once();
    for (const ConstantGroup& group : groups_) {
      if (group.apart && is_label(group) && (bits & group.mask) != 0) {
        separate();
        apart_number(group, bits, form);
      }
    }
  }

 private:
  [[nodiscard]] std::string_view name_of(const ConstantGroup& group, std::uint64_t value) const {
    for (const Constant& c : Tables::slice(tables_.constants, group.constants)) {
      if ((c.value & whole_) == value && (c.abis & abi_) != 0) {
        return tables_.text(c.name);
      }
    }
    return {};
  }

  /// Whether none of its values has a name, so that nothing can be said of one that has none.
  static bool is_number(const ConstantGroup& group) {
    return group.constants.count == 0 && group.unknown == spec::none;
  }

  void own_value(const ConstantGroup& group, std::uint64_t value, std::string_view name, ConstantForm form) {
    if (is_number(group)) {
      append_number(text_, value, set_.fallback, false);
      return;
    }
    if (form == ConstantForm::raw && group.unknown == spec::none && value == 0) {
      return;  // strace shows nothing at all: `|0x100`
    }
    if (form != ConstantForm::abbreviate || name.empty()) {
      append_number(text_, value, set_.fallback, false);
    } else {
      text_.append(name);
      return;
    }
    if (form != ConstantForm::raw) {
      comment(text_, name.empty() ? tables_.text(group.unknown) : name);
    }
  }

  /// A value with a name, and how far it is shifted: `B110<<IBSHIFT`, `0x3<<0x10`, `0x3 /* B110 */<<0x10 /* IBSHIFT
  /// */`.
  void shifted_value(const ConstantGroup& group, std::uint64_t value, ConstantForm form) {
    own_value(group, value, name_of(group, value), form);
    text_.append("<<");
    if (form == ConstantForm::abbreviate) {
      text_.append(tables_.text(group.label));
      return;
    }
    text_.hex(group.shift);
    if (form == ConstantForm::verbose) {
      comment(text_, tables_.text(group.label));
    }
  }

  void apart_number(const ConstantGroup& group, std::uint64_t bits, ConstantForm form) {
    text_.decimal((bits & group.mask) >> group.shift);
    text_.append("<<");
    if (form == ConstantForm::abbreviate) {
      text_.append(tables_.text(group.label));
      return;
    }
    text_.decimal(std::uint64_t{group.shift});
    if (form == ConstantForm::verbose) {
      comment(text_, tables_.text(group.label));
    }
  }

  void main_part(std::uint64_t bits, bool is_signed, ConstantForm form) {
    const auto number = [&] {
      const bool as_signed = is_signed && shows_sign(set_.fallback);
      append_number(text_, cut(bits, width_, as_signed), set_.fallback, as_signed);
    };
    const auto start = text_.size();
    if (form != ConstantForm::abbreviate) {
      number();
      if (form == ConstantForm::raw) {
        return;
      }
      text_.append(" /* ");
    }
    if (names(bits)) {
      text_.append(form == ConstantForm::verbose ? " */" : "");
      return;
    }
    text_.truncate(start);
    number();
    if (set_.unknown != spec::none && bits != 0) {
      comment(text_, tables_.text(set_.unknown));
    }
  }

  /// Appends `A|B|0x40|2<<SHIFT`; returns false and appends nothing if no name applies.
  bool names(std::uint64_t bits) {
    bool any = false;
    std::uint64_t left = bits;
    const auto name = [&](std::string_view text) {
      if (std::exchange(any, true)) {
        text_.append('|');
      }
      text_.append(text);
    };
    for (const ConstantGroup& group : groups_) {
      if (group.apart) {
        continue;
      }
      if (is_label(group)) {
        left &= ~group.mask;
      } else if (group.mask == 0) {
        for (const Constant& c : Tables::slice(tables_.constants, group.constants)) {
          if (left == 0 && (bits != 0 || any)) {
            break;  // no other name can apply
          }
          const auto value = c.value & whole_;
          const bool all_there = value == 0 ? bits == 0 && !any : (left & value) == value;
          if (all_there && (c.abis & abi_) != 0) {
            name(tables_.text(c.name));
            left &= ~value;
          }
        }
      } else if (group.label != spec::none) {
        if (const auto found = name_of(group, (bits & group.mask) >> group.shift); (bits & group.mask) != 0) {
          name(found);
          if (found.empty()) {
            text_.decimal((bits & group.mask) >> group.shift);
          }
          text_.append("<<");
          text_.append(tables_.text(group.label));
        }
        left &= ~group.mask;
      } else if (const auto found = name_of(group, bits & group.mask); !found.empty()) {
        name(found);
        left &= ~group.mask;
      } else if (group.unknown != spec::none) {
        name({});
        append_number(text_, bits & group.mask, set_.fallback, false);
        comment(text_, tables_.text(group.unknown));
        left &= ~group.mask;
      }
    }
    const auto labelled = labels(bits);
    if (left != 0 && (any || labelled != 0)) {
      const bool alone = !any;
      name({});
      append_number(text_, left, set_.fallback, false);
      if (alone && set_.unknown != spec::none) {
        comment(text_, tables_.text(set_.unknown));
      }
    }
    for (const ConstantGroup& group : groups_) {
      if (is_label(group) && !group.apart && (bits & group.mask) != 0) {
        name({});
        text_.decimal((bits & group.mask) >> group.shift);
        text_.append("<<");
        text_.append(tables_.text(group.label));
      }
    }
    return any;
  }

  [[nodiscard]] std::uint64_t labels(std::uint64_t bits) const {
    std::uint64_t mask = 0;
    for (const ConstantGroup& group : groups_) {
      mask |= is_label(group) && !group.apart ? group.mask : 0;
    }
    return bits & mask;
  }

  TextBuffer& text_;
  const Tables& tables_;
  const ConstantSet& set_;
  std::span<const ConstantGroup> groups_;
  unsigned width_;
  std::uint64_t whole_;  ///< a bit for each of the width
  AbiMask abi_;
};

/// Appends the bits of an ioctl request that its name does not determine: `(ABS_X)`, `(EV_KEY, 96)`, `(128)`. Beside a
/// number without a name the size does not show. In a comment a number has none of its own.
void append_open_bits(TextBuffer& text, const Tables& tables, const Constant& c, std::uint64_t bits, Abi abi,
                      bool in_comment) {
  constexpr std::uint64_t number_bits = 0xff;
  constexpr std::uint64_t size_bits = 0x3fff0000;
  constexpr unsigned size_shift = 16;
  bool shows_size = (c.open_bits & size_bits) != 0;
  text.append('(');
  if ((c.open_bits & number_bits) != 0) {
    const auto number = bits & c.open_bits & number_bits;
    if (c.number_set == spec::none) {
      text.decimal(number);
      shows_size = false;
    } else {
      spec::Type type = scalar_type(4, false, spec::Style::hex);
      type.set = c.number_set;
      const auto before = text.size();
      append_constant(text, tables, type, number, abi, ConstantForm::abbreviate);
      const auto comment_at = text.view().find(" /*", before);
      if (in_comment && comment_at != std::string_view::npos) {
        text.truncate(comment_at);
      }
    }
    if (shows_size) {
      text.append(", ");
    }
  }
  if (shows_size) {
    text.decimal((bits & size_bits) >> size_shift);
  }
  text.append(')');
}

/// Appends the name of the range that a value is in, as `L2CAP_PSM_DYN_START+5`; returns false if there is none.
bool append_range(TextBuffer& text, const Tables& tables, const ConstantSet& set, std::uint64_t bits, unsigned width,
                  Abi abi) {
  for (const ConstantGroup& group : Tables::slice(tables.groups, set.groups)) {
    for (const Constant& c : Tables::slice(tables.constants, group.constants)) {
      const auto distance = bits - cut(c.value, width, false);
      if (c.reach != 0 && distance != 0 && distance <= c.reach && (c.abis & mask_of(abi)) != 0) {
        text.append(tables.text(c.name));
        text.append('+');
        c.hex_distance ? text.hex(distance) : text.decimal(distance);
        return true;
      }
    }
  }
  return false;
}

/// Appends the name of a value, of an ioctl request all names that are as `unlikely`. Returns false if there is none.
bool append_names(TextBuffer& text, const Tables& tables, const ConstantSet& set, std::uint64_t bits, unsigned width,
                  Abi abi, bool unlikely, bool in_comment) {
  const bool is_ioctl = set.fallback == spec::Style::ioctl;
  const std::uint64_t whole = cut(~std::uint64_t{0}, width, false);
  bool named = false;
  for (const ConstantGroup& group : Tables::slice(tables.groups, set.groups)) {
    for (const Constant& c : Tables::slice(tables.constants, group.constants)) {
      const bool matches = (c.value & whole) == (bits & ~std::uint64_t{c.open_bits});
      if (matches && (c.abis & mask_of(abi)) != 0 && c.unlikely == unlikely) {
        text.append(named ? " or " : "");
        text.append(tables.text(c.name));
        if (c.open_bits != 0) {
          append_open_bits(text, tables, c, bits, abi, in_comment);
        }
        if (!is_ioctl) {
          return true;
        }
        named = true;
      }
    }
  }
  return named;
}

}  // namespace

bool has_name_for_zero(const Tables& tables, spec::SetId set) {
  for (const ConstantGroup& group : Tables::slice(tables.groups, tables.sets[set].groups)) {
    for (const Constant& c : Tables::slice(tables.constants, group.constants)) {
      if (c.value == 0) {
        return true;
      }
    }
  }
  return false;
}

std::string_view constant_name(const Tables& tables, spec::SetId set, std::uint64_t bits, Abi abi) {
  for (const ConstantGroup& group : Tables::slice(tables.groups, tables.sets[set].groups)) {
    for (const Constant& c : Tables::slice(tables.constants, group.constants)) {
      if (c.value == bits && (c.abis & mask_of(abi)) != 0) {
        return tables.text(c.name);
      }
    }
  }
  return {};
}

void append_constant(TextBuffer& text, const Tables& tables, const spec::Type& type, std::uint64_t bits, Abi abi,
                     ConstantForm form) {
  const ConstantSet& set = tables.sets[type.set];
  const unsigned width = spec::bytes_of(type.width, abi);
  bits = cut(bits, width, false);
  if (set.is_flags) {
    FlagFormatter(text, tables, set, width, abi).format(bits, type.is_signed, form);
    return;
  }
  const bool is_signed = type.is_signed && shows_sign(set.fallback);
  // A request of ioctl without a name is shown as _IOC(…).
  const bool is_ioctl = set.fallback == spec::Style::ioctl;
  if (form != ConstantForm::abbreviate) {
    const auto style = is_ioctl ? spec::Style::hex : set.fallback;
    append_number(text, cut(bits, width, is_signed), style, is_signed);
    if (form == ConstantForm::raw) {
      return;
    }
  }
  const auto before = text.size();
  const bool in_comment = form == ConstantForm::verbose;
  if (in_comment) {
    text.append(" /* ");
  }
  const bool named = append_names(text, tables, set, bits, width, abi, false, in_comment) ||
                     append_range(text, tables, set, bits, width, abi) ||
                     (is_ioctl && append_names(text, tables, set, bits, width, abi, true, in_comment));
  if (!named && is_ioctl) {
    append_number(text, bits, set.fallback, false);
  }
  if (named || is_ioctl) {
    if (form == ConstantForm::verbose) {
      text.append(" */");
    }
    return;
  }
  text.truncate(before);
  if (form == ConstantForm::abbreviate) {
    append_number(text, cut(bits, width, is_signed), set.fallback, is_signed);
  }
  if (set.unknown != spec::none) {
    comment(text, tables.text(set.unknown));
  }
}

}  // namespace tracer::format
