// Parts of netlink messages.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/error_names.h"

namespace tracer::decoders {
namespace {

std::optional<std::uint64_t> load_type(const CustomContext& context) {
  std::array<std::byte, sizeof(std::uint16_t)> raw{};
  return context.copy(raw) ? std::optional(number_at(raw, 0, raw.size())) : std::nullopt;
}

}  // namespace

/// Shows a string attribute whose size includes a final NUL: `"lo"`. Without the NUL it counts as truncated: `"lo"...`.
bool terminated_text(decode::CustomContext& context) {
  constexpr std::size_t max_size = 64 * 1024;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(context.size(), max_size));
  const auto limit = std::min<std::size_t>(size, context.options().string_limit);
  std::vector<std::byte> text(std::min<std::size_t>(size, limit + 1));
  std::byte last{1};
  if (size == 0 || !context.copy(text) || context.memory().read(context.address() + (size - 1), {&last, 1}) != 1) {
    return false;
  }
  const bool ends = last == std::byte{0};
  const auto length = size - (ends ? 1 : 0);
  render::StringForm form;
  form.cut = !ends || length > limit;
  context.out().bytes(std::span(text).first(std::min(length, limit)), form);
  return true;
}

/// Shows a time in thousandths of a second, of up to eight bytes: `70000 /* 70.000 s */`.
bool milliseconds(decode::CustomContext& context) {
  constexpr std::uint64_t per_second = 1000;
  std::array<std::byte, sizeof(std::uint64_t)> raw{};
  const auto width = static_cast<unsigned>(std::min<std::uint64_t>(context.size(), raw.size()));
  if (width == 0 || !context.copy(std::span(raw).first(width))) {
    return false;
  }
  const std::uint64_t time = number_at(raw, 0, raw.size());
  context.number(time, spec::Style::number, raw.size(), false);
  if (time != 0 && context.out().constant_form() != format::ConstantForm::raw) {
    TextBuffer text;
    text.decimal(time / per_second);
    text.append('.');
    text.decimal_padded(time % per_second, 3);
    text.append(" s");
    context.out().comment(text.view());
  }
  return true;
}

/// Shows text up to its first NUL. Without a NUL within the size it counts as truncated: `"lo"...`. What lies behind
/// the NUL need not be there.
bool text_to_nul(decode::CustomContext& context) {
  constexpr std::size_t max_size = 64 * 1024;
  const auto limit = std::size_t{context.options().string_limit};
  std::vector<std::byte> text(static_cast<std::size_t>(std::min<std::uint64_t>({context.size(), max_size, limit + 1})));
  const auto read = text.empty() ? 0 : context.memory().read(context.address(), text);
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(read);
  const auto length = static_cast<std::size_t>(std::find(text.begin(), end, std::byte{0}) - text.begin());
  if (text.empty() || (length == read && read < text.size())) {
    return false;
  }
  render::StringForm form;
  form.cut = length == text.size();
  context.out().bytes(std::span(text).first(std::min(length, limit)), form);
  return true;
}

/// Shows a negated errno value: `-ENOENT`.
bool negative_errno(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto value = static_cast<std::int32_t>(number_at(raw, 0, raw.size()));
  const auto name = value < 0 && value > -4096 ? format::error_name(-value) : std::string_view{};
  if (name.empty()) {
    context.number(static_cast<std::uint64_t>(std::int64_t{value}), spec::Style::number, 4, true);
    return true;
  }
  TextBuffer text;
  text.append('-');
  text.append(name);
  context.named(text.view(), static_cast<std::uint64_t>(std::int64_t{value}), spec::Style::number, true);
  return true;
}

/// Shows the requested attributes: `1<<(INET_DIAG_MEMINFO-1)|1<<(INET_DIAG_INFO-1)`.
bool idiag_ext(decode::CustomContext& context) {
  std::array<std::byte, 1> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto asked = std::to_integer<unsigned>(raw[0]);
  TextBuffer text;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((asked >> bit & 1) != 0) {
      text.append(text.size() == 0 ? "1<<(" : "|1<<(");
      text.append(context.constant_name("inet_diag_extension", bit + 1));
      text.append("-1)");
    }
  }
  if (asked == 0) {
    context.number(0, spec::Style::number, 1, false);
  } else {
    context.named(text.view(), asked, spec::Style::hex, false);
  }
  return true;
}

/// Shows a generic netlink family by its name, which the running kernel assigns to its number.
bool generic_family(decode::CustomContext& context) {
  const auto bits = load_type(context);
  if (!bits) {
    return false;
  }
  const auto name = context.names().kernel.generic_family(static_cast<std::uint16_t>(*bits));
  name.empty() ? context.described(*bits) : context.named(name, *bits);
  return true;
}

/// Shows the bits of struct inet_diag_sockopt that are set, under -v all of them: `{is_icsk=1, mc_loop=1}`.
bool inet_diag_sockopt(decode::CustomContext& context) {
  const auto bits = load_type(context);
  if (!bits) {
    return false;
  }
  const bool all = !context.depth().abbreviate;
  auto& out = context.out();
  out.begin_struct();
  unsigned bit = 0;
  for (auto name = std::string_view(); !(name = context.constant_name("inet_diag_sockopt_bit", bit)).empty(); ++bit) {
    if (all || (*bits >> bit & 1) != 0) {
      out.begin_field(name, "bit");
      context.number(*bits >> bit & 1, spec::Style::number, 1, false);
    }
  }
  if (all || *bits >> bit != 0) {
    out.begin_field("unused", "bits");
    context.number(*bits >> bit, spec::Style::hex, 1, false);
    out.comment("bits 3..8");
  }
  out.end_struct();
  return true;
}

/// Shows an nfnetlink message type, subsystem and message: `NFNL_SUBSYS_NFTABLES<<8|NFT_MSG_NEWTABLE`.
bool netfilter_type(decode::CustomContext& context) {
  constexpr std::string_view prefix = "NFNL_SUBSYS_";
  const auto bits = load_type(context);
  if (!bits) {
    return false;
  }
  if (!context.constant_name("netfilter_message", *bits).empty()) {
    context.described(*bits);
    return true;
  }
  const auto subsystem = *bits >> 8;
  const auto message = *bits & 0xff;
  const auto subsystem_name = context.constant_name("nfnl_subsystem", subsystem);
  TextBuffer text;
  const auto form = context.out().constant_form();
  context.append_constant(text, "nfnl_subsystem", subsystem, form);
  text.append("<<8|");
  if (subsystem_name.empty() || subsystem == 0) {
    text.hex(message);
  } else {
    std::string set(subsystem_name.substr(prefix.size()));
    std::transform(set.begin(), set.end(), set.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    context.append_constant(text, "nfnl_" + set, message, form);
  }
  form == format::ConstantForm::abbreviate ? context.named(text.view(), *bits) : context.out().symbol(text.view());
  return true;
}

}  // namespace tracer::decoders
