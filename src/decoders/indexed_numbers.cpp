// Arrays of numbers whose indexes have names: `[[DEVCONF_FORWARDING]=0, …]`.
#include <algorithm>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::size_t max_numbers = 256;

/// Shows an array of numbers of `width` bytes: `[[SK_MEMINFO_RMEM_ALLOC]=0, …]`. `label` appends the name of an index.
template <typename Label>
bool numbers_by_index(decode::CustomContext& context, unsigned width, bool is_signed, Label label,
                      std::size_t max_shown = max_numbers) {
  std::vector<std::byte> raw(static_cast<std::size_t>(std::min<std::uint64_t>(context.size(), max_numbers * width)) /
                             width * width);
  const auto readable = context.memory().read(context.address(), raw) / width;
  if (readable == 0) {
    return false;
  }
  const std::size_t limit =
      std::min<std::size_t>(max_shown, context.depth().abbreviate ? context.options().string_limit : max_numbers);
  auto& out = context.out();
  TextBuffer text;
  out.begin_array();
  for (std::size_t i = 0; i < raw.size() / width; ++i) {
    if (i >= limit) {
      out.more();
      break;
    }
    if (i == readable) {
      context.unreadable_rest(context.address() + i * width);
      break;
    }
    text.clear();
    text.append('[');
    label(text, i);
    text.append("]=");
    const std::uint64_t number = number_at(raw, i * width, width);
    is_signed ? text.decimal(std::int64_t{static_cast<std::int32_t>(number)}) : text.decimal(number);
    out.begin_element();
    out.symbol(text.view());
  }
  out.end_array();
  return true;
}

/// Shows an array of numbers; a set of constants names the indexes.
bool numbers_by_name(decode::CustomContext& context, unsigned width, bool is_signed, std::string_view set,
                     std::size_t max_shown = max_numbers) {
  return numbers_by_index(
      context, width, is_signed, [&](TextBuffer& text, std::size_t i) { context.append_constant(text, set, i); },
      max_shown);
}

}  // namespace

/// Shows the memory use of a socket: `[[SK_MEMINFO_RMEM_ALLOC]=0, …]`. linux/sock_diag.h.
bool sk_meminfo(decode::CustomContext& context) {
  return numbers_by_name(context, 4, false, "sk_meminfo_index");
}

/// Shows counts of received and sent packets: `[[BR_MCAST_DIR_RX]=1, [BR_MCAST_DIR_TX]=2]`. linux/if_bridge.h.
bool both_ways(decode::CustomContext& context) {
  return numbers_by_name(context, 8, false, "multicast_direction");
}

/// Shows a device's error counts: `[[BTRFS_DEV_STAT_WRITE_ERRS]=0, …]`, in a field without a name. linux/btrfs.h.
bool btrfs_dev_stats(decode::CustomContext& context) {
  constexpr std::size_t kinds = 5;
  context.out().begin_bare_field("values", "btrfs_dev_stats");
  if (context.size() == 0 || !numbers_by_name(context, 8, false, "btrfs_dev_stat", kinds)) {
    context.out().begin_array();
    context.out().end_array();
  }
  return true;
}

/// Shows an interface's settings for IPv4: `[[IPV4_DEVCONF_FORWARDING-1]=0, …]`. linux/ip.h.
bool ipv4_devconf(decode::CustomContext& context) {
  return numbers_by_index(context, 4, true, [&](TextBuffer& text, std::size_t i) {
    const auto name = context.constant_name("ipv4_devconf", i + 1);
    name.empty() ? text.decimal(std::uint64_t{i}) : text.append(name);
    text.append(name.empty() ? " /* IPV4_DEVCONF_??? */" : "-1");
  });
}

/// Shows an interface's settings for IPv6: `[[DEVCONF_FORWARDING]=0, …]`. linux/ipv6.h.
bool ipv6_devconf(decode::CustomContext& context) {
  return numbers_by_name(context, 4, true, "ipv6_devconf");
}

/// Shows an interface's ICMPv6 statistics: `[[ICMP6_MIB_NUM]=7, …]`. linux/snmp.h.
bool icmp6_statistics(decode::CustomContext& context) {
  return numbers_by_name(context, 8, false, "icmp6_statistic");
}

/// Shows the limits of io_uring's worker threads: `[[IO_WQ_BOUND]=4, [IO_WQ_UNBOUND]=64]`. linux/io_uring.h.
bool ring_workers(decode::CustomContext& context) {
  return numbers_by_name(context, 4, false, "ring_work");
}

}  // namespace tracer::decoders
