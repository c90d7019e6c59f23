#include "render/constants.h"

#include "render/scalars.h"

namespace tracer::render {
namespace {

using spec::Constant;
using spec::ConstantGroup;
using spec::ConstantSet;
using spec::Tables;

/// Writes the names of a flag set one by one, with `|` between them.
class FlagSpeller {
 public:
  FlagSpeller(TextBuffer& text, const Tables& tables, std::uint64_t bits, unsigned width, Abi abi)
      : text_(text), tables_(tables), bits_(bits), left_(bits), width_(width), abi_(mask_of(abi)) {}

  void group(const ConstantGroup& group) {
    if (group.label != spec::none) {
      shifted_number(group);
    } else if (group.mask != 0) {
      field_value(group);
    } else {
      plain(group);
    }
  }

  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  void plain(const ConstantGroup& group) {
    for (const Constant& c : Tables::slice(tables_.constants, group.constants)) {
      const auto value = cut(c.value, width_, false);
      const bool all_there = value == 0 ? bits_ == 0 && !any_ : (left_ & value) == value;
      if (all_there && (c.abis & abi_) != 0) {
        name(c.name);
        left_ &= ~value;
      }
    }
  }

  void field_value(const ConstantGroup& group) {
    for (const Constant& c : Tables::slice(tables_.constants, group.constants)) {
      if (cut(c.value, width_, false) == (bits_ & group.mask) && (c.abis & abi_) != 0) {
        name(c.name);
        left_ &= ~group.mask;
        return;
      }
    }
  }

  void shifted_number(const ConstantGroup& group) {
    const auto number = (bits_ & group.mask) >> group.shift;
    if (number != 0) {
      separator();
      text_.decimal(number);
      text_.append("<<");
      text_.append(tables_.text(group.label));
    }
    left_ &= ~group.mask;
  }

  void name(spec::StringRef name) {
    separator();
    text_.append(tables_.text(name));
  }

  void separator() {
    if (any_) {
      text_.append('|');
    }
    any_ = true;
  }

  TextBuffer& text_;
  const Tables& tables_;
  std::uint64_t bits_;
  std::uint64_t left_;
  unsigned width_;
  AbiMask abi_;
  bool any_ = false;
};

// The size in an ioctl request, which requests such as _IOC(_IOC_READ, 'E', 6, length) leave open.
constexpr std::uint64_t ioctl_size_bits = 0x3fff0000;

bool matches(const Constant& c, std::uint64_t bits, unsigned width) {
  return cut(c.value, width, false) == (c.any_size ? bits & ~ioctl_size_bits : bits);
}

void comment(TextBuffer& text, std::string_view what) {
  text.append(" /* ");
  text.append(what);
  text.append(" */");
}

/// Flags: whether any name was written.
bool spell_flags(TextBuffer& text, const Tables& tables, const ConstantSet& set, std::uint64_t bits, unsigned width,
                 Abi abi) {
  FlagSpeller speller(text, tables, bits, width, abi);
  for (const ConstantGroup& group : Tables::slice(tables.groups, set.groups)) {
    speller.group(group);
  }
  if (speller.any() && speller.left() != 0) {
    text.append('|');
    spell_number(text, speller.left(), set.fallback, false);
  }
  return speller.any();
}

}  // namespace

std::uint64_t cut(std::uint64_t bits, unsigned width, bool is_signed) {
  if (width >= 8) {
    return bits;
  }
  const unsigned unused = 64 - 8 * width;
  if (is_signed) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return bits << unused >> unused;
}

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

void spell_constant(TextBuffer& text, const Tables& tables, const spec::Type& type, std::uint64_t bits, Abi abi,
                    ConstantForm form) {
  const ConstantSet& set = tables.sets[type.set];
  const unsigned width = type.width == 0 ? word_size(abi) : type.width;
  bits = cut(bits, width, false);
  // The number of an ioctl has a spelling of its own, which is a name too.
  const bool has_spelling = set.fallback == spec::Style::ioctl;
  if (form != ConstantForm::abbreviate) {
    const auto style = has_spelling ? spec::Style::hex : set.fallback;
    spell_number(text, cut(bits, width, type.is_signed), style, type.is_signed);
    if (form == ConstantForm::raw) {
      return;
    }
  }
  const auto before = text.size();
  if (form == ConstantForm::verbose) {
    text.append(" /* ");
  }
  bool named = false;
  if (set.is_flags) {
    named = spell_flags(text, tables, set, bits, width, abi);
  } else {
    for (const ConstantGroup& group : Tables::slice(tables.groups, set.groups)) {
      for (const Constant& c : Tables::slice(tables.constants, group.constants)) {
        if (!named && matches(c, bits, width) && (c.abis & mask_of(abi)) != 0) {
          text.append(tables.text(c.name));
          named = true;
        }
      }
    }
  }
  if (!named && has_spelling) {
    spell_number(text, bits, set.fallback, false);
    named = true;
  }
  if (named) {
    if (form == ConstantForm::verbose) {
      text.append(" */");
    }
    return;
  }
  text.truncate(before);
  if (form == ConstantForm::abbreviate) {
    spell_number(text, cut(bits, width, type.is_signed), set.fallback, type.is_signed);
  }
  const bool empty_set = set.is_flags && bits == 0;
  if (set.unknown != spec::none && !empty_set) {
    comment(text, tables.text(set.unknown));
  }
}

}  // namespace tracer::render
