// Numbers that consist of several parts.
#include <algorithm>
#include <array>
#include <limits>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/error_names.h"

namespace tracer::decoders {
namespace {

/// Returns the value from its register or from memory, in the width of the description.
std::optional<std::uint64_t> load(const CustomContext& context) {
  if (!context.in_memory()) {
    return context.value();
  }
  std::array<std::byte, 8> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  return context.copy(std::span(raw).first(size)) ? std::optional(number_at(raw, 0, 8)) : std::nullopt;
}

/// Shows the flags above `low_bits` by the described set, then the low bits in `style` unless they are 0 and not
/// `always` shown.
bool flags_above(decode::CustomContext& context, std::uint64_t low_bits, spec::Style style, bool always = false) {
  const auto word = context.value();
  const bool flagged = (word & ~low_bits) != 0;
  if (flagged) {
    context.described(word & ~low_bits);
  }
  if ((word & low_bits) != 0 || always || !flagged) {
    context.out().symbol(flagged ? "|" : "");
    context.number(word & low_bits, (word & low_bits) != 0 ? style : spec::Style::number, 4, false);
  }
  return true;
}

}  // namespace

/// Shows `CLONE_CHILD_SETTID|SIGCHLD`: the lowest byte is the child's exit signal.
bool clone_flags_and_signal(decode::CustomContext& context) {
  return flags_above(context, 0xff, spec::Style::signal);
}

/// Shows the flags of swapon(2): `SWAP_FLAG_PREFER|5`.
bool swap_priority(decode::CustomContext& context) {
  return flags_above(context, 0x7fff, spec::Style::number, true);
}

/// Shows the argument of prctl(PR_SVE_SET_VL): `PR_SVE_VL_INHERIT|0x10`.
bool sve_length(decode::CustomContext& context) {
  constexpr std::uint64_t length_bits = 0xffff;
  const auto word = context.value();
  TextBuffer text;
  if ((word & ~length_bits) != 0) {
    context.append_constant(text, word & ~length_bits, format::ConstantForm::abbreviate);
    // The text may become a comment itself, and comments do not nest.
    text.truncate(std::min(text.view().find(" /*"), text.size()));
    text.append('|');
  }
  (word & length_bits) != 0 ? text.hex(word & length_bits) : text.append('0');
  // A length without flags is a plain number.
  word > length_bits ? context.named(text.view(), word) : context.out().symbol(text.view());
  return true;
}

/// Shows a result of PR_SVE_GET_VL in the same way, unless it is a plain number.
bool sve_length_note(decode::CustomContext& context) {
  constexpr std::uint64_t length_bits = 0xffff;
  return context.value() <= length_bits || sve_length(context);
}

/// Shows the argument of PR_RISCV_V_SET_CONTROL: what holds now, what holds after execve, and whether that is
/// inherited.
bool riscv_vector(decode::CustomContext& context) {
  constexpr std::uint64_t state = 3;
  constexpr unsigned next_shift = 2;
  constexpr std::uint64_t inherit = 0x10;
  constexpr std::uint64_t known = 0x1f;
  const auto bits = context.value();
  TextBuffer text;
  context.append_constant(text, bits & state, format::ConstantForm::abbreviate);
  text.append('|');
  context.append_constant(text, (bits >> next_shift) & state, format::ConstantForm::abbreviate);
  text.append((bits & inherit) != 0 ? "<<2|" : "<<2|!");
  context.append_constant(text, inherit, format::ConstantForm::abbreviate);
  if ((bits & ~known) != 0) {
    text.append('|');
    text.hex(bits & ~known);
  }
  context.named(text.view(), bits);
  return true;
}

/// Shows the argument of PR_SET_TAGGED_ADDR_CTRL: `PR_TAGGED_ADDR_ENABLE|PR_MTE_TCF_SYNC|0xfffe<<PR_MTE_TAG_SHIFT`. The
/// first two parts always show.
bool tagged_address(decode::CustomContext& context) {
  constexpr std::uint64_t enable = 1;
  constexpr std::uint64_t check = 6;
  constexpr std::uint64_t tags = 0x7fff8;
  constexpr unsigned tag_shift = 3;
  const auto bits = context.value();
  TextBuffer text;
  text.append((bits & enable) != 0 ? "" : "!");
  context.append_constant(text, enable | (bits & check), format::ConstantForm::abbreviate);
  if ((bits & tags) != 0) {
    text.append('|');
    text.hex((bits & tags) >> tag_shift);
    text.append("<<PR_MTE_TAG_SHIFT");
  }
  // Format the remaining bits together with `enable`, whose name comes first, and append the text after that name.
  TextBuffer prefix;
  TextBuffer whole;
  context.append_constant(prefix, enable, format::ConstantForm::abbreviate);
  context.append_constant(whole, enable | (bits & ~(check | tags)), format::ConstantForm::abbreviate);
  text.append(whole.view().substr(prefix.view().size()));
  context.named(text.view(), bits);
  return true;
}

/// Shows the opcode of an io_uring restriction. If it is unknown, shows the operand after it as a comment.
bool restriction(decode::CustomContext& context) {
  std::array<std::byte, 3> raw{};
  if (!context.copy(std::span(raw).first(2)) || !context.described()) {
    return false;
  }
  if (context.constant_name(context.described_name(), number_at(raw, 0, 2)).empty() &&
      context.memory().read(context.address(), raw) == raw.size()) {
    TextBuffer text;
    text.append("op: ");
    text.hex(number_at(raw, 2, 1));
    context.out().comment(text.view());
  }
  return true;
}

/// Shows a 64-bit argument that is split over this register (high 32 bits) and the next one (low 32 bits).
bool high_low(decode::CustomContext& context) {
  const auto bits = (context.next_register() & 0xffffffff) | context.value() << 32;
  context.number(bits, spec::Style::number, 8, true);
  return true;
}

/// Shows the first argument of ipc(2): the number of the call in the low 16 bits, a version above them.
bool ipc_call(decode::CustomContext& context) {
  const auto bits = context.value() & 0xffffffff;
  TextBuffer text;
  if (bits >> 16 != 0) {
    text.decimal(bits >> 16);
    text.append("<<16|");
  }
  text.decimal(bits & 0xffff);
  context.out().symbol(text.view());
  return true;
}

/// Shows the result of shmat through ipc(2), which the kernel stores where the third argument points.
bool shmat_result(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (context.memory().read(RemoteAddr(context.argument("raddr").value_or(0)), raw) != raw.size()) {
    context.out().symbol("?");
    return true;
  }
  context.number(number_at(raw, 0, 4), spec::Style::hex, 4, false);
  return true;
}

/// Shows the command of quotactl(2): `QCMD(Q_GETQUOTA, USRQUOTA)`.
bool quota_command(decode::CustomContext& context) {
  const auto bits = context.value() & 0xffffffff;
  TextBuffer text;
  text.append("QCMD(");
  context.append_constant(text, "quota_command", bits >> 8);
  text.append(", ");
  context.append_constant(text, "quota_type", bits & 0xff);
  text.append(')');
  context.named(text.view(), bits, spec::Style::number);
  return true;
}

bool kernel_version(decode::CustomContext& context) {
  const auto bits = load(context);
  if (!bits) {
    return false;
  }
  TextBuffer text;
  text.append("KERNEL_VERSION(");
  text.decimal(*bits >> 16);
  text.append(", ");
  text.decimal(*bits >> 8 & 0xff);
  text.append(", ");
  text.decimal(*bits & 0xff);
  text.append(')');
  context.named(text.view(), *bits);
  return true;
}

/// Shows a limit of getrlimit(2): `8192*1024`, `RLIM64_INFINITY`.
bool limit(decode::CustomContext& context) {
  constexpr std::uint64_t kilo = 1024;
  const auto bits = load(context);
  if (!bits) {
    return false;
  }
  const bool is_wide = context.size() == 8;
  const std::uint64_t infinity = is_wide ? ~std::uint64_t{0} : 0xffffffff;
  if (*bits == infinity) {
    context.named(is_wide ? "RLIM64_INFINITY" : "RLIM_INFINITY", *bits, spec::Style::number);
  } else if (*bits > kilo && *bits % kilo == 0) {
    TextBuffer text;
    text.decimal(*bits / kilo);
    text.append("*1024");
    context.named(text.view(), *bits, spec::Style::number);
  } else {
    context.number(*bits, spec::Style::number, 8, false);
  }
  return true;
}

/// Shows a status of move_pages(2): a NUMA node or a negated errno value.
bool node_or_error(decode::CustomContext& context) {
  const auto bits = load(context);
  if (!bits) {
    return false;
  }
  const auto number = static_cast<std::int32_t>(*bits);
  const auto name = number < 0 && number != std::numeric_limits<std::int32_t>::min() ? format::error_name(-number)
                                                                                     : std::string_view{};
  if (name.empty()) {
    context.number(format::cut(*bits, 4, true), spec::Style::number, 4, true);
    return true;
  }
  TextBuffer text;
  text.append('-');
  text.append(name);
  context.named(text.view(), format::cut(*bits, 4, true), spec::Style::number, true);
  return true;
}

/// Shows the length of ioctl SIOCGIFCONF: `80 /* 2 * sizeof(struct ifreq) */`.
bool ifreq_count(decode::CustomContext& context) {
  const auto bits = load(context);
  if (!bits) {
    return false;
  }
  const std::int64_t size = word_size(context.entry().abi) == 8 ? 40 : 32;  // netdevice(7)
  const auto length = static_cast<std::int32_t>(*bits);
  context.number(format::cut(*bits, 4, true), spec::Style::number, 4, true);
  if (length > 0 && length % size == 0) {
    TextBuffer text;
    text.decimal(length / size);
    text.append(" * sizeof(struct ifreq)");
    context.out().comment(text.view());
  }
  return true;
}

}  // namespace tracer::decoders
