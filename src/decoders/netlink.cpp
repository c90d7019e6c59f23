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
