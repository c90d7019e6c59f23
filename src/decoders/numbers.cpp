// Numbers that are made of parts.
#include <algorithm>
#include <array>
#include <limits>

#include "decoders/decoders.h"
#include "decoders/read.h"
#include "format/error_names.h"

namespace tracer::decoders {
namespace {

/// The value, wherever it is, in the width that the description says.
std::optional<std::uint64_t> load(const CustomContext& context) {
  if (!context.in_memory()) {
    return context.value();
  }
  std::array<std::byte, 8> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  return context.copy(std::span(raw).first(size)) ? std::optional(number_at(raw, 0, 8)) : std::nullopt;
}

/// Flags of the described set above `low_bits`, then what is in those as `style`, unless it is 0 and need not show.
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

/// `CLONE_CHILD_SETTID|SIGCHLD`: the lowest byte is the signal that the child ends with.
bool clone_flags_and_signal(decode::CustomContext& context) {
  return flags_above(context, 0xff, spec::Style::signal);
}

/// swapon(2): `SWAP_FLAG_PREFER|5`.
bool swap_priority(decode::CustomContext& context) {
  return flags_above(context, 0x7fff, spec::Style::number, true);
}

/// prctl(PR_SVE_SET_VL): `PR_SVE_VL_INHERIT|0x10`.
bool sve_length(decode::CustomContext& context) {
  constexpr std::uint64_t length_bits = 0xffff;
  const auto word = context.value();
  TextBuffer text;
  if ((word & ~length_bits) != 0) {
    context.spell(text, word & ~length_bits, format::ConstantForm::abbreviate);
    // A comment would stand within another one.
    text.truncate(std::min(text.view().find(" /*"), text.size()));
    text.append('|');
  }
  (word & length_bits) != 0 ? text.hex(word & length_bits) : text.append('0');
  // A length alone is a number, and has no name.
  word > length_bits ? context.named(text.view(), word) : context.out().symbol(text.view());
  return true;
}

/// PR_SET_TAGGED_ADDR_CTRL: `PR_TAGGED_ADDR_ENABLE|PR_MTE_TCF_SYNC|0xfffe<<PR_MTE_TAG_SHIFT`; the first two always
/// show.
bool tagged_address(decode::CustomContext& context) {
  constexpr std::uint64_t enable = 1;
  constexpr std::uint64_t check = 6;
  constexpr std::uint64_t tags = 0x7fff8;
  constexpr unsigned tag_shift = 3;
  const auto bits = context.value();
  TextBuffer text;
  text.append((bits & enable) != 0 ? "" : "!");
  context.spell(text, enable | (bits & check), format::ConstantForm::abbreviate);
  if ((bits & tags) != 0) {
    text.append('|');
    text.hex((bits & tags) >> tag_shift);
    text.append("<<PR_MTE_TAG_SHIFT");
  }
  // What is left follows the same beginning.
  TextBuffer beginning;
  TextBuffer whole;
  context.spell(beginning, enable, format::ConstantForm::abbreviate);
  context.spell(whole, enable | (bits & ~(check | tags)), format::ConstantForm::abbreviate);
  text.append(whole.view().substr(beginning.view().size()));
  context.named(text.view(), bits);
  return true;
}

/// What a restriction of a ring is about; of one that is not known the number behind it shows as a comment.
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

/// A 64-bit argument in this register and the next one, the high half first.
bool high_low(decode::CustomContext& context) {
  const auto bits = (context.next_register() & 0xffffffff) | context.value() << 32;
  context.number(bits, spec::Style::number, 8, true);
  return true;
}

/// The first argument of ipc(2): the number of a call below a version.
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

/// shmat by ipc(2): the address is where the third argument points.
bool shmat_result(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (context.memory().read(RemoteAddr(context.argument("raddr").value_or(0)), raw) != raw.size()) {
    context.out().symbol("?");
    return true;
  }
  context.number(number_at(raw, 0, 4), spec::Style::hex, 4, false);
  return true;
}

/// quotactl(2): `QCMD(Q_GETQUOTA, USRQUOTA)`.
bool quota_command(decode::CustomContext& context) {
  const auto bits = context.value() & 0xffffffff;
  TextBuffer text;
  text.append("QCMD(");
  context.spell(text, "quota_command", bits >> 8);
  text.append(", ");
  context.spell(text, "quota_type", bits & 0xff);
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

/// getrlimit(2): `8192*1024`, `RLIM64_INFINITY`.
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

/// move_pages(2): the number of a node, or the name of an error with a minus sign.
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

/// ioctl SIOCGIFCONF: `80 /* 2 * sizeof(struct ifreq) */`.
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
